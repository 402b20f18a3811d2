import fc from 'fast-check';
import type { Backoff } from '../../src/policy/backoff.ts';
import type { TokenBudget, WindowedBudget } from '../../src/policy/budget.ts';
import type { CircuitPolicy } from '../../src/policy/circuit.ts';
import { type Hold, type HoldAsked, holdFor, NO_HOLD } from '../../src/policy/hold.ts';
import type { Guards, OriginEvent } from '../../src/policy/origin-record.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Durations as people write them, and the ones that break arithmetic. */
export const durationMs = fc.oneof(
  fc.nat({ max: 60_000 }),
  fc.double({ min: 0, max: MAX_TIMER_MS, noNaN: true }),
  fc.constantFrom(0, -0, 5e-324, 0.5, 1, MAX_TIMER_MS - 1, MAX_TIMER_MS),
);

const order = fc.constantFrom('before-cap' as const, 'after-cap' as const);

/** Any backoff the checks accept: the four kinds in up to a few layers of jitter. */
export const anyBackoff: fc.Arbitrary<Backoff> = fc.letrec<{ backoff: Backoff; plain: Backoff }>((tie) => ({
  plain: fc.oneof(
    fc.record({ kind: fc.constant('constant' as const), delayMs: durationMs }),
    fc.record({ kind: fc.constant('linear' as const), stepMs: durationMs, maxMs: durationMs }),
    fc.record({
      kind: fc.constant('exponential' as const),
      baseMs: durationMs,
      factor: fc.oneof(fc.double({ min: 1, max: 1_000, noNaN: true }), fc.constantFrom(1, 1.5, 2, 1_000)),
      maxMs: durationMs,
    }),
    fc.record({ kind: fc.constant('list' as const), delaysMs: fc.array(durationMs, { minLength: 1 }) }),
  ),
  backoff: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    tie('plain'),
    fc.record({ kind: fc.constant('full-jitter' as const), of: tie('backoff') }),
    fc.record({ kind: fc.constant('equal-jitter' as const), of: tie('backoff') }),
    fc.record({ kind: fc.constant('decorrelated-jitter' as const), of: tie('backoff') }),
    fc.record({ kind: fc.constant('additive-jitter' as const), of: tie('backoff'), upToMs: durationMs, order }),
    fc.record({
      kind: fc.constant('proportional-jitter' as const),
      of: tie('backoff'),
      ratio: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 0.1, 1)),
      order,
    }),
  ),
})).backoff;

/** What a source of chance may give: [0, 1), with both ends likely. */
export const chance = fc.oneof(
  fc.constantFrom(0, 0.5, 1 - 2 ** -53),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
);

/** 1 … 10 000, with the numbers likely at which powers overflow. */
export const retryNumber = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.constantFrom(1, 2, 31, 32, 33, 1_024, 1_025, 10_000),
);

/** An instant between 1970 and the end of the year 9999, in whole seconds. */
export const instantMs = fc.integer({ min: 0, max: 253_402_300_799 }).map((seconds) => seconds * 1_000);

export const budgetPolicy: fc.Arbitrary<TokenBudget> = fc.record({
  kind: fc.constant('tokens' as const),
  capacity: fc.oneof(fc.nat({ max: 100 }), fc.double({ min: 0, max: 1e6, noNaN: true })),
  retryCost: fc.double({ min: 0, max: 10, noNaN: true }),
  throttledCost: fc.double({ min: 0, max: 10, noNaN: true }),
  successCredit: fc.double({ min: 0, max: 10, noNaN: true }),
  refillPerSecond: fc.double({ min: 0, max: 10, noNaN: true }),
});

export const windowedPolicy: fc.Arbitrary<WindowedBudget> = fc.record({
  kind: fc.constant('windowed' as const),
  ratio: fc.constantFrom(0, 0.1, 1),
  perSecond: fc.constantFrom(0, 0.2, 10),
  windowMs: fc.constantFrom(1, 1_000, 10_000),
});

/** Also those where the open time is set above its maximum. */
export const circuitPolicy: fc.Arbitrary<CircuitPolicy> = fc.record({
  failures: fc.integer({ min: 1, max: 4 }),
  window: fc.integer({ min: 1, max: 12 }),
  failureRatio: fc.constantFrom(0.01, 0.5, 0.9, 1),
  openMs: fc.integer({ min: 1, max: 200_000 }),
  openFactor: fc.constantFrom(1, 2, 1_000),
  maxOpenMs: fc.integer({ min: 1, max: 200_000 }),
  resetMs: fc.nat({ max: 20_000 }),
  probeMs: fc.integer({ min: 1, max: 20_000 }),
  probes: fc.integer({ min: 1, max: 4 }),
  parking: fc.boolean(),
  sameFailureMs: fc.nat({ max: 500 }),
  attemptsDivisor: fc.constantFrom(1, 2, 1_000),
});

export const anyGuards: fc.Arbitrary<Guards> = fc.record({
  budget: fc.oneof(budgetPolicy, windowedPolicy),
  circuit: circuitPolicy,
});

/** Around here everything happens, in whatever order of time. */
export const AROUND = Date.UTC(2026, 6, 5, 12);
const instantAround = fc.integer({ min: AROUND - 100_000, max: AROUND + 100_000 });

export const paths = fc.constantFrom('/a', '/b', '/c', '__proto__', 'constructor');

export const holdAsked: fc.Arbitrary<HoldAsked> = fc.record({
  at: instantAround,
  status: fc.constantFrom(429, 503),
  path: fc.oneof(
    paths,
    fc.nat({ max: 60 }).map((n) => `/${n}`),
  ),
  until: fc.integer({ min: AROUND - 100_000, max: AROUND + 10_000_000 }),
  scope: fc.constantFrom('auto' as const, 'path' as const, 'group' as const),
});

export const anyHold: fc.Arbitrary<Hold> = fc
  .array(holdAsked, { maxLength: 40, size: 'max' })
  .map((events) => events.reduce(holdFor, NO_HOLD));

const ended = { at: instantAround, launchedAt: instantAround };
const as = fc.constantFrom('probe' as const, 'released' as const);

export const originEvent: fc.Arbitrary<OriginEvent> = fc.oneof(
  fc.record({ kind: fc.constant('retry-reserved' as const), at: instantAround, cost: fc.constantFrom(0, 1, 2.5) }),
  fc.record({
    kind: fc.constant('retry-refunded' as const),
    at: instantAround,
    cost: fc.constantFrom(0, 1, 2.5),
    launched: fc.boolean(),
    reservedAt: instantAround,
  }),
  fc.record({ kind: fc.constantFrom('request-began' as const, 'first-try-succeeded' as const), at: instantAround }),
  fc.record(
    { kind: fc.constantFrom('attempt-succeeded' as const, 'attempt-failed' as const), ...ended, as },
    { requiredKeys: ['kind', 'at', 'launchedAt'] },
  ),
  fc.record({ kind: fc.constant('request-failed' as const), ...ended }),
  fc.record({
    kind: fc.constantFrom('probe-launched' as const, 'probe-abandoned' as const),
    at: instantAround,
    until: instantAround,
  }),
  fc.record({ kind: fc.constantFrom('drained' as const, 'back-online' as const), at: instantAround }),
  holdAsked.map((asked) => ({ kind: 'hold-asked' as const, ...asked })),
  fc.record({ kind: fc.constant('hold-disproved' as const), at: instantAround, path: paths }),
);
