import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { affords, BUDGET_DEFAULTS } from '../../src/policy/budget.ts';
import { type Circuit, CLOSED } from '../../src/policy/circuit.ts';
import { NO_HOLD } from '../../src/policy/hold.ts';
import {
  advance,
  initialRecord,
  isInitial,
  type OriginEvent,
  type OriginRecord,
} from '../../src/policy/origin-record.ts';
import { anyGuards, budgetPolicy, originEvent } from '../support/arbitraries.ts';
import { anyRecord, GUARDS, guardsWith, recordOf } from '../support/records.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const record = (tokens: number, at = T0): OriginRecord => recordOf(tokens, at);

test('a new record is full and belongs to its origin and group', () => {
  expect(initialRecord('https://api.test', 'data', T0, GUARDS)).toEqual(record(20));
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
      event: { kind: 'retry-refunded', at: T0, cost: 1, launched: false, reservedAt: 0 },
      after: record(20),
    },
    {
      name: 'a refund above the capacity',
      before: record(20),
      event: { kind: 'retry-refunded', at: T0, cost: 1, launched: false, reservedAt: 0 },
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
    expect(advance(frozen, event, GUARDS)).toEqual(after);
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
    expect(isInitial(record(tokens), T0 + afterMs, GUARDS)).toBe(initial);
  });

  test('a new record need not', () => {
    expect(isInitial(initialRecord('https://api.test', 'data', T0, GUARDS), T0, GUARDS)).toBe(true);
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
        let current = initialRecord('https://api.test', 'data', now, guardsWith(policy));
        for (const { kind, cost, afterMs } of history) {
          now += afterMs;
          const happened = { kind, at: now, cost, launched: true, reservedAt: now };
          current = advance(current, happened, guardsWith(policy));
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
        let current = initialRecord('https://api.test', 'data', now, GUARDS);
        let granted = 0;
        let successes = 0;
        for (const { failed, afterMs } of requests) {
          now += afterMs;
          if (!failed) {
            successes++;
            current = advance(current, { kind: 'first-try-succeeded', at: now }, GUARDS);
            continue;
          }
          if (!affords(current.budget, 1, now, BUDGET_DEFAULTS)) continue;
          current = advance(current, { kind: 'retry-reserved', at: now, cost: 1 }, GUARDS);
          granted++;
        }
        expect(granted).toBeLessThanOrEqual(20 + (now - T0) / 10_000 + successes * 0.2 + 1e-6);
      }),
      { numRuns: 300 },
    );
  });
});

