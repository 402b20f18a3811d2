import fc from 'fast-check';
import type { Backoff } from '../../src/policy/backoff.ts';
import type { TokenBudget } from '../../src/policy/budget.ts';

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
