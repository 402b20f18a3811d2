import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  affords,
  BUDGET_DEFAULTS,
  type Bucket,
  type BudgetPolicy,
  capacityOf,
  costOf,
  credit,
  deposit,
  fullBucket,
  isFull,
  refill,
  refund,
  resolveBudget,
  spend,
  type TokenBudget,
  type WindowedBudget,
} from '../../src/policy/budget.ts';
import { budgetPolicy, windowedPolicy } from '../support/arbitraries.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const holds = (tokens: number, at = T0): Bucket => ({ tokens, at });
const withBudget = (over: Partial<TokenBudget>): TokenBudget => ({ ...BUDGET_DEFAULTS, ...over });
const earn = (bucket: Bucket, amount: number, now: number, policy: BudgetPolicy): Bucket =>
  refund(bucket, { cost: amount, launched: false, reservedAt: now }, now, policy);

test('defaults: 20 tokens, 1 a retry, 0.2 back for a first-try success, 1 every 10 s; frozen', () => {
  expect(BUDGET_DEFAULTS).toEqual({
    kind: 'tokens',
    capacity: 20,
    retryCost: 1,
    throttledCost: 1,
    successCredit: 0.2,
    refillPerSecond: 0.1,
  });
  expect(Object.isFrozen(BUDGET_DEFAULTS)).toBe(true);
  expect(structuredClone(BUDGET_DEFAULTS)).toEqual(BUDGET_DEFAULTS);
});

test('a new bucket is full', () => {
  expect(fullBucket(T0, BUDGET_DEFAULTS)).toEqual({ tokens: 20, at: T0 });
  expect(fullBucket(T0, withBudget({ capacity: 0 }))).toEqual({ tokens: 0, at: T0 });
});

describe('time refills', () => {
  test.each([
    { tokens: 0, afterMs: 0, left: 0 },
    { tokens: 0, afterMs: 10_000, left: 1 },
    { tokens: 0, afterMs: 5_000, left: 0.5 },
    { tokens: 3, afterMs: 20_000, left: 5 },
    { tokens: 0, afterMs: 200_000, left: 20 },
    { tokens: 0, afterMs: 86_400_000, left: 20 },
    { tokens: 19.5, afterMs: 10_000, left: 20 },
    { tokens: 20, afterMs: 3_600_000, left: 20 },
  ])('$tokens tokens after $afterMs ms are $left', ({ tokens, afterMs, left }) => {
    expect(refill(holds(tokens), T0 + afterMs, BUDGET_DEFAULTS)).toEqual({ tokens: left, at: T0 + afterMs });
  });

  test('a clock set back by an hour takes nothing away and gives nothing', () => {
    expect(refill(holds(7), T0 - 3_600_000, BUDGET_DEFAULTS).tokens).toBe(7);
    expect(spend(holds(7), 1, T0 - 3_600_000, BUDGET_DEFAULTS).tokens).toBe(6);
    expect(earn(holds(7), 1, T0 - 3_600_000, BUDGET_DEFAULTS).tokens).toBe(8);
  });

  test('a clock set back does not stop the refill for as long as it was set back', () => {
    const back = refill(holds(7), T0 - 86_400_000, BUDGET_DEFAULTS);
    expect(refill(back, T0 - 86_400_000 + 10_000, BUDGET_DEFAULTS).tokens).toBe(8);
  });

  test('1 000 refills of 10 ms are one of 10 s: no fraction is lost', () => {
    let bucket = holds(0);
    for (let step = 1; step <= 1_000; step++) bucket = refill(bucket, T0 + step * 10, BUDGET_DEFAULTS);
    expect(bucket.tokens).toBeCloseTo(1, 9);
    expect(bucket.at).toBe(T0 + 10_000);
    expect(affords(bucket, 1, T0 + 10_000, BUDGET_DEFAULTS)).toBe(true);
  });

  test('1 token a second, looked at every 100 ms for 10 s: 10 tokens', () => {
    let bucket = holds(0);
    for (let step = 1; step <= 100; step++)
      bucket = refill(bucket, T0 + step * 100, withBudget({ refillPerSecond: 1 }));
    expect(bucket.tokens).toBeCloseTo(10, 9);
  });

  test('an idle hour at capacity is not credited a second time after the first use', () => {
    const policy = withBudget({ capacity: 5 });
    let bucket = fullBucket(T0, policy);
    let granted = 0;
    for (let failure = 0; failure < 10; failure++) {
      const now = T0 + 3_600_000 + failure;
      if (!affords(bucket, 1, now, policy)) continue;
      bucket = spend(bucket, 1, now, policy);
      granted++;
    }
    expect(granted).toBe(5);
  });

  test('a used-up bucket fills again by success alone', () => {
    const policy = withBudget({ refillPerSecond: 0 });
    let bucket = holds(0);
    for (let success = 0; success < 5; success++) {
      expect(affords(bucket, 1, T0, policy)).toBe(false);
      bucket = earn(bucket, policy.successCredit, T0, policy);
    }
    expect(affords(bucket, 1, T0, policy)).toBe(true);
  });
});

