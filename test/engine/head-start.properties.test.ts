import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '../../src/engine/call.ts';
import { idOf } from '../../src/engine/origin-book.ts';
import { serve } from '../../src/engine/serve.ts';
import { CIRCUIT_DEFAULTS } from '../../src/policy/circuit.ts';
import { createWorld, NAVIGATION, type Told, type WorldOptions } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const PATHS = ['/a', '/b'] as const;
const ORIGINS = ['https://app.test', 'https://cdn.test'] as const;
const GROUPS = ['data', 'asset'] as const;
/** Those around which something changes are likely. */
const latencyMs = fc.oneof(fc.nat({ max: 3_000 }), fc.constantFrom(0, 500, 9_999, 10_000, 10_001, 13_000, 40_000));

const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ status: fc.constantFrom(200, 200, 404), afterMs: latencyMs }) },
  {
    weight: 3,
    arbitrary: fc.record({ status: fc.constantFrom(409, 413, 425, 429, 500, 501, 503), afterMs: latencyMs }),
  },
  { weight: 2, arbitrary: fc.record({ reset: fc.constant(true), afterMs: latencyMs }) },
  { weight: 1, arbitrary: fc.constant('hang' as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      status: fc.constantFrom(413, 429, 503),
      afterMs: latencyMs,
      headers: fc
        .constantFrom('0', '1', '4', '20', '90', 'soon')
        .map((seconds) => ({ 'Retry-After': seconds, 'Cache-Control': 'max-age=60' })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      status: fc.constant(200),
      afterMs: latencyMs,
      // Other than what comes, where that is held.
      headers: fc.constantFrom('8', '9').map((length) => ({ 'Content-Length': length })),
    }),
  },
);

const policy = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 5 }),
    attemptTimeoutMs: fc.constantFrom(1, 400, 2_500, 10_000),
    totalMs: fc.constantFrom(1, 400, 5_000, 25_000),
    hardTotal: fc.boolean(),
    circuit: fc.constantFrom('suppress' as const, 'reject' as const),
    holdBody: fc.constantFrom({ maxBytes: 1_024 }, false as const),
    cancelTimedOut: fc.boolean(),
    retryAttemptHeader: fc.boolean(),
    hedge: fc.constantFrom(false as const, false as const, { afterMs: 300, max: 1 }),
    resume: fc.boolean(),
    mirrors: fc.constantFrom([], [], ['https://mirror.test']),
  },
  { requiredKeys: [] },
);

/** What a request may have besides; made anew for each. */
const extras: Record<string, () => Partial<Call>> = {
  nothing: () => ({}),
  raced: () => ({ raced: true }),
  spent: () => ({ spent: 1 }),
  preloaded: () => ({ first: Promise.resolve(new Response('preloaded')) }),
  'preload failed': () => ({ first: Promise.resolve(new Response('preloaded', { status: 503 })) }),
  'no preload': () => ({ first: Promise.resolve(undefined) }),
  judged: () => ({ classify: async ({ kind }) => (kind === 'response' ? 'retry' : undefined) }),
  'kept short': () => ({ ceilingMs: () => 2_000 }),
  'few attempts': () => ({ mostAttempts: () => 2 }),
};

const request = fc.record({
  kind: fc.constant('request' as const),
  origin: fc.constantFrom(...ORIGINS),
  group: fc.constantFrom(...GROUPS),
  path: fc.constantFrom(...PATHS),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE', 'PUT'),
  facts: fc.record(
    {
      choosy: fc.boolean(),
      reloaded: fc.boolean(),
      keepalive: fc.boolean(),
      polling: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  navigates: fc.nat({ max: 5 }).map((n) => n === 0),
  extra: fc.oneof({ weight: 2, arbitrary: fc.constant('nothing') }, fc.constantFrom(...Object.keys(extras))),
  abortsAfterMs: fc.option(fc.nat({ max: 20_000 }), { freq: 4 }),
  goesAfterMs: fc.option(fc.nat({ max: 20_000 }), { freq: 4 }),
  policy,
  times: fc.constantFrom(1, 1, 1, 2, 6),
});
const notice = fc.record({
  kind: fc.constant('told' as const),
  origin: fc.constantFrom(...ORIGINS),
  group: fc.constantFrom(...GROUPS),
  heldMs: fc.constantFrom(0, 3_000, 20_000, 200_000),
  openMs: fc.constantFrom(0, 0, 2_000, 60_000),
});
const event = fc.oneof(
  { weight: 10, arbitrary: request },
  { weight: 2, arbitrary: notice },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('offline' as const, 'online' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reset' as const, 'retry-now' as const) }) },
);
const history = fc.record({
  events: fc.array(fc.record({ afterMs: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 8_000 })), event }), {
    minLength: 1,
    maxLength: 15,
  }),
  answers: fc.array(answer, { minLength: 1, maxLength: 30 }),
  /** What no script may read, and what the worker may not ask for. */
  type: fc.constantFrom('default', 'default', 'default', 'opaque', 'error'),
  chance: fc.constantFrom(0, 0.5, 0.9),
  budget: fc.constantFrom(
    {},
    { capacity: 2 },
    { kind: 'windowed' as const, ratio: 0.1, perSecond: 0.2, windowMs: 10_000 },
  ),
  circuit: fc.constantFrom({}, CIRCUIT_DEFAULTS),
  cold: fc.boolean(),
});
type History = typeof history extends fc.Arbitrary<infer Of> ? Of : never;

