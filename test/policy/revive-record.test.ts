import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advance, initialRecord, type OriginRecord } from '../../src/policy/origin-record.ts';
import { reviveRecord } from '../../src/policy/revive-record.ts';
import { budgetPolicy } from '../support/arbitraries.ts';
import { GUARDS, guardsWith, recordOf } from '../support/records.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const record = (tokens: number, at = T0): OriginRecord => recordOf(tokens, at);

describe('a record from the store', () => {
  const now = T0 + 60_000;
  test.each<{ name: string; stored: unknown; revived: OriginRecord | undefined }>([
    { name: 'as it was', stored: record(7.5), revived: record(7.5) },
    { name: 'an empty budget stays empty', stored: record(0), revived: record(0) },
    { name: 'instant 0 stays', stored: record(3, 0), revived: record(3, 0) },
    { name: 'more than the capacity', stored: record(1_000), revived: record(20) },
    { name: 'less than nothing', stored: record(-5), revived: record(0) },
    { name: 'from the future', stored: record(5, now + 86_400_000), revived: record(5, now) },
    { name: 'fields of a later version', stored: { ...record(5), weather: { until: 1 } }, revived: record(5) },
    {
      name: 'an older version, which knew of budgets only',
      stored: { origin: 'https://api.test', group: 'data', budget: { tokens: 5, at: T0 } },
      revived: record(5),
    },
    { name: 'a hold that is none', stored: { ...record(5), hold: { until: 'soon', paths: {} } }, revived: record(5) },
    { name: 'a circuit that is none', stored: { ...record(5), circuit: { openUntil: 1 } }, revived: record(5) },
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
    expect(reviveRecord(stored, now, GUARDS)).toStrictEqual(revived);
  });

  test('a used-up budget that sleeps in the store has earned what time earns, no more', () => {
    const revived = reviveRecord(structuredClone(record(0)), T0 + 30_000, GUARDS);
    if (revived === undefined) throw new Error('was refused');
    const spent = advance(revived, { kind: 'retry-reserved', at: T0 + 30_000, cost: 1 }, GUARDS);
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
        const revived = reviveRecord(stored, now, guardsWith(policy));
        if (revived === undefined) return;
        sound++;
        expect(Object.keys(revived).sort()).toEqual(['budget', 'circuit', 'group', 'hold', 'origin', 'usedAt']);
        expect(typeof revived.origin).toBe('string');
        expect(typeof revived.group).toBe('string');
        expect(revived.budget.tokens).toBeGreaterThanOrEqual(0);
        expect(revived.budget.tokens).toBeLessThanOrEqual(policy.capacity);
        expect(Number.isFinite(revived.budget.at)).toBe(true);
        expect(revived.budget.at).toBeLessThanOrEqual(now);
        const after = advance(revived, { kind: 'first-try-succeeded', at: now }, guardsWith(policy));
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
        const full = initialRecord(origin, group, now - ageMs, guardsWith(policy));
        const stored = advance(
          full,
          { kind: 'retry-reserved', at: now - ageMs, cost: policy.retryCost },
          guardsWith(policy),
        );
        expect(reviveRecord(structuredClone(stored), now, guardsWith(policy))).toStrictEqual(stored);
      }),
    );
  });
});
