import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WindowedBudget } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS, type Circuit, CLOSED, circuitState } from '../../src/policy/circuit.ts';
import { type Hold, MAX_HOLD_MS, NO_HOLD } from '../../src/policy/hold.ts';
import { advance, initialRecord, type OriginRecord } from '../../src/policy/origin-record.ts';
import { reviveRecord } from '../../src/policy/revive-record.ts';
import { anyGuards, budgetPolicy } from '../support/arbitraries.ts';
import { anyRecord, GUARDS, guardsWith, recordOf } from '../support/records.ts';

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

const NOW = T0 + 60_000;
const P = CIRCUIT_DEFAULTS;

describe('a hold from the store', () => {
  const revived = (hold: unknown) => reviveRecord({ ...record(5), hold }, NOW, GUARDS)?.hold;
  const path = { until: NOW + 5, at: T0 };
  test.each<{ name: string; stored: unknown; hold: Hold }>([
    {
      name: 'as it was',
      stored: { until: NOW + 9, paths: { '/a': path } },
      hold: { until: NOW + 9, paths: { '/a': path } },
    },
    {
      name: 'longer than one can be',
      stored: { until: NOW * 2, paths: { '/a': { until: NOW * 2, at: NOW * 2 } } },
      hold: { until: NOW + MAX_HOLD_MS, paths: { '/a': { until: NOW + MAX_HOLD_MS, at: NOW } } },
    },
    { name: 'null', stored: null, hold: NO_HOLD },
    { name: 'no instant', stored: { paths: { '/a': path } }, hold: NO_HOLD },
    { name: 'no paths', stored: { until: NOW + 9 }, hold: NO_HOLD },
    { name: 'paths of null', stored: { until: NOW + 9, paths: null }, hold: NO_HOLD },
    {
      name: 'some paths that are none',
      stored: { until: 0, paths: { '/a': path, '/b': { until: 5 }, '/c': { at: 5 }, '/d': null, '/e': 5 } },
      hold: { until: 0, paths: { '/a': path } },
    },
    {
      name: 'a path with the name of an object property',
      stored: JSON.parse(`{ "until": 0, "paths": { "__proto__": { "until": ${NOW + 5}, "at": ${T0} } } }`),
      hold: { until: 0, paths: Object.fromEntries([['__proto__', path]]) },
    },
  ])('$name', ({ stored, hold }) => {
    expect(revived(stored)).toStrictEqual(hold);
  });

  test('no more paths than one worker remembers: those that were told last', () => {
    const told = Array.from({ length: 30 }, (_, n) => [`/${n}`, { until: NOW + 5, at: T0 + n }] as const);
    const hold = revived({ until: 0, paths: Object.fromEntries(told) });
    expect(hold?.paths).toEqual(Object.fromEntries(told.slice(10)));
  });
});

