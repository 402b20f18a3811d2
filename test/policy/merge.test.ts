import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Circuit, CLOSED } from '../../src/policy/circuit.ts';
import { type Hold, NO_HOLD } from '../../src/policy/hold.ts';
import { mergeGuards, mergeRecords } from '../../src/policy/merge.ts';
import type { OriginRecord } from '../../src/policy/origin-record.ts';
import { anyGuards } from '../support/arbitraries.ts';
import { anyRecord, GUARDS, guardsWith, recordOf } from '../support/records.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const KEY = { origin: 'https://app.test', group: 'data' };

test.each([
  { name: 'ours is poorer', ours: recordOf(3, T0, KEY), theirs: recordOf(9, T0, KEY), tokens: 3 },
  { name: 'theirs is poorer', ours: recordOf(9, T0, KEY), theirs: recordOf(3, T0, KEY), tokens: 3 },
  { name: 'theirs is later', ours: recordOf(3, T0, KEY), theirs: recordOf(5, T0 + 10_000, KEY), tokens: 4 },
  { name: 'ours is later', ours: recordOf(5, T0 + 10_000, KEY), theirs: recordOf(3, T0, KEY), tokens: 4 },
])('of two budgets the poorer counts, at the same instant: $name', ({ ours, theirs, tokens }) => {
  const { budget } = mergeRecords(ours, theirs, GUARDS);
  expect(budget).toEqual({ tokens, at: Math.max(ours.budget.at, theirs.budget.at) });
});

test('of two that are as poor ours counts: what says nothing new changes nothing', () => {
  const guards = guardsWith({ kind: 'windowed', ratio: 0.1, perSecond: 0.5, windowMs: 10_000 });
  const spent = (net: readonly number[]): OriginRecord => ({
    ...recordOf(3, T0, KEY),
    budget: { tokens: 3, at: T0, slots: net.map((paid, index) => [T0 - 1_000 * index, paid] as const) },
  });
  const [ours, theirs] = [spent([-1, -1]), spent([-2])];
  expect(mergeRecords(ours, theirs, guards).budget).toEqual(ours.budget);
  expect(mergeRecords(theirs, ours, guards).budget).toEqual(theirs.budget);
});

const knows = (over: Partial<OriginRecord>): OriginRecord => ({ ...recordOf(5, T0, KEY), ...over });
const held = (until: number, paths: Hold['paths'] = {}): OriginRecord => knows({ hold: { until, paths } });
const mergedHold = (ours: OriginRecord, theirs: OriginRecord) => mergeGuards(ours, theirs).hold;

describe('of two holds the longer counts', () => {
  const short = { until: T0 + 1, at: T0 };
  const long = { until: T0 + 2, at: T0 - 5 };
  test.each<{ name: string; ours: OriginRecord; theirs: OriginRecord; hold: Hold }>([
    { name: 'ours of the group', ours: held(T0 + 2), theirs: held(T0 + 1), hold: { until: T0 + 2, paths: {} } },
    { name: 'theirs of the group', ours: held(T0 + 1), theirs: held(T0 + 2), hold: { until: T0 + 2, paths: {} } },
    {
      name: 'each its paths',
      ours: held(0, { '/a': short }),
      theirs: held(0, { '/b': long }),
      hold: { until: 0, paths: { '/a': short, '/b': long } },
    },
    {
      name: 'theirs of a path',
      ours: held(0, { '/a': short }),
      theirs: held(0, { '/a': long }),
      hold: { until: 0, paths: { '/a': long } },
    },
    {
      name: 'ours of a path',
      ours: held(0, { '/a': long }),
      theirs: held(0, { '/a': short }),
      hold: { until: 0, paths: { '/a': long } },
    },
    {
      name: 'equally long, the one told later',
      ours: held(0, { '/a': short }),
      theirs: held(0, { '/a': { ...short, at: T0 + 1 } }),
      hold: { until: 0, paths: { '/a': { ...short, at: T0 + 1 } } },
    },
    {
      name: 'paths with the names of object properties',
      ours: held(0, { '/a': short }),
      theirs: held(
        0,
        Object.fromEntries([
          ['__proto__', long],
          ['constructor', short],
        ]),
      ),
      hold: {
        until: 0,
        paths: Object.fromEntries([
          ['/a', short],
          ['__proto__', long],
          ['constructor', short],
        ]),
      },
    },
  ])('$name', ({ ours, theirs, hold }) => {
    expect(mergedHold(ours, theirs)).toStrictEqual(hold);
  });

  test('what says nothing new leaves ours as it is, so that nobody is told of a change', () => {
    const ours = held(T0 + 5, { '/a': long, '/b': short });
    for (const theirs of [held(0), held(T0 + 5, { '/a': short }), held(T0 + 4, { '/b': { ...short } })]) {
      expect(mergedHold(ours, theirs)).toBe(ours.hold);
    }
    expect(mergedHold(ours, held(T0 + 6))).not.toBe(ours.hold);
  });

  test('no more paths than one worker remembers: those that were told last', () => {
    const told = (from: number) =>
      held(
        0,
        Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`/${from + n}`, { until: T0 + 60_000, at: T0 + 2 * n + from / 100 }]),
        ),
      );
    const [ours, theirs] = [told(0), told(100)];
    const { paths } = mergedHold(ours, theirs);
    const kept = Array.from({ length: 10 }, (_, n) => [`/${10 + n}`, `/${110 + n}`]).flat();
    expect(Object.keys(paths).sort()).toEqual(kept.sort());
  });
});

