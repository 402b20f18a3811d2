import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endHold,
  type Hold,
  type HoldAsked,
  heldUntil,
  holdFor,
  isHolding,
  lastTold,
  MAX_HOLD_MS,
  NO_HOLD,
} from '../../src/policy/hold.ts';
import { anyHold, holdAsked, paths } from '../support/arbitraries.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const asked = (over: Partial<HoldAsked> = {}): HoldAsked => ({
  at: T0,
  status: 503,
  path: '/a',
  until: T0 + 5_000,
  scope: 'auto',
  ...over,
});
const told = (...events: Partial<HoldAsked>[]): Hold =>
  events.reduce<Hold>((hold, over) => holdFor(hold, asked(over)), NO_HOLD);

describe('whom it holds', () => {
  test.each([
    { name: '503: the group', events: [{}], a: 5_000, b: 5_000 },
    { name: '429: the path', events: [{ status: 429 }], a: 5_000, b: 0 },
    { name: '429 with the scope of the group', events: [{ status: 429, scope: 'group' as const }], a: 5_000, b: 5_000 },
    { name: '503 with the scope of the path', events: [{ scope: 'path' as const }], a: 5_000, b: 0 },
    {
      name: '429 from one path twice: the path',
      events: [{ status: 429 }, { status: 429, at: T0 + 1_000 }],
      a: 5_000,
      b: 0,
    },
    {
      name: '429 from two paths within 10 s: the group',
      events: [{ status: 429 }, { status: 429, path: '/c', at: T0 + 10_000, until: T0 + 20_000 }],
      a: 20_000,
      b: 20_000,
    },
    {
      name: '429 from two paths later than that: the paths',
      events: [{ status: 429 }, { status: 429, path: '/c', at: T0 + 10_001, until: T0 + 20_000 }],
      a: 0,
      b: 0,
    },
  ])('$name', ({ events, a, b }) => {
    const hold = told(...events);
    const remains = (path: string) => Math.max(0, heldUntil(hold, path) - T0);
    // A path whose time is over may have been forgotten: it is held no more either way.
    if (a > 0) expect(remains('/a')).toBe(a);
    expect(remains('/b')).toBe(b);
  });
});

test('a shorter time does not shorten a hold', () => {
  expect(told({}, { until: T0 + 1_000 }).until).toBe(T0 + 5_000);
  expect(heldUntil(told({ status: 429 }, { status: 429, until: T0 + 1_000 }), '/a')).toBe(T0 + 5_000);
});

test('S11 never longer than an hour', () => {
  expect(told({ until: Number.MAX_SAFE_INTEGER }).until).toBe(T0 + 3_600_000);
});

test('S15 at most 20 paths are remembered, the latest of them', () => {
  const events = Array.from({ length: 50 }, (_, index) => ({
    status: 429,
    path: `/${index}`,
    scope: 'path' as const,
    at: T0 + index,
  }));
  const paths = Object.keys(told(...events).paths);
  expect(paths).toHaveLength(20);
  expect(paths).toContain('/49');
});

test('one that went through and was answered well ends the hold of the group and of its path', () => {
  const hold = told({ status: 429 }, { status: 429, path: '/b', at: T0 + 60_000, until: T0 + 90_000 }, {});
  const ended = endHold(hold, '/b');
  expect(ended.until).toBe(0);
  expect(heldUntil(ended, '/b')).toBe(0);
});

test('paths with the names of object properties are paths', () => {
  for (const path of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect(heldUntil(NO_HOLD, path)).toBe(0);
    expect(heldUntil(told({ status: 429, path }), path)).toBe(T0 + 5_000);
    expect(heldUntil(endHold(told({ status: 429, path }), path), path)).toBe(0);
  }
});

test.each([
  { at: T0 + 4_999, holds: true },
  { at: T0 + 5_000, holds: false },
])('it says something at $at: $holds', ({ at, holds }) => {
  expect(isHolding(told({}), at)).toBe(holds);
});

test('whatever servers say, in whatever order of time, nobody is held for more than an hour from then', () => {
  const event = fc.record({
    at: fc.integer({ min: T0, max: T0 + 1_000_000 }),
    status: fc.constantFrom(429, 503, 500),
    path: fc.constantFrom('/a', '/b', '__proto__'),
    until: fc.oneof(fc.integer(), fc.integer({ min: T0, max: T0 + 10_000_000 })),
    scope: fc.constantFrom('auto' as const, 'path' as const, 'group' as const),
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const hold = events.reduce(holdFor, NO_HOLD);
      const latest = Math.max(T0, ...events.map(({ at }) => at)) + MAX_HOLD_MS;
      for (const path of ['/a', '/b', '__proto__']) expect(heldUntil(hold, path)).toBeLessThanOrEqual(latest);
    }),
  );
});

