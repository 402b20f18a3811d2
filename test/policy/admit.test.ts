import { expect, test } from 'vitest';
import { admit, isParked, refusal } from '../../src/policy/admit.ts';
import { BUDGET_DEFAULTS } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS, CLOSED } from '../../src/policy/circuit.ts';
import { NO_HOLD } from '../../src/policy/hold.ts';
import { initialRecord, type OriginRecord } from '../../src/policy/origin-record.ts';
import { DEFAULTS, resolvePolicy } from '../../src/policy/policy.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const guards = { budget: BUDGET_DEFAULTS, circuit: CIRCUIT_DEFAULTS };
const record = (over: Partial<OriginRecord> = {}): OriginRecord => ({
  ...initialRecord('https://app.test', 'data', T0, guards),
  ...over,
});
const held = (forMs: number): OriginRecord => record({ hold: { ...NO_HOLD, until: T0 + forMs } });

test.each([
  { name: 'nothing is known', of: record(), expected: { do: 'go' } },
  { name: 'the hold is over', of: held(0), expected: { do: 'go' } },
  { name: 'the hold fits', of: held(15_000), expected: { do: 'wait', until: T0 + 15_000, cause: 'hold' } },
  { name: 'it is longer than one waits in line', of: held(15_001), expected: { do: 'pass-through' } },
])('$name: $expected.do', ({ of, expected }) => {
  expect(admit(of, '/', { now: T0, deadline: T0 + 25_000, policy: DEFAULTS })).toEqual(expected);
});

test('a hold that ends at the deadline or later is gone through', () => {
  expect(admit(held(5_000), '/', { now: T0, deadline: T0 + 5_000, policy: DEFAULTS }).do).toBe('pass-through');
  expect(admit(held(5_000), '/', { now: T0, deadline: T0 + 5_001, policy: DEFAULTS }).do).toBe('wait');
});

test('who ignores Retry-After waits for no hold', () => {
  const policy = resolvePolicy({ retryAfter: { mode: 'ignore' } }, DEFAULTS);
  expect(admit(held(5_000), '/', { now: T0, deadline: T0 + 25_000, policy }).do).toBe('pass-through');
});

test.each([
  { name: 'closed', circuit: CLOSED, parked: false },
  { name: 'open until before the deadline', circuit: { ...CLOSED, openUntil: T0 + 9_999 }, parked: true },
  { name: 'open until the deadline', circuit: { ...CLOSED, openUntil: T0 + 10_000 }, parked: false },
  { name: 'half-open', circuit: { ...CLOSED, openUntil: T0 - 1 }, parked: true },
])('$name: parked $parked', ({ circuit, parked }) => {
  const at = { now: T0, deadline: T0 + 10_000, policy: DEFAULTS, guards };
  expect(isParked(record({ circuit }), at)).toBe(parked);
  const plain = { ...guards, circuit: { ...CIRCUIT_DEFAULTS, parking: false } };
  expect(isParked(record({ circuit }), { ...at, guards: plain })).toBe(false);
  expect(isParked(record({ circuit }), { ...at, policy: { ...DEFAULTS, circuit: 'reject' } })).toBe(false);
});

test.each([
  { name: 'closed', circuit: CLOSED, expected: 'none' },
  { name: 'open', circuit: { ...CLOSED, openUntil: T0 + 1 }, expected: 'refuse' },
  { name: 'half-open', circuit: { ...CLOSED, openUntil: T0 }, expected: 'probe' },
  {
    name: 'half-open with a probe under way',
    circuit: { ...CLOSED, openUntil: T0, probes: [T0 + 1] },
    expected: 'refuse',
  },
])('who refuses, refuses while it is not closed, but for a probe: $name: $expected', ({ circuit, expected }) => {
  expect(refusal(record({ circuit }), T0, guards)).toBe(expected);
});

test('a hold of one path holds no other', () => {
  const of = record({ hold: { until: 0, paths: { '/a': { until: T0 + 5, at: T0 } } } });
  const at = { now: T0, deadline: T0 + 25_000, policy: DEFAULTS };
  expect(admit(of, '/a', at)).toEqual({ do: 'wait', until: T0 + 5, cause: 'hold' });
  expect(admit(of, '/b', at)).toEqual({ do: 'go' });
});
