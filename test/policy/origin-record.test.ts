import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { affords, BUDGET_DEFAULTS } from '../../src/policy/budget.ts';
import {
  advance,
  initialRecord,
  isInitial,
  type OriginEvent,
  type OriginRecord,
  reviveRecord,
} from '../../src/policy/origin-record.ts';
import { budgetPolicy } from '../support/arbitraries.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const record = (tokens: number, at = T0): OriginRecord => ({
  origin: 'https://api.test',
  group: 'data',
  budget: { tokens, at },
});

test('a new record is full and belongs to its origin and group', () => {
  expect(initialRecord('https://api.test', 'data', T0, BUDGET_DEFAULTS)).toEqual(record(20));
});

describe('transitions', () => {
  test.each<{ name: string; before: OriginRecord; event: OriginEvent; after: OriginRecord }>([
    {
      name: 'a retry is reserved',
      before: record(20),
      event: { kind: 'retry-reserved', at: T0, cost: 1 },
      after: record(19),
    },
    {
      name: 'a dearer retry is reserved',
      before: record(20),
      event: { kind: 'retry-reserved', at: T0, cost: 3 },
      after: record(17),
    },
    {
      name: 'a retry is reserved after 10 s',
      before: record(10),
      event: { kind: 'retry-reserved', at: T0 + 10_000, cost: 1 },
      after: record(10, T0 + 10_000),
    },
    {
      name: 'a retry is refunded',
      before: record(19),
      event: { kind: 'retry-refunded', at: T0, cost: 1 },
      after: record(20),
    },
    {
      name: 'a refund above the capacity',
      before: record(20),
      event: { kind: 'retry-refunded', at: T0, cost: 1 },
      after: record(20),
    },
    {
      name: 'a first try succeeds',
      before: record(10),
      event: { kind: 'first-try-succeeded', at: T0 },
      after: record(10.2),
    },
    {
      name: 'a first try succeeds with a full budget',
      before: record(20),
      event: { kind: 'first-try-succeeded', at: T0 + 5 },
      after: record(20, T0 + 5),
    },
  ])('$name', ({ before, event, after }) => {
    const frozen = Object.freeze({ ...before, budget: Object.freeze({ ...before.budget }) });
    expect(advance(frozen, event, BUDGET_DEFAULTS)).toEqual(after);
  });
});

describe('what need not be kept', () => {
  test.each([
    { tokens: 20, afterMs: 0, initial: true },
    { tokens: 19, afterMs: 0, initial: false },
    { tokens: 19, afterMs: 9_999, initial: false },
    { tokens: 19, afterMs: 10_000, initial: true },
    { tokens: 0, afterMs: 199_999, initial: false },
    { tokens: 0, afterMs: 200_000, initial: true },
    { tokens: 19, afterMs: -86_400_000, initial: false },
  ])('$tokens tokens after $afterMs ms: $initial', ({ tokens, afterMs, initial }) => {
    expect(isInitial(record(tokens), T0 + afterMs, BUDGET_DEFAULTS)).toBe(initial);
  });

  test('a new record need not', () => {
    expect(isInitial(initialRecord('https://api.test', 'data', T0, BUDGET_DEFAULTS), T0, BUDGET_DEFAULTS)).toBe(true);
  });
});

