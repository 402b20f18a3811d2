import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUDGET_DEFAULTS } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS } from '../../src/policy/circuit.ts';
import { DEFAULTS } from '../../src/policy/policy.ts';
import { createWorld, type World } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const ORIGIN = 'https://app.test';
const GROUPS = ['data', 'asset'] as const;
const PATHS = ['/a', '/b', '/c'] as const;
/** Bodies are drained for a tenth of a second at most, and timers take whole milliseconds. */
const EPSILON_MS = 150;

const latencyMs = fc.oneof(fc.nat({ max: 400 }), fc.constantFrom(0, 9_000, 12_000));
const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ status: fc.constant(200), afterMs: latencyMs }) },
  { weight: 5, arbitrary: fc.record({ status: fc.constantFrom(500, 502, 503), afterMs: latencyMs }) },
  { weight: 3, arbitrary: fc.record({ reset: fc.constant(true), afterMs: latencyMs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      status: fc.constantFrom(429, 503),
      afterMs: latencyMs,
      headers: fc.constantFrom('0', '1', '4', '20', 'soon').map((seconds) => ({ 'Retry-After': seconds })),
    }),
  },
);

type Event =
  | { readonly kind: 'request'; readonly group: string; readonly path: string; readonly times: number }
  | { readonly kind: 'offline' | 'online' }
  | { readonly kind: 'clock'; readonly byMs: number };

const request = fc.record({
  kind: fc.constant('request' as const),
  group: fc.constantFrom(...GROUPS),
  path: fc.constantFrom(...PATHS),
  times: fc.constantFrom(1, 1, 2, 8),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 10, arbitrary: request },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('offline' as const, 'online' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clock' as const), byMs: fc.integer({ min: -3_600_000, max: 0 }) }),
  },
);
const history = fc.record({
  events: fc.array(fc.record({ afterMs: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 8_000 })), event }), {
    minLength: 1,
    maxLength: 25,
  }),
  answers: fc.array(answer, { minLength: 1, maxLength: 60 }),
  chances: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 10 }),
});
type History = typeof history extends fc.Arbitrary<infer Of> ? Of : never;

/** One request of a history, and what became of it. */
interface Followed {
  readonly startedAt: number;
  /** When the last of its attempts landed. */
  landedAt: number;
  hits: number;
  endedAt: number | undefined;
}

interface Options {
  readonly clockIsSet?: boolean;
  readonly healthy?: boolean;
  readonly runs?: number;
}

interface Lived {
  readonly world: World;
  readonly requests: readonly Followed[];
  readonly tokens: number[];
  /** The most that were under way in one group, of those that had not used up their time. */
  readonly probesAtOnce: number;
}