describe('a circuit from the store', () => {
  const open: Circuit = {
    openUntil: NOW + 1_000,
    openMs: 2_000,
    probes: [NOW + 5_000],
    changedAt: T0,
    failures: 2,
    failedAt: T0 + 1,
    recent: '01',
  };
  test.each<{ name: string; stored: object; circuit: Circuit }>([
    { name: 'as it was', stored: {}, circuit: open },
    { name: 'half-open', stored: { openUntil: T0 }, circuit: { ...open, openUntil: T0 } },
    {
      name: 'open for longer than it opens',
      stored: { openUntil: NOW * 2 },
      circuit: { ...open, openUntil: NOW + 2_000 },
    },
    {
      name: 'open for longer than the maximum',
      stored: { openUntil: NOW * 2, openMs: NOW },
      circuit: { ...open, openUntil: NOW + P.maxOpenMs, openMs: P.maxOpenMs },
    },
    {
      name: 'open for less than nothing',
      stored: { openUntil: T0, openMs: -5 },
      circuit: { ...open, openUntil: T0, openMs: 0 },
    },
    {
      name: 'tried by nobody for as long as it may be open',
      stored: { openUntil: NOW - P.maxOpenMs },
      circuit: { ...open, openUntil: NOW - P.maxOpenMs },
    },
    { name: 'tried by nobody for longer', stored: { openUntil: NOW - P.maxOpenMs - 1 }, circuit: CLOSED },
    { name: 'open until before there was time', stored: { openUntil: -5 }, circuit: CLOSED },
    { name: 'tried by nobody, and otherwise damaged', stored: { openUntil: 5, failures: 'x' }, circuit: CLOSED },
    { name: 'closed for long', stored: { openUntil: 0, probes: [] }, circuit: { ...open, openUntil: 0, probes: [] } },
    { name: 'no instant', stored: { openUntil: '5' }, circuit: CLOSED },
    { name: 'no open time', stored: { openMs: undefined }, circuit: CLOSED },
    { name: 'no failures', stored: { failures: undefined }, circuit: CLOSED },
    { name: 'fewer failures than none', stored: { failures: -1 }, circuit: { ...open, failures: 0 } },
    { name: 'half a failure', stored: { failures: 1.5 }, circuit: { ...open, failures: 1 } },
    { name: 'no last change', stored: { changedAt: null }, circuit: CLOSED },
    { name: 'no last failure', stored: { failedAt: null }, circuit: CLOSED },
    {
      name: 'changed in the future',
      stored: { changedAt: NOW + 5, failedAt: NOW + 5 },
      circuit: { ...open, changedAt: NOW, failedAt: NOW },
    },
    { name: 'attempts that are none', stored: { recent: '012' }, circuit: CLOSED },
    { name: 'attempts that are none, before', stored: { recent: '201' }, circuit: CLOSED },
    { name: 'attempts as a number', stored: { recent: 1 }, circuit: CLOSED },
    {
      name: 'more attempts than are looked back on',
      stored: { recent: '11111000000000' },
      circuit: { ...open, recent: '1000000000' },
    },
    { name: 'no probes', stored: { probes: 'none' }, circuit: { ...open, probes: [] } },
    { name: 'probes that are none', stored: { probes: [null, NOW + 7, 'x'] }, circuit: { ...open, probes: [NOW + 7] } },
    {
      name: 'a probe that takes too long',
      stored: { probes: [NOW * 2] },
      circuit: { ...open, probes: [NOW + P.probeMs] },
    },
    {
      name: 'more probes than there may be',
      stored: { probes: [NOW + 9, NOW + 20, NOW + 3] },
      circuit: { ...open, probes: [NOW + 20] },
    },
  ])('$name', ({ stored, circuit }) => {
    expect(reviveRecord({ ...record(5), circuit: { ...open, ...stored } }, NOW, GUARDS)?.circuit).toStrictEqual(
      circuit,
    );
  });

  test('several probes come back soonest first', () => {
    const guards = { ...GUARDS, circuit: { ...P, probes: 2 } };
    const stored = { ...record(5), circuit: { ...open, probes: [NOW + 9, NOW + 20, NOW + 3] } };
    expect(reviveRecord(stored, NOW, guards)?.circuit.probes).toEqual([NOW + 9, NOW + 20]);
  });
});

describe('a share of the traffic from the store', () => {
  const windowed: WindowedBudget = { kind: 'windowed', ratio: 0.1, perSecond: 0.5, windowMs: 10_000 };
  const slot = (secondsAgo: number, net: number) => [NOW - secondsAgo * 1_000, net];
  test.each<{ name: string; slots: unknown; tokens: number; kept: unknown[] }>([
    { name: 'as it was', slots: [slot(5, -2), slot(3, 0.5)], tokens: 3.5, kept: [slot(5, -2), slot(3, 0.5)] },
    { name: 'what is over', slots: [slot(10, -2), slot(3, 0.5)], tokens: 5.5, kept: [slot(3, 0.5)] },
    { name: 'none', slots: undefined, tokens: 5, kept: [] },
    { name: 'no list', slots: 'x', tokens: 5, kept: [] },
    {
      name: 'some that are none',
      slots: [5, null, [], [NOW], [NOW, 'x'], [NOW, '1'], ['x', 1], [...slot(2, -1), -1], slot(1, -1)],
      tokens: 4,
      kept: [slot(1, -1)],
    },
    {
      name: 'as much as a number holds, and one more',
      slots: [slot(1, -Number.MAX_SAFE_INTEGER), slot(2, Number.MAX_SAFE_INTEGER), slot(3, -(2 ** 53))],
      tokens: 5,
      kept: [slot(1, -Number.MAX_SAFE_INTEGER), slot(2, Number.MAX_SAFE_INTEGER)],
    },
    {
      name: 'more than traffic can pay',
      slots: [slot(1, 1e308), slot(2, 1e308), slot(3, -1e308)],
      tokens: 5,
      kept: [],
    },
  ])('$name', ({ slots, tokens, kept }) => {
    const stored = { ...record(0), budget: { tokens: 1, at: T0, slots } };
    expect(reviveRecord(stored, NOW, guardsWith(windowed))?.budget).toEqual({ tokens, at: NOW, slots: kept });
  });
});