describe('a record from the store', () => {
  const now = T0 + 60_000;
  test.each<{ name: string; stored: unknown; revived: OriginRecord | undefined }>([
    { name: 'as it was', stored: record(7.5), revived: record(7.5) },
    { name: 'an empty budget stays empty', stored: record(0), revived: record(0) },
    { name: 'instant 0 stays', stored: record(3, 0), revived: record(3, 0) },
    { name: 'more than the capacity', stored: record(1_000), revived: record(20) },
    { name: 'less than nothing', stored: record(-5), revived: record(0) },
    { name: 'from the future', stored: record(5, now + 86_400_000), revived: record(5, now) },
    { name: 'fields of a later version', stored: { ...record(5), hold: { until: 1 } }, revived: record(5) },
    {
      name: 'fields of a later version in the budget',
      stored: { ...record(5), budget: { tokens: 5, at: T0, spent: 2 } },
      revived: record(5),
    },
    { name: 'nothing', stored: undefined, revived: undefined },
    { name: 'null', stored: null, revived: undefined },
    { name: 'a number', stored: 5, revived: undefined },
    { name: 'a text', stored: 'record', revived: undefined },
    { name: 'a list', stored: [], revived: undefined },
    { name: 'an empty object', stored: {}, revived: undefined },
    { name: 'no origin', stored: { group: 'data', budget: { tokens: 5, at: T0 } }, revived: undefined },
    { name: 'an origin that is none', stored: { ...record(5), origin: 5 }, revived: undefined },
    { name: 'no group', stored: { origin: 'https://api.test', budget: { tokens: 5, at: T0 } }, revived: undefined },
    { name: 'a group that is none', stored: { ...record(5), group: null }, revived: undefined },
    { name: 'no budget', stored: { origin: 'https://api.test', group: 'data' }, revived: undefined },
    { name: 'a budget of null', stored: { ...record(5), budget: null }, revived: undefined },
    { name: 'a budget that is a number', stored: { ...record(5), budget: 5 }, revived: undefined },
    { name: 'a budget that is a list', stored: { ...record(5), budget: [5, T0] }, revived: undefined },
    { name: 'tokens as text', stored: { ...record(5), budget: { tokens: '5', at: T0 } }, revived: undefined },
    { name: 'no tokens', stored: { ...record(5), budget: { at: T0 } }, revived: undefined },
    { name: 'tokens NaN', stored: record(Number.NaN), revived: undefined },
    { name: 'endless tokens', stored: record(Number.POSITIVE_INFINITY), revived: undefined },
    { name: 'no instant', stored: { ...record(5), budget: { tokens: 5 } }, revived: undefined },
    {
      name: 'an instant as a Date',
      stored: { ...record(5), budget: { tokens: 5, at: new Date(T0) } },
      revived: undefined,
    },
    { name: 'an instant as text', stored: { ...record(5), budget: { tokens: 5, at: `${T0}` } }, revived: undefined },
    { name: 'an instant NaN', stored: record(5, Number.NaN), revived: undefined },
    { name: 'an instant of minus infinity', stored: record(5, Number.NEGATIVE_INFINITY), revived: undefined },
  ])('$name', ({ stored, revived }) => {
    expect(reviveRecord(stored, now, BUDGET_DEFAULTS)).toStrictEqual(revived);
  });

  test('a used-up budget that sleeps in the store has earned what time earns, no more', () => {
    const revived = reviveRecord(structuredClone(record(0)), T0 + 30_000, BUDGET_DEFAULTS);
    if (revived === undefined) throw new Error('was refused');
    const spent = advance(revived, { kind: 'retry-reserved', at: T0 + 30_000, cost: 1 }, BUDGET_DEFAULTS);
    expect(spent.budget.tokens).toBeCloseTo(2, 9);
  });

  test('property: whatever the store holds, there is a sound record or none, and no throw', () => {
    const hostile = fc.oneof(
      fc.anything({ withDate: true, withBigInt: true, withMap: true, withSet: true, withNullPrototype: true }),
      fc.record(
        {
          origin: fc.oneof(fc.string(), fc.anything()),
          group: fc.oneof(fc.string(), fc.anything()),
          budget: fc.oneof(
            fc.anything(),
            fc.record({
              tokens: fc.oneof(fc.double(), fc.anything()),
              at: fc.oneof(fc.double(), fc.anything()),
            }),
            fc.record({ tokens: fc.double(), at: fc.double() }),
          ),
        },
        { noNullPrototype: false, requiredKeys: [] },
      ),
    );
    let sound = 0;
    fc.assert(
      fc.property(hostile, budgetPolicy, (stored, policy) => {
        const revived = reviveRecord(stored, now, policy);
        if (revived === undefined) return;
        sound++;
        expect(Object.keys(revived).sort()).toEqual(['budget', 'group', 'origin']);
        expect(typeof revived.origin).toBe('string');
        expect(typeof revived.group).toBe('string');
        expect(revived.budget.tokens).toBeGreaterThanOrEqual(0);
        expect(revived.budget.tokens).toBeLessThanOrEqual(policy.capacity);
        expect(Number.isFinite(revived.budget.at)).toBe(true);
        expect(revived.budget.at).toBeLessThanOrEqual(now);
        const after = advance(revived, { kind: 'first-try-succeeded', at: now }, policy);
        expect(after.budget.tokens).toBeGreaterThanOrEqual(0);
        expect(after.budget.tokens).toBeLessThanOrEqual(policy.capacity);
      }),
      { numRuns: 3_000 },
    );
    expect(sound).toBeGreaterThan(50);
  });

  test('property: a record that was stored and read comes back the same', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), budgetPolicy, fc.nat({ max: 1e9 }), (origin, group, policy, ageMs) => {
        const full = initialRecord(origin, group, now - ageMs, policy);
        const stored = advance(full, { kind: 'retry-reserved', at: now - ageMs, cost: policy.retryCost }, policy);
        expect(reviveRecord(structuredClone(stored), now, policy)).toStrictEqual(stored);
      }),
    );
  });
});