describe('may something be paid?', () => {
  test.each([
    { tokens: 1, cost: 1, afterMs: 0, affordable: true },
    { tokens: 0.99, cost: 1, afterMs: 0, affordable: false },
    { tokens: 0.99, cost: 1, afterMs: 99, affordable: false },
    { tokens: 0.99, cost: 1, afterMs: 100, affordable: true },
    { tokens: 0, cost: 1, afterMs: 9_999, affordable: false },
    { tokens: 0, cost: 1, afterMs: 10_000, affordable: true },
    { tokens: 0, cost: 0, afterMs: 0, affordable: true },
    { tokens: 2, cost: 2.5, afterMs: 0, affordable: false },
    { tokens: 20, cost: 21, afterMs: 86_400_000, affordable: false },
  ])('$tokens tokens, $cost to pay after $afterMs ms: $affordable', ({ tokens, cost, afterMs, affordable }) => {
    expect(affords(holds(tokens), cost, T0 + afterMs, BUDGET_DEFAULTS)).toBe(affordable);
  });

  test('a millionth too little is too little', () => {
    expect(affords(holds(1 - 1e-6), 1, T0, BUDGET_DEFAULTS)).toBe(false);
    expect(affords(holds(1), 1, T0, BUDGET_DEFAULTS)).toBe(true);
  });

  test('ten tenths are one, although they add up to a little less', () => {
    const tenths = Array.from({ length: 10 }).reduce<number>((sum) => sum + 0.1, 0);
    expect(tenths).toBeLessThan(1);
    expect(affords(holds(tenths), 1, T0, BUDGET_DEFAULTS)).toBe(true);
  });
});

describe('paying and earning', () => {
  test.each<{ name: string; after: Bucket; tokens: number; afterMs: number }>([
    { name: 'a retry', after: spend(holds(20), 1, T0, BUDGET_DEFAULTS), tokens: 19, afterMs: 0 },
    { name: 'a retry after 10 s', after: spend(holds(5), 1, T0 + 10_000, BUDGET_DEFAULTS), tokens: 5, afterMs: 10_000 },
    { name: 'more than there is', after: spend(holds(0.5), 1, T0, BUDGET_DEFAULTS), tokens: 0, afterMs: 0 },
    { name: 'a credit', after: earn(holds(5), 0.2, T0, BUDGET_DEFAULTS), tokens: 5.2, afterMs: 0 },
    {
      name: 'a credit after 10 s',
      after: earn(holds(5), 0.2, T0 + 10_000, BUDGET_DEFAULTS),
      tokens: 6.2,
      afterMs: 10_000,
    },
    { name: 'a credit above the capacity', after: earn(holds(19.9), 0.2, T0, BUDGET_DEFAULTS), tokens: 20, afterMs: 0 },
  ])('$name leaves $tokens tokens', ({ after, tokens, afterMs }) => {
    expect(after.tokens).toBeCloseTo(tokens, 12);
    expect(after.at).toBe(T0 + afterMs);
  });
});