describe('the edges', () => {
  test('with the scope of the path two paths stay two', () => {
    const hold = told({ status: 429, scope: 'path' }, { status: 429, scope: 'path', path: '/c' });
    expect([hold.until, heldUntil(hold, '/a'), heldUntil(hold, '/c')]).toEqual([0, T0 + 5_000, T0 + 5_000]);
  });

  test('that two paths are limited lengthens the hold of the group, never shortens it', () => {
    const one = told({ until: T0 + 9_000 }, { status: 429 });
    expect(holdFor(one, asked({ status: 429, path: '/c', until: T0 + 6_000 })).until).toBe(T0 + 9_000);
    expect(holdFor(one, asked({ status: 429, path: '/c', until: T0 + 9_001 })).until).toBe(T0 + 9_001);
  });

  test('a path that is held for long is no sign of one limit after ten seconds', () => {
    const long = told({ status: 429, until: T0 + 60_000 });
    const later = holdFor(long, asked({ status: 429, path: '/c', at: T0 + 10_001, until: T0 + 20_000 }));
    expect(later.until).toBe(0);
    expect(heldUntil(later, '/a')).toBe(T0 + 60_000);
  });

  test('and not before ten seconds of a clock that was set back', () => {
    expect(told({ status: 429 }, { status: 429, path: '/c', at: T0 - 10_000 }).until).toBe(T0 + 5_000);
    expect(told({ status: 429 }, { status: 429, path: '/c', at: T0 - 10_001 }).until).toBe(0);
  });

  test.each([
    { name: 'held', at: T0 + 59_999, until: T0 + 60_000, holds: true },
    { name: 'held no more', at: T0 + 60_000, until: T0 + 60_000, holds: false },
    { name: 'over, and told ten seconds ago', at: T0 + 10_000, until: T0 + 1, holds: true },
    { name: 'over, and told longer ago', at: T0 + 10_001, until: T0 + 1, holds: false },
  ])('a path that is $name says something: $holds', ({ at, until, holds }) => {
    const hold = told({ status: 429, until });
    expect(isHolding(hold, at)).toBe(holds);
    // And is forgotten where another is told.
    const next = holdFor(hold, asked({ status: 429, scope: 'path', path: '/c', at, until: at + 1 }));
    expect(Object.keys(next.paths)).toEqual(holds ? ['/a', '/c'] : ['/c']);
  });

  test('the end of one hold is not that of other paths', () => {
    const hold = told({ status: 429 }, { status: 429, scope: 'path', path: '/c' });
    expect(endHold(hold, '/a')).toEqual({ until: 0, paths: { '/c': { until: T0 + 5_000, at: T0 } } });
  });

  test('none is none, and stays so', () => {
    expect(NO_HOLD).toEqual({ until: 0, paths: {} });
    expect(Object.isFrozen(NO_HOLD) && Object.isFrozen(NO_HOLD.paths)).toBe(true);
  });

  test('of paths that were told at once, those last by name', () => {
    const events = Array.from({ length: 25 }, (_, n) => ({ status: 429, path: `/${10 + n}`, scope: 'path' as const }));
    const all = Object.fromEntries(events.map(({ path }) => [path, { until: T0 + 5_000, at: T0 }]));
    expect(Object.keys(lastTold(all))).toEqual(events.slice(5).map(({ path }) => path));
    const backwards = Object.fromEntries(Object.entries(all).reverse());
    expect(Object.keys(lastTold(backwards))).toEqual(events.slice(5).map(({ path }) => path));
  });
});

describe('properties', () => {
  test('what a server asks for shortens no hold, and asked twice it is the same', () => {
    fc.assert(
      fc.property(anyHold, holdAsked, paths, (hold, event, path) => {
        const after = holdFor(hold, event);
        expect(after.until).toBeGreaterThanOrEqual(hold.until);
        expect(holdFor(after, event).until).toBe(after.until);
        expect(heldUntil(after, event.path)).toBeGreaterThanOrEqual(Math.min(event.until, event.at + MAX_HOLD_MS));
        // A path may be forgotten, but not while it is held and few are.
        if (Object.keys(hold.paths).length < 20 && heldUntil(hold, path) > event.at) {
          expect(heldUntil(after, path)).toBeGreaterThanOrEqual(heldUntil(hold, path));
        }
        expect(Object.keys(after.paths).length).toBeLessThanOrEqual(20);
      }),
    );
  });

  test('a good answer ends the hold of its path and no other path’s own', () => {
    fc.assert(
      fc.property(anyHold, paths, paths, (hold, path, other) => {
        fc.pre(path !== other);
        const ended = endHold(hold, path);
        expect(heldUntil(ended, path)).toBe(0);
        expect(heldUntil(ended, other)).toBe(heldUntil({ ...hold, until: 0 }, other));
        expect(endHold(ended, path)).toEqual(ended);
      }),
    );
  });
});