describe('random histories', () => {
  const event = fc.record({
    kind: fc.constantFrom('retry-reserved' as const, 'retry-refunded' as const, 'first-try-succeeded' as const),
    cost: fc.double({ min: 0, max: 5, noNaN: true }),
    afterMs: fc.oneof(fc.nat({ max: 60_000 }), fc.integer({ min: -1e10, max: 1e10 })),
  });

  test('property: tokens stay within [0, capacity], and nothing else of the record changes', () => {
    fc.assert(
      fc.property(budgetPolicy, fc.array(event, { maxLength: 60 }), (policy, history) => {
        let now = T0;
        let current = initialRecord('https://api.test', 'data', now, policy);
        for (const { kind, cost, afterMs } of history) {
          now += afterMs;
          const happened = kind === 'first-try-succeeded' ? { kind, at: now } : { kind, at: now, cost };
          current = advance(current, happened, policy);
          expect(current.budget.tokens).toBeGreaterThanOrEqual(0);
          expect(current.budget.tokens).toBeLessThanOrEqual(policy.capacity);
          expect(current).toMatchObject({ origin: 'https://api.test', group: 'data' });
        }
      }),
      { numRuns: 500 },
    );
  });

  test('property: retries granted never exceed the capacity, what time earned and what successes earned', () => {
    const traffic = fc.array(fc.record({ failed: fc.boolean(), afterMs: fc.nat({ max: 5_000 }) }), { maxLength: 300 });
    fc.assert(
      fc.property(traffic, (requests) => {
        let now = T0;
        let current = initialRecord('https://api.test', 'data', now, BUDGET_DEFAULTS);
        let granted = 0;
        let successes = 0;
        for (const { failed, afterMs } of requests) {
          now += afterMs;
          if (!failed) {
            successes++;
            current = advance(current, { kind: 'first-try-succeeded', at: now }, BUDGET_DEFAULTS);
            continue;
          }
          if (!affords(current.budget, 1, now, BUDGET_DEFAULTS)) continue;
          current = advance(current, { kind: 'retry-reserved', at: now, cost: 1 }, BUDGET_DEFAULTS);
          granted++;
        }
        expect(granted).toBeLessThanOrEqual(20 + (now - T0) / 10_000 + successes * 0.2 + 1e-6);
      }),
      { numRuns: 300 },
    );
  });
});
