import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { createWorld, NEVER_OPENS, URL_OF_ITEMS, type WorldOptions } from '../support/engine-world.ts';
import { judged } from '../support/judged-world.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { Answer } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';
import { START } from '../support/virtual-time.ts';

// What servers and databases say is theirs to choose. Whatever it is, every request comes to an end, and in time.

expectNothingUnhandled();

const TOTAL_MS = 25_000;
const KEY = 'https://app.test data';

/** What may stand in a header: every byte but NUL, CR and LF. */
const bytes = fc
  .array(
    fc.integer({ min: 1, max: 255 }).filter((byte) => byte !== 10 && byte !== 13),
    { maxLength: 40 },
  )
  .map((codes) => String.fromCharCode(...codes));
const number = fc.oneof(
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.double().map(String),
  fc.constantFrom('0', '-0', '1e9', '0x10', '٣', '1,2', '00000000000000000001', '9007199254740993', ' 1 ', '1 2'),
);
const date = fc.oneof(
  fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
  fc.integer({ min: -100_000, max: 100_000 }).map((ms) => new Date(START + ms).toUTCString()),
  fc.constantFrom(
    'Fri, 31 Feb 2026 25:61:61 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Thu, 01 Jan 0000 00:00:00 GMT',
  ),
);
const directives = fc
  .array(fc.tuple(fc.constantFrom('max-age', 's-maxage', 'no-store', 'no-cache', 'immutable', 'x'), number), {
    maxLength: 4,
  })
  .map((all) => all.map(([name, value]) => `${name}=${value}`).join(', '));
const limit = fc
  .tuple(fc.constantFrom('"a"', 'a', '""', '"a', '"\\"'), number, number)
  .map(([name, left, time]) => `${name};r=${left};t=${time}`);
const value = fc.oneof(bytes, number, date, directives, limit);

const headers = fc
  .record(
    {
      // A plain time as often as all that is strange.
      'Retry-After': fc.oneof(value, fc.constantFrom('0', '1', '3')),
      Date: value,
      Age: value,
      'Cache-Control': value,
      Expires: value,
      RateLimit: value,
      'Content-Length': value,
    },
    { requiredKeys: [] },
  )
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== undefined)));

const answer: fc.Arbitrary<Answer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      status: fc.constantFrom(200, 404, 408, 409, 413, 425, 429, 500, 502, 503, 503, 521),
      headers,
      afterMs: fc.constantFrom(0, 0, 1, 400),
    }),
  },
  { weight: 1, arbitrary: fc.constant('reset' as const) },
);

test('S10 property: whatever stands in the headers of answers, each of two requests is answered in time', async () => {
  let waits = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      // One that is over before the attempts are, and one that is not.
      fc.constantFrom(2_000, TOTAL_MS),
      async (script, withBody, opens, totalMs) => {
        const options: WorldOptions = { script, circuit: opens ? {} : NEVER_OPENS, policy: { totalMs } };
        const world = judged(() => undefined, { ...options, body: withBody });
        for (const method of ['GET', 'PUT']) {
          const startedAt = world.time.elapsed();
          const before = world.network.sent.length;
          const request = new Request(URL_OF_ITEMS, { method, ...(method === 'PUT' ? { body: 'x' } : {}) });
          const end = await world.serve({ request }).then(
            (response) => response.status,
            (error: unknown) => error,
          );
          if (typeof end !== 'number') expect(world.network.given()).toContain(end);
          const sent = world.network.times().slice(before);
          expect(sent.length).toBeLessThanOrEqual(4);
          expect(world.time.elapsed() - startedAt).toBeLessThanOrEqual(totalMs + 400);
        }
        for (const step of world.steps) {
          if (step.type !== 'retry-scheduled') continue;
          waits += 1;
          // No wait is shorter than nothing, longer than the deadline, or no number.
          expect(step.decision.delayMs >= 0 && step.decision.delayMs <= totalMs).toBe(true);
        }
        expect([world.faults, world.problems, world.problemsOfClassify, world.sleeper.pending()]).toEqual([
          [],
          [],
          [],
          0,
        ]);
        const { budget, hold, circuit } = world.book.look({ origin: 'https://app.test', group: 'data' });
        for (const one of [budget.tokens, budget.at, hold.until, circuit.openUntil, circuit.openMs]) {
          expect(Number.isFinite(one)).toBe(true);
        }
      },
    ),
    { numRuns: 300 },
  );
  // A property of requests that never wait would hold as well.
  expect(waits).toBeGreaterThan(100);
}, 60_000);

/** What `structuredClone` lets through, which is what a database can give back. */
const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true });
/** Nearly always what it should be. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary: right }, { weight: 1, arbitrary: anything });
const whole = <T>(fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.record(fields) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
const instant = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: START - 100_000, max: START + 100_000 }) },
  { weight: 1, arbitrary: fc.double() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      0,
      -1,
      0.5,
      Number.MAX_VALUE,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ),
  },
  { weight: 1, arbitrary: anything },
);
const count = mostly(fc.integer({ min: -2, max: 1_000_000 }));
const record = whole({
  origin: mostly(fc.constant('https://app.test')),
  group: mostly(fc.constant('data')),
  budget: mostly(whole({ tokens: count, at: instant, slots: fc.array(fc.array(instant, { maxLength: 3 })) })),
  hold: mostly(
    whole({ until: instant, paths: mostly(fc.dictionary(fc.string(), whole({ until: instant, at: instant }))) }),
  ),
  circuit: mostly(
    whole({
      openUntil: instant,
      openMs: count,
      probes: mostly(fc.array(instant)),
      changedAt: instant,
      failures: count,
      failedAt: instant,
      recent: mostly(fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 30 })),
    }),
  ),
  usedAt: instant,
});

const cloneable = (value: unknown): boolean => {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
};

test('S19 property: whatever the database holds, a request is answered in time, and what is written is sound', async () => {
  let heeded = 0;
  await fc.assert(
    fc.asyncProperty(
      mostly(record).filter(cloneable),
      fc.constantFrom('tokens' as const, 'windowed' as const),
      fc.constantFrom('suppress' as const, 'reject' as const),
      async (stored, kind, circuit) => {
        const store = createMemoryStore(undefined, new Map([[KEY, stored]]));
        const world = createWorld({
          store,
          script: [503, 'reset', 200],
          budget: kind === 'windowed' ? { kind, ratio: 0.1, perSecond: 1, windowMs: 10_000 } : {},
          circuit: {},
          policy: { circuit, backoff: constant(100), throttledBackoff: constant(100), totalMs: TOTAL_MS },
        });
        await world.book.loading();
        const { circuit: found, hold } = world.book.look({ origin: 'https://app.test', group: 'data' });
        if (found.openUntil > 0 || found.failures > 0 || hold.until > 0) heeded += 1;
        for (let request = 0; request < 3; request += 1) {
          const startedAt = world.time.elapsed();
          await world.serve().catch((error: unknown) => expect(world.network.given()).toContain(error));
          expect(world.time.elapsed() - startedAt).toBeLessThanOrEqual(TOTAL_MS);
        }
        await world.time.advance(11_000);
        await world.book.written();
        expect([world.faults, world.problems, world.sleeper.pending()]).toEqual([[], [], 0]);
        const after = store.stored.get(KEY);
        if (after !== stored) expect(after).toEqual(world.book.look({ origin: 'https://app.test', group: 'data' }));
      },
    ),
    { numRuns: 300 },
  );
  // What can be read is read.
  expect(heeded).toBeGreaterThan(50);
}, 60_000);