describe('properties', () => {
  const step = fc.record({
    kind: fc.constantFrom('refill' as const, 'spend' as const, 'earn' as const),
    amount: fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.constant(Number.MAX_VALUE)),
    // Mostly forwards, sometimes a clock that was set back.
    afterMs: fc.oneof(fc.nat({ max: 100_000 }), fc.integer({ min: -1e12, max: 1e12 })),
  });
  const apply = (
    bucket: Bucket,
    { kind, amount }: { kind: string; amount: number },
    now: number,
    policy: BudgetPolicy,
  ) =>
    kind === 'refill'
      ? refill(bucket, now, policy)
      : kind === 'spend'
        ? spend(bucket, amount, now, policy)
        : earn(bucket, amount, now, policy);

  test('over any history tokens stay within [0, capacity]', () => {
    fc.assert(
      fc.property(budgetPolicy, fc.array(step, { maxLength: 50 }), (policy, history) => {
        let bucket = fullBucket(T0, policy);
        let now = T0;
        for (const one of history) {
          now += one.afterMs;
          bucket = apply(bucket, one, now, policy);
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          expect(bucket.tokens).toBeLessThanOrEqual(policy.capacity);
          expect(Number.isFinite(bucket.at)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('how often one looks does not change what time earns', () => {
    fc.assert(
      fc.property(budgetPolicy, fc.array(fc.nat({ max: 10_000 }), { maxLength: 50 }), (policy, gaps) => {
        const empty = { tokens: 0, at: T0 };
        let now = T0;
        let often: Bucket = empty;
        for (const gap of gaps) {
          now += gap;
          often = refill(often, now, policy);
        }
        expect(often.tokens).toBeCloseTo(refill(empty, now, policy).tokens, 6);
      }),
    );
  });

  test('what was affordable and paid for was there, and a refund restores it', () => {
    fc.assert(
      fc.property(budgetPolicy, fc.double({ min: 0, max: 1, noNaN: true }), (policy, share) => {
        const before = { tokens: policy.capacity * share, at: T0 };
        fc.pre(affords(before, policy.retryCost, T0, policy));
        const paid = spend(before, policy.retryCost, T0, policy);
        expect(before.tokens - paid.tokens).toBeCloseTo(policy.retryCost, 6);
        expect(earn(paid, policy.retryCost, T0, policy).tokens).toBeCloseTo(before.tokens, 6);
      }),
    );
  });

  test('without time and credit, what a full bucket grants is its capacity and no more', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.nat({ max: 300 }), (capacity, asked) => {
        const policy = withBudget({ capacity, refillPerSecond: 0 });
        let bucket = fullBucket(T0, policy);
        let granted = 0;
        for (let one = 0; one < asked; one++) {
          if (!affords(bucket, 1, T0, policy)) break;
          bucket = spend(bucket, 1, T0, policy);
          granted++;
        }
        expect(granted).toBe(Math.min(capacity, asked));
      }),
    );
  });

  test('a transition leaves the bucket it was given as it was', () => {
    const bucket = Object.freeze(holds(5));
    refill(bucket, T0 + 1, BUDGET_DEFAULTS);
    spend(bucket, 1, T0 + 1, BUDGET_DEFAULTS);
    earn(bucket, 1, T0 + 1, BUDGET_DEFAULTS);
    expect(bucket).toEqual({ tokens: 5, at: T0 });
  });
});

/** 5 retries in 10 s without traffic; slots of a second, which begin at whole ones. */
const WINDOWED: WindowedBudget = { kind: 'windowed', ratio: 0.1, perSecond: 0.5, windowMs: 10_000 };
const EMPTY: Bucket = { tokens: 0, at: T0 };

test.each([
  { options: undefined, policy: BUDGET_DEFAULTS },
  { options: {}, policy: BUDGET_DEFAULTS },
  { options: { capacity: 5 }, policy: { ...BUDGET_DEFAULTS, capacity: 5 } },
  { options: { kind: 'tokens' as const, retryCost: 2 }, policy: { ...BUDGET_DEFAULTS, retryCost: 2 } },
  { options: WINDOWED, policy: WINDOWED },
])('$options in full', ({ options, policy }) => {
  expect(resolveBudget(options)).toEqual(policy);
  // What the user does to the options afterwards changes no policy.
  expect(resolveBudget(options)).not.toBe(options);
});

test.each([
  { policy: withBudget({ retryCost: 2, throttledCost: 3 }), capacity: 20, cost: 2, throttled: 3 },
  { policy: WINDOWED, capacity: 5, cost: 1, throttled: 1 },
])('a $policy.kind budget has $capacity, a retry costs $cost, after a 429 or 503 $throttled', (row) => {
  expect(capacityOf(row.policy)).toBe(row.capacity);
  expect(costOf(false, row.policy)).toBe(row.cost);
  expect(costOf(true, row.policy)).toBe(row.throttled);
  expect(fullBucket(T0, row.policy)).toEqual({ tokens: row.capacity, at: T0 });
});

test('where tokens are counted the beginning of a request pays nothing, its success a fifth', () => {
  expect(deposit(holds(5), T0 + 10_000, BUDGET_DEFAULTS)).toEqual(holds(6, T0 + 10_000));
  expect(credit(holds(5), T0, BUDGET_DEFAULTS)).toEqual(holds(5.2));
});

test.each([true, false])('where tokens are counted what comes back is the whole cost, launched: %s', (launched) => {
  const refunded = refund(holds(5), { cost: 2, launched, reservedAt: T0 - 86_400_000 }, T0 + 10_000, BUDGET_DEFAULTS);
  expect(refunded).toEqual(holds(8, T0 + 10_000));
});

test.each([
  { tokens: 20, afterMs: 0, full: true },
  { tokens: 19, afterMs: 9_999, full: false },
  { tokens: 19, afterMs: 10_000, full: true },
])('$tokens tokens after $afterMs ms are as good as new: $full', ({ tokens, afterMs, full }) => {
  expect(isFull(holds(tokens), T0 + afterMs, BUDGET_DEFAULTS)).toBe(full);
});

describe('a share of the traffic', () => {
  const later = (bucket: Bucket, ms: number) => refill(bucket, T0 + ms, WINDOWED);
  const spent = spend(EMPTY, 1, T0 + 1_999, WINDOWED);
  const undo = (over: Partial<Parameters<typeof refund>[1]>, ms: number) =>
    refund(spent, { cost: 1, launched: false, reservedAt: T0 + 1_999, ...over }, T0 + ms, WINDOWED);

  test('a retry takes one for a window from the beginning of its slot', () => {
    expect(spent).toEqual({ tokens: 4, at: T0 + 1_999, slots: [[T0 + 1_000, -1]] });
    expect(later(spent, 10_999).tokens).toBe(4);
    expect(later(spent, 11_000)).toEqual({ tokens: 5, at: T0 + 11_000, slots: [] });
    expect([isFull(spent, T0 + 10_999, WINDOWED), isFull(spent, T0 + 11_000, WINDOWED)]).toEqual([false, true]);
  });

  test('a clock set back by less than the window forgets nothing', () => {
    expect(later(spent, -8_999).tokens).toBe(4);
    expect(later(spent, -9_000).tokens).toBe(5);
  });

  test('a request pays its share in as it begins, and no more as it succeeds', () => {
    const ten = Array.from({ length: 10 }).reduce<Bucket>((bucket) => deposit(bucket, T0, WINDOWED), EMPTY);
    expect(ten.tokens).toBeCloseTo(6, 9);
    expect(ten.slots).toHaveLength(1);
    expect(credit(ten, T0 + 1, WINDOWED)).toEqual({ ...ten, at: T0 + 1 });
  });

  test('what happens in different seconds is remembered apart', () => {
    const two = deposit(spent, T0 + 2_000, WINDOWED);
    expect(two.slots).toEqual([
      [T0 + 1_000, -1],
      [T0 + 2_000, 0.1],
    ]);
    expect(later(two, 11_000)).toEqual({ tokens: 5.1, at: T0 + 11_000, slots: [[T0 + 2_000, 0.1]] });
  });

  test('what pays nothing leaves no trace', () => {
    expect(credit(EMPTY, T0 + 1, WINDOWED)).toEqual({ tokens: 5, at: T0 + 1, slots: [] });
    expect(spend(EMPTY, 0, T0, WINDOWED).slots).toEqual([]);
  });

  test('never below nothing', () => {
    expect(spend(EMPTY, 7, T0, WINDOWED).tokens).toBe(0);
    expect(affords(spend(EMPTY, 4.5, T0, WINDOWED), 1, T0, WINDOWED)).toBe(false);
  });

  test.each([
    { name: 'one that was not launched comes back', over: {}, ms: 3_000, slots: [[T0 + 1_000, 0]] },
    { name: 'also at the end of its window', over: {}, ms: 10_999, slots: [[T0 + 1_000, 0]] },
    { name: 'not after it', over: {}, ms: 11_000, slots: [] },
    { name: 'one that was launched does not', over: { launched: true }, ms: 3_000, slots: [[T0 + 1_000, -1]] },
  ])('$name', ({ over, ms, slots }) => {
    expect(undo(over, ms)).toEqual({
      tokens: 5 + slots.reduce((sum, [, net = 0]) => sum + net, 0),
      at: T0 + ms,
      slots,
    });
  });

  test('property: within a window no more retries than it allows and traffic has paid for, and few slots', () => {
    const step = fc.record({ retry: fc.boolean(), afterMs: fc.nat({ max: 2_000 }) });
    fc.assert(
      fc.property(windowedPolicy, fc.array(step, { maxLength: 200 }), (policy, steps) => {
        let [now, bucket] = [T0, fullBucket(T0, policy)];
        const [retries, requests]: [number[], number[]] = [[], []];
        for (const { retry, afterMs } of steps) {
          now += afterMs;
          bucket = deposit(bucket, now, policy);
          requests.push(now);
          if (!retry || !affords(bucket, 1, now, policy)) continue;
          bucket = spend(bucket, 1, now, policy);
          retries.push(now);
          // A slot counts from its beginning, so that a window may be a tenth shorter.
          const within = (at: number) => now - at <= policy.windowMs * 0.9 - 1;
          const paid = capacityOf(policy) + policy.ratio * requests.filter((at) => now - at <= policy.windowMs).length;
          expect(retries.filter(within).length).toBeLessThanOrEqual(paid + 1e-6);
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          expect(bucket.slots?.length).toBeLessThanOrEqual(11);
        }
      }),
    );
  });

  test('property: a retry that never went out leaves what there was', () => {
    const paid = fc.record({ amount: fc.integer({ min: -3, max: 3 }), at: fc.nat({ max: 9_000 }) });
    fc.assert(
      fc.property(fc.array(paid), fc.nat({ max: 9_000 }), (history, at) => {
        const before = history.reduce<Bucket>((b, one) => spend(b, one.amount, T0 + one.at, WINDOWED), EMPTY);
        const then = spend(before, 1, T0 + at, WINDOWED);
        const undone = refund(then, { cost: 1, launched: false, reservedAt: T0 + at }, T0 + 9_500, WINDOWED);
        expect(undone.tokens).toBe(later(before, 9_500).tokens);
      }),
    );
  });
});