async function live(
  { events, answers, chances }: History,
  { healthy = false, clockIsSet = true }: Options,
): Promise<Lived> {
  let online = true;
  let drawn = 0;
  let asked = 0;
  const requests: Followed[] = [];
  const byId = new Map<string, Followed>();
  const world = createWorld({
    policy: { backoff: DEFAULTS.backoff, throttledBackoff: DEFAULTS.throttledBackoff },
    circuit: CIRCUIT_DEFAULTS,
    random: () => chances[drawn++ % chances.length] ?? 0,
    isOnline: () => online,
    script: ({ url }) => {
      const one = byId.get(new URL(url).search.slice(1));
      const given = healthy ? { status: 200, afterMs: 5 } : (answers[asked++ % answers.length] ?? 200);
      if (one) {
        one.hits += 1;
        const afterMs = typeof given === 'object' ? (given.afterMs ?? 0) : 0;
        void world.time.after(afterMs).then(() => {
          one.landedAt = world.time.elapsed();
        });
      }
      return given;
    },
  });
  const tokens: number[] = [];
  const probes = new Map<string, { since: number; until: number }[]>();
  let probesAtOnce = 0;
  const { record } = world.book;
  Object.assign(world.book, {
    record(...[key, what]: Parameters<typeof record>) {
      const at = world.time.elapsed();
      const before = world.book.look(key).circuit;
      const over = 'probeUntil' in what ? what.probeUntil : what.kind === 'probe-abandoned' ? what.until : undefined;
      const running = (probes.get(key.group) ?? []).filter(
        ({ since, until }) => at - since < CIRCUIT_DEFAULTS.probeMs && until !== over,
      );
      if (what.kind === 'probe-launched') running.push({ since: at, until: what.until });
      probesAtOnce = Math.max(probesAtOnce, running.length);
      record(key, what);
      // One of an earlier open time says nothing any more, and takes no place.
      const { changedAt, openUntil } = world.book.look(key).circuit;
      const same = changedAt === before.changedAt && openUntil === before.openUntil;
      probes.set(key.group, same ? running : []);
      tokens.push(world.book.look(key).budget.tokens);
    },
  });
  const answered: Promise<unknown>[] = [];
  const start = (group: string, path: string): void => {
    const id = String(requests.length);
    const one: Followed = {
      startedAt: world.time.elapsed(),
      landedAt: 0,
      hits: 0,
      endedAt: undefined,
    };
    requests.push(one);
    byId.set(id, one);
    const end = () => {
      one.endedAt = world.time.elapsed();
    };
    answered.push(
      world.start({ request: new Request(`${ORIGIN}${path}?${id}`), group, facts: { path } }).then(end, end),
    );
  };
  for (const { afterMs, event } of events) {
    await world.time.advance(afterMs);
    if (event.kind === 'request') for (let n = 0; n < event.times; n++) start(event.group, event.path);
    else if (event.kind === 'clock') world.time.setClock(clockIsSet ? event.byMs : 0);
    else online = event.kind === 'online';
  }
  await world.time.until(Promise.all(answered));
  // The book writes what it knows.
  await world.time.advance(11_000);
  return { world, requests, tokens, probesAtOnce };
}

const check = (property: (lived: Lived) => void, options: Options = {}) =>
  fc.assert(
    fc.asyncProperty(history, async (of) => property(await live(of, options))),
    { numRuns: options.runs ?? 120 },
  );

test('tokens are never negative and never above the capacity', { timeout: 60_000 }, () =>
  check(({ tokens }) => {
    for (const left of tokens) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThanOrEqual(BUDGET_DEFAULTS.capacity);
    }
  }),
);

test(
  'nobody without an attempt in flight waits past its deadline, even if the clock is set back',
  { timeout: 60_000 },
  () =>
    check(({ requests }) => {
      for (const { startedAt, landedAt, endedAt } of requests) {
        const latest = Math.max(startedAt + DEFAULTS.totalMs, landedAt);
        expect(endedAt).toBeLessThanOrEqual(latest + EPSILON_MS);
      }
    }),
);

test('never two probes of a group at once, of the same open time', { timeout: 60_000 }, () =>
  check(
    ({ probesAtOnce }) => {
      expect(probesAtOnce).toBeLessThanOrEqual(1);
    },
    {
      // A record whose instants were clamped cannot be told from one that has changed.
      clockIsSet: false,
    },
  ),
);

test('where nothing fails nobody is refused, nobody waits, and everybody is asked for once', { timeout: 60_000 }, () =>
  check(
    ({ requests, world }) => {
      for (const { startedAt, endedAt, hits } of requests) expect([endedAt, hits]).toEqual([startedAt + 5, 1]);
      expect(world.steps.filter(({ type }) => type !== 'attempt')).toEqual([]);
    },
    { healthy: true, runs: 50 },
  ),
);

test('everybody is answered, with no more hits than attempts, and nothing is left behind', { timeout: 60_000 }, () =>
  check(({ requests, world }) => {
    expect(requests.filter(({ endedAt }) => endedAt === undefined)).toEqual([]);
    expect(world.faults).toEqual([]);
    expect(world.sleeper.pending()).toBe(0);
    for (const group of GROUPS) expect(world.engine.parking.isEmpty({ origin: ORIGIN, group })).toBe(true);
    expect(world.network.sent).toHaveLength(world.steps.filter(({ type }) => type === 'attempt').length);
  }),
);
