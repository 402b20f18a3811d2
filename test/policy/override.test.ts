import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallOverride, overridden } from '../../src/policy/override.ts';
import { DEFAULTS, MAX_KEPT_ALIVE_MS } from '../../src/policy/policy.ts';

const asked: fc.Arbitrary<CallOverride> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 10_000 }),
    attemptTimeoutMs: fc.integer({ min: 1, max: 100_000 }),
    totalMs: fc.integer({ min: 1, max: 1_000_000 }),
    hedge: fc.constant(false as const),
    retryNonIdempotent: fc.boolean(),
  },
  { requiredKeys: [] },
);
const policies = fc
  .record({
    attempts: fc.integer({ min: 1, max: 10 }),
    totalMs: fc.integer({ min: 1, max: MAX_KEPT_ALIVE_MS }),
    retryNonIdempotent: fc.boolean(),
    hedge: fc.constantFrom<false | { afterMs: number; max: number }>(false, { afterMs: 5, max: 1 }),
  })
  .map((own) => ({ ...DEFAULTS, ...own }));

test('S07 property: who is not trusted gets no more than there was', () => {
  fc.assert(
    fc.property(policies, asked, (policy, override) => {
      const after = overridden(policy, override, false);
      expect(after.attempts).toBeLessThanOrEqual(policy.attempts);
      expect(after.totalMs).toBeLessThanOrEqual(policy.totalMs);
      expect(after.attemptTimeoutMs).toBe(policy.attemptTimeoutMs);
      expect(Number(after.retryNonIdempotent)).toBeLessThanOrEqual(Number(policy.retryNonIdempotent));
      if (policy.hedge === false) expect(after.hedge).toBe(false);
    }),
  );
});

test('property: row 50, what the page asks for counts both ways, up to what a worker lives', () => {
  fc.assert(
    fc.property(policies, asked, (policy, override) => {
      const after = overridden(policy, override, true);
      expect(after).toMatchObject({
        attempts: override.attempts ?? policy.attempts,
        attemptTimeoutMs: override.attemptTimeoutMs ?? policy.attemptTimeoutMs,
        totalMs: Math.min(override.totalMs ?? policy.totalMs, MAX_KEPT_ALIVE_MS),
        retryNonIdempotent: override.retryNonIdempotent ?? policy.retryNonIdempotent,
        hedge: override.hedge ?? policy.hedge,
      });
    }),
  );
});

test('row 36: what is absent is inherited', () => {
  expect(overridden(DEFAULTS, {}, true)).toEqual(DEFAULTS);
  expect(overridden(DEFAULTS, {}, false)).toEqual(DEFAULTS);
});

test.each([
  { ours: true, asked: undefined, trusted: false, repeats: true },
  { ours: true, asked: true, trusted: false, repeats: true },
  { ours: true, asked: false, trusted: false, repeats: false },
  { ours: false, asked: true, trusted: false, repeats: false },
  { ours: false, asked: undefined, trusted: false, repeats: false },
  { ours: false, asked: true, trusted: true, repeats: true },
  { ours: true, asked: false, trusted: true, repeats: false },
])('retryNonIdempotent: $ours here, $asked asked, trusted $trusted: $repeats', ({ ours, asked, trusted, repeats }) => {
  const override = asked === undefined ? {} : { retryNonIdempotent: asked };
  const after = overridden({ ...DEFAULTS, retryNonIdempotent: ours }, override, trusted);
  expect(after.retryNonIdempotent).toBe(repeats);
});

test('who is not trusted gets the less of the two', () => {
  const base = { ...DEFAULTS, attempts: 4, attemptTimeoutMs: 10_000, totalMs: 25_000 };
  const [less, more] = [
    { attempts: 2, attemptTimeoutMs: 5, totalMs: 6 },
    { attempts: 9, attemptTimeoutMs: 20_000, totalMs: 30_000 },
  ];
  // A shorter time for an attempt would mean more of them.
  expect(overridden(base, less, false)).toMatchObject({ ...less, attemptTimeoutMs: 10_000 });
  expect(overridden(base, more, false)).toEqual(base);
});