describe('what happens goes to the part that it is about', () => {
  const at = T0 + 3_000;
  const open: Circuit = { ...CLOSED, openUntil: T0 + 5_000, openMs: 2_000, changedAt: T0, probes: [T0 + 9_000] };
  const half: Circuit = { ...open, openUntil: T0 + 2_000 };
  const long = { until: at + 5_000, at };
  test.each<{ event: OriginEvent; before?: Partial<OriginRecord>; changed: Partial<OriginRecord> }>([
    { event: { kind: 'request-began', at }, changed: { budget: { tokens: 5.3, at } } },
    {
      event: { kind: 'attempt-succeeded', at, launchedAt: at, as: 'probe', probeUntil: T0 + 9_000 },
      before: { circuit: half },
      changed: { circuit: { ...half, probes: [], recent: '1' } },
    },
    { event: { kind: 'attempt-failed', at, launchedAt: at }, changed: { circuit: { ...CLOSED, recent: '0' } } },
    {
      event: { kind: 'request-failed', at, launchedAt: T0 },
      changed: { circuit: { ...CLOSED, failures: 1, failedAt: at } },
    },
    {
      event: { kind: 'request-failed', at, launchedAt: T0 - 1 },
      before: { circuit: { ...CLOSED, changedAt: T0 } },
      changed: {},
    },
    {
      event: { kind: 'probe-launched', at, until: at + 1 },
      before: { circuit: half },
      changed: { circuit: { ...half, probes: [at + 1, T0 + 9_000] } },
    },
    {
      event: { kind: 'probe-abandoned', at, until: T0 + 9_000 },
      before: { circuit: half },
      changed: { circuit: { ...half, probes: [] } },
    },
    {
      event: { kind: 'drained', at },
      before: { circuit: open },
      changed: { circuit: { ...CLOSED, openMs: 2_000, changedAt: at } },
    },
    {
      event: { kind: 'back-online', at },
      before: { circuit: open },
      changed: { circuit: { ...open, openUntil: at, probes: [], changedAt: at } },
    },
    {
      event: { kind: 'hold-asked', at, status: 429, path: '/a', until: at + 5_000, scope: 'auto' },
      changed: { hold: { until: 0, paths: { '/a': long } } },
    },
    {
      event: { kind: 'hold-disproved', at, path: '/a' },
      before: { hold: { until: at + 1, paths: { '/a': long, '/b': long } } },
      changed: { hold: { until: 0, paths: { '/b': long } } },
    },
  ])('$event', ({ event, before, changed }) => {
    const given = { ...record(5), ...before };
    expect(advance(given, event, GUARDS)).toEqual({ ...given, ...changed, usedAt: at });
  });

  test('what happened before its last use does not make it older', () => {
    expect(advance(record(5), { kind: 'drained', at: T0 - 5 }, GUARDS).usedAt).toBe(T0);
  });
});

describe('what is kept', () => {
  const full = record(20);
  const closed = (over: Partial<Circuit>): OriginRecord => ({ ...full, circuit: { ...CLOSED, ...over } });
  test.each<{ name: string; kept: OriginRecord; afterMs: number; initial: boolean }>([
    { name: 'an open circuit', kept: closed({ openUntil: T0 }), afterMs: 1e9, initial: false },
    { name: 'a request that failed', kept: closed({ failures: 1 }), afterMs: 1e9, initial: false },
    { name: 'a circuit that closed just now', kept: closed({ changedAt: T0 }), afterMs: 9_999, initial: false },
    { name: 'a circuit that closed', kept: closed({ changedAt: T0 }), afterMs: 10_000, initial: true },
    { name: 'attempts that failed', kept: closed({ recent: '10' }), afterMs: 59_999, initial: false },
    { name: 'attempts that failed long ago', kept: closed({ recent: '10' }), afterMs: 60_000, initial: true },
    { name: 'attempts that succeeded', kept: closed({ recent: '11' }), afterMs: 0, initial: true },
    { name: 'a hold', kept: { ...full, hold: { ...NO_HOLD, until: T0 + 5 } }, afterMs: 4, initial: false },
    { name: 'a hold that is over', kept: { ...full, hold: { ...NO_HOLD, until: T0 + 5 } }, afterMs: 5, initial: true },
  ])('$name after $afterMs ms says nothing: $initial', ({ kept, afterMs, initial }) => {
    expect(isInitial(kept, T0 + afterMs, GUARDS)).toBe(initial);
  });
});

test('property: whatever happens, a record stays its own, is used later and later, and what was given stays as it was', () => {
  const histories = anyGuards.chain((guards) => fc.tuple(fc.constant(guards), anyRecord(guards), originEvent));
  fc.assert(
    fc.property(histories, ([guards, before, event]) => {
      const given = structuredClone(before);
      const after = advance(before, event, guards);
      expect(before).toEqual(given);
      expect(after.usedAt).toBe(Math.max(before.usedAt, event.at));
      expect(after).toMatchObject({ origin: 'https://api.test', group: 'data' });
      expect(advance(before, event, guards)).toEqual(after);
      expect(structuredClone(after)).toEqual(after);
      // One thing happens to one part.
      const parts = ['budget', 'hold', 'circuit'] as const;
      expect(parts.filter((part) => after[part] !== before[part]).length).toBeLessThanOrEqual(1);
    }),
  );
});