test('when it was last used: as stored, not in the future, else as its budget', () => {
  const usedAt = (stored: unknown) => reviveRecord({ ...record(5), usedAt: stored }, NOW, GUARDS)?.usedAt;
  expect([T0 + 5, NOW + 5, undefined, 'x'].map(usedAt)).toEqual([T0 + 5, NOW, T0, T0]);
});

describe('properties of any record', () => {
  const number = fc.oneof(
    fc.double(),
    fc.integer({ min: NOW - 200_000, max: NOW + 200_000 }),
    fc.constantFrom(0, -1, 5),
  );
  const some = fc.oneof({ weight: 6, arbitrary: number }, { weight: 1, arbitrary: fc.anything() });
  const orAnything = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: fc.anything() });
  const hostile = fc.record(
    {
      origin: fc.oneof({ weight: 9, arbitrary: fc.string() }, { weight: 1, arbitrary: fc.anything() }),
      group: fc.string(),
      budget: orAnything(
        fc.record({ tokens: number, at: number, slots: orAnything(fc.array(orAnything(fc.array(some)))) }),
      ),
      hold: orAnything(
        fc.record({
          until: some,
          paths: orAnything(fc.dictionary(fc.string(), orAnything(fc.record({ until: some, at: some })))),
        }),
      ),
      circuit: orAnything(
        fc.record({
          openUntil: some,
          openMs: some,
          probes: orAnything(fc.array(some)),
          changedAt: some,
          failures: some,
          failedAt: some,
          recent: orAnything(fc.stringMatching(/^[01]*$/)),
        }),
      ),
      usedAt: some,
    },
    { noNullPrototype: true },
  );

  test('anything gives a sound record or none, and what was revived is revived as it is', () => {
    let [sound, held, opened] = [0, 0, 0];
    fc.assert(
      fc.property(hostile, anyGuards, (stored, guards) => {
        const revived = reviveRecord(stored, NOW, guards);
        if (revived === undefined) return;
        sound++;
        const { budget, hold, circuit, usedAt } = revived;
        for (const instant of [budget.at, circuit.changedAt, circuit.failedAt, usedAt]) {
          expect(Number.isFinite(instant) && instant <= NOW).toBe(true);
        }
        expect(Number.isFinite(budget.tokens) && budget.tokens >= 0).toBe(true);
        for (const { until } of [hold, ...Object.values(hold.paths)]) {
          expect(Number.isFinite(until) && until <= NOW + MAX_HOLD_MS).toBe(true);
        }
        expect(Object.keys(hold.paths).length).toBeLessThanOrEqual(20);
        if (hold.until > NOW) held++;
        if (circuitState(circuit, NOW) !== 'closed') opened++;
        // Whatever is damaged, it is not stuck: open no longer than it may be, half-open for no longer either.
        expect(circuit.openUntil).toBeLessThanOrEqual(NOW + guards.circuit.maxOpenMs);
        if (circuit.openUntil !== 0) expect(circuit.openUntil).toBeGreaterThanOrEqual(NOW - guards.circuit.maxOpenMs);
        expect(circuit.openMs >= 0 && circuit.openMs <= guards.circuit.maxOpenMs).toBe(true);
        expect(circuit.probes.length).toBeLessThanOrEqual(guards.circuit.probes);
        expect(circuit.recent.length).toBeLessThanOrEqual(guards.circuit.window);
        expect(Number.isInteger(circuit.failures) && circuit.failures >= 0).toBe(true);
        expect(reviveRecord(revived, NOW, guards)).toEqual(revived);
        expect(reviveRecord(structuredClone(revived), NOW, guards)).toEqual(revived);
      }),
      { numRuns: 1_000 },
    );
    expect([sound > 200, held > 20, opened > 20]).toEqual([true, true, true]);
  });

  test('what a history has led to is stored and read as it is', () => {
    const stored = anyGuards.chain((guards) => fc.tuple(fc.constant(guards), anyRecord(guards)));
    const later = T0 + 100_000;
    fc.assert(
      fc.property(stored, ([guards, before]) => {
        const revived = reviveRecord(structuredClone(before), later, guards);
        expect(revived).toMatchObject({ hold: before.hold, usedAt: before.usedAt });
        const { failures, failedAt, changedAt, recent } = before.circuit;
        const forgotten = before.circuit.openUntil !== 0 && later - before.circuit.openUntil > guards.circuit.maxOpenMs;
        expect(revived?.circuit).toMatchObject(forgotten ? CLOSED : { failures, failedAt, changedAt, recent });
        if (guards.budget.kind === 'tokens') expect(revived?.budget).toEqual(before.budget);
      }),
    );
  });
});