/** Everything that anybody can see of a history. */
async function live(plan: History, withHeadStart: boolean): Promise<unknown> {
  let online = true;
  const options: WorldOptions = {
    script: (_request, earlier) => plan.answers[earlier % plan.answers.length] ?? 200,
    random: () => plan.chance,
    isOnline: () => online,
    budget: plan.budget,
    circuit: plan.circuit,
    prepare: (response) =>
      plan.type === 'default'
        ? response
        : Object.defineProperties(response, {
            type: { value: plan.type },
            status: { value: 0 },
            body: { value: null },
          }),
  };
  const world = createWorld(options);
  const { time, book, engine, network } = world;
  if (!withHeadStart) book.isNew = () => false;
  if (!plan.cold) await book.loading();
  const ends: unknown[] = [];
  /** By request: of what happens in the same millisecond the order means nothing. */
  const told: Told[][] = [];
  const begin = (one: Extract<History['events'][number]['event'], { kind: 'request' }>): Promise<void> => {
    const number = ends.push('pending') - 1;
    const steps: Told[] = [];
    told.push(steps);
    const { navigates, goesAfterMs, abortsAfterMs, method } = one;
    const startedAt = time.elapsed();
    const controller = new AbortController();
    if (abortsAfterMs !== null) void time.after(abortsAfterMs).then(() => controller.abort());
    const known = world.call({
      request: new Request(one.origin + one.path, { method }),
      facts: { ...one.facts, ...(navigates && method === 'GET' ? NAVIGATION : {}) },
      policy: one.policy,
      group: one.group,
    });
    const call: Call = {
      ...known,
      ...extras[one.extra]?.(),
      ...(abortsAfterMs === null ? {} : { signal: controller.signal }),
      tell: (step) => steps.push({ at: time.elapsed(), ...step }),
      ...(goesAfterMs === null ? {} : { isGone: async () => time.elapsed() - startedAt > goesAfterMs }),
    };
    return serve(call, engine, (fault) => world.faults.push(fault)).then(
      async (response) => {
        const end = { at: time.elapsed(), status: response.status, body: 'unread' };
        ends[number] = end;
        end.body = await response.text().catch(String);
      },
      (error: unknown) => {
        ends[number] = { at: time.elapsed(), error: String(error) };
      },
    );
  };
  const work: Promise<void>[] = [];
  for (const { afterMs, event: next } of plan.events) {
    await time.advance(afterMs);
    switch (next.kind) {
      case 'request':
        for (let n = 0; n < next.times; n += 1) {
          await time.advance(7);
          work.push(begin(next));
        }
        break;
      case 'told': {
        const at = time.now();
        const record = book.look(next);
        book.merge({
          ...record,
          hold: { ...record.hold, until: next.heldMs && at + next.heldMs },
          circuit: next.openMs
            ? { ...record.circuit, openUntil: at + next.openMs, openMs: next.openMs, changedAt: at }
            : record.circuit,
        });
        break;
      }
      case 'offline':
      case 'online':
        online = next.kind === 'online';
        break;
      case 'reset':
        void book.reset();
        break;
      case 'retry-now':
        engine.retryNow();
        break;
    }
  }
  await time.advance(600_000);
  return {
    sent: network.sent.map(({ at, request: { url, method }, init }) => ({
      at,
      url,
      method,
      init: Object.keys(init ?? {}),
    })),
    ends,
    told,
    origins: Object.fromEntries(book.status().origins.map((origin) => [idOf(origin), origin])),
    stored: Object.fromEntries(world.store.stored),
    faults: world.faults.map(String),
    problems: world.problems.map(String),
    kept: world.kept.length,
    pending: world.sleeper.pending(),
  };
}

test('a head start changes nothing that anybody can see', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (plan) => {
      expect(await live(plan, true)).toEqual(await live(plan, false));
    }),
    // By its seed: where two things happen in the same millisecond, a head start may change which comes first.
    { numRuns: 60, seed: 105 },
  );
}, 60_000);