describe('of two circuits the one that changed later counts', () => {
  const circuit = (changedAt: number, probes: number[] = []): Circuit => ({
    ...CLOSED,
    openUntil: 1,
    changedAt,
    probes,
  });
  test.each<{ name: string; ours: Circuit; theirs: Circuit; counts: 'ours' | 'theirs' }>([
    { name: 'ours is later', ours: circuit(2), theirs: circuit(1, [9]), counts: 'ours' },
    { name: 'theirs is later', ours: circuit(1, [9]), theirs: circuit(2), counts: 'theirs' },
    { name: 'theirs has a later probe', ours: circuit(1, [1, 5]), theirs: circuit(1, [6]), counts: 'theirs' },
    { name: 'theirs has a probe', ours: circuit(1), theirs: circuit(1, [6]), counts: 'theirs' },
    { name: 'ours has a later probe', ours: circuit(1, [6]), theirs: circuit(1, [2, 5]), counts: 'ours' },
    { name: 'ours has a probe', ours: circuit(1, [6]), theirs: circuit(1), counts: 'ours' },
    { name: 'neither', ours: circuit(1, [6]), theirs: circuit(1, [3, 6]), counts: 'ours' },
    { name: 'neither has a probe', ours: circuit(1), theirs: circuit(1), counts: 'ours' },
  ])('$name: $counts', ({ ours, theirs, counts }) => {
    const merged = mergeGuards(knows({ circuit: ours }), knows({ circuit: theirs }));
    expect(merged.circuit).toBe(counts === 'ours' ? ours : theirs);
  });
});

test('guards alone: the tokens stay ours, and the later use counts', () => {
  const [ours, theirs] = [recordOf(9, T0, KEY), { ...recordOf(3, T0, KEY), usedAt: T0 + 7 }];
  expect(mergeGuards(ours, theirs)).toEqual({ ...ours, usedAt: T0 + 7 });
  expect(mergeGuards(theirs, ours)).toEqual({ ...theirs, usedAt: T0 + 7 });
  expect(mergeGuards(knows({ hold: NO_HOLD }), knows({})).hold).toBe(NO_HOLD);
});

describe('properties', () => {
  const two = anyGuards.chain((guards) => fc.tuple(fc.constant(guards), anyRecord(guards), anyRecord(guards)));
  const three = fc.tuple(anyRecord(GUARDS), anyRecord(GUARDS), anyRecord(GUARDS));

  test('holds, the last use and the number of tokens are the same from either side', () => {
    fc.assert(
      fc.property(two, ([guards, a, b]) => {
        const [one, other] = [mergeRecords(a, b, guards), mergeRecords(b, a, guards)];
        expect(one.hold).toEqual(other.hold);
        expect(one.usedAt).toBe(other.usedAt);
        expect(one.budget.tokens).toBe(other.budget.tokens);
        // Ours only where neither has changed later or has a later probe.
        const differ =
          a.circuit.changedAt !== b.circuit.changedAt || a.circuit.probes.at(-1) !== b.circuit.probes.at(-1);
        if (differ) expect(one.circuit).toEqual(other.circuit);
      }),
    );
  });

  test('what is heard twice, or from oneself, changes nothing', () => {
    fc.assert(
      fc.property(two, ([guards, a, b]) => {
        expect(mergeGuards(a, a)).toEqual(a);
        const once = mergeGuards(a, b);
        expect(mergeGuards(once, b)).toEqual(once);
        expect(mergeGuards(once, b).hold).toBe(once.hold);
        const counted = mergeRecords(a, b, guards);
        expect(mergeRecords(counted, b, guards).budget).toEqual(counted.budget);
      }),
    );
  });

  test('in whatever order three workers hear of each other, the group is held as long, and no path more than it was', () => {
    fc.assert(
      fc.property(three, ([a, b, c]) => {
        const [one, other] = [mergedHold(mergeGuards(a, b), c), mergedHold(a, mergeGuards(b, c))];
        expect(one.until).toBe(other.until);
        expect(one).toEqual(other);
        for (const [path, told] of Object.entries(one.paths)) {
          const known = [a, b, c].map(({ hold }) => (Object.hasOwn(hold.paths, path) ? hold.paths[path] : undefined));
          expect(known).toContainEqual(told);
        }
        expect(Object.keys(one.paths).length).toBeLessThanOrEqual(20);
      }),
    );
  });
});
