import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  additiveJitter,
  type Backoff,
  constant,
  decorrelatedJitter,
  delayMs,
  equalJitter,
  exponential,
  fullJitter,
  linear,
  list,
  MAX_DELAY_MS,
  proportionalJitter,
} from '../../src/policy/backoff.ts';
import { anyBackoff, chance, retryNumber } from '../support/arbitraries.ts';

/** The largest number below 1: as high as chance gets. */
const HIGHEST = 1 - 2 ** -53;
const drawsNothing = (): number => {
  throw new Error('a wait without jitter asked for chance');
};
const EVERY_RETRY = Array.from({ length: 10_000 }, (_, index) => index + 1);

test('the longest wait is what a signed 32-bit timer takes', () => {
  expect(MAX_DELAY_MS).toBe(2_147_483_647);
});

describe('builders give plain data', () => {
  test.each<[Backoff, Backoff]>([
    [constant(5), { kind: 'constant', delayMs: 5 }],
    [linear({ stepMs: 5 }), { kind: 'linear', stepMs: 5, maxMs: 2_147_483_647 }],
    [linear({ stepMs: 5, maxMs: 9 }), { kind: 'linear', stepMs: 5, maxMs: 9 }],
    [exponential({ baseMs: 5 }), { kind: 'exponential', baseMs: 5, factor: 2, maxMs: 2_147_483_647 }],
    [exponential({ baseMs: 5, factor: 3, maxMs: 9 }), { kind: 'exponential', baseMs: 5, factor: 3, maxMs: 9 }],
    [list([1, 2]), { kind: 'list', delaysMs: [1, 2] }],
    [fullJitter(constant(5)), { kind: 'full-jitter', of: { kind: 'constant', delayMs: 5 } }],
    [equalJitter(constant(5)), { kind: 'equal-jitter', of: { kind: 'constant', delayMs: 5 } }],
    [decorrelatedJitter(constant(5)), { kind: 'decorrelated-jitter', of: { kind: 'constant', delayMs: 5 } }],
    [
      additiveJitter(constant(5), 2),
      { kind: 'additive-jitter', of: { kind: 'constant', delayMs: 5 }, upToMs: 2, order: 'before-cap' },
    ],
    [
      proportionalJitter(constant(5), 0.1, 'after-cap'),
      { kind: 'proportional-jitter', of: { kind: 'constant', delayMs: 5 }, ratio: 0.1, order: 'after-cap' },
    ],
  ])('%j', (built, data) => {
    expect(built).toStrictEqual(data);
    expect(structuredClone(built)).toStrictEqual(data);
  });
});

describe('without jitter', () => {
  const capped = exponential({ baseMs: 100, maxMs: 1_000 });
  test.each<{ of: Backoff; retry: number; waits: number }>([
    { of: constant(250), retry: 1, waits: 250 },
    { of: constant(250), retry: 2, waits: 250 },
    { of: constant(250), retry: 10_000, waits: 250 },
    { of: constant(0), retry: 1, waits: 0 },
    { of: constant(2.4), retry: 1, waits: 2 },
    { of: linear({ stepMs: 200, maxMs: 1_000 }), retry: 1, waits: 200 },
    { of: linear({ stepMs: 200, maxMs: 1_000 }), retry: 2, waits: 400 },
    { of: linear({ stepMs: 200, maxMs: 1_000 }), retry: 5, waits: 1_000 },
    { of: linear({ stepMs: 200, maxMs: 1_000 }), retry: 6, waits: 1_000 },
    { of: linear({ stepMs: 200, maxMs: 1_000 }), retry: 10_000, waits: 1_000 },
    { of: linear({ stepMs: 1_000_000 }), retry: 2_147, waits: 2_147_000_000 },
    { of: linear({ stepMs: 1_000_000 }), retry: 2_148, waits: 2_147_483_647 },
    { of: capped, retry: 1, waits: 100 },
    { of: capped, retry: 2, waits: 200 },
    { of: capped, retry: 3, waits: 400 },
    { of: capped, retry: 4, waits: 800 },
    { of: capped, retry: 5, waits: 1_000 },
    { of: capped, retry: 9, waits: 1_000 },
    { of: capped, retry: 10_000, waits: 1_000 },
    { of: exponential({ baseMs: 500, factor: 1.5 }), retry: 1, waits: 500 },
    { of: exponential({ baseMs: 500, factor: 1.5 }), retry: 2, waits: 750 },
    { of: exponential({ baseMs: 500, factor: 1.5 }), retry: 3, waits: 1_125 },
    { of: exponential({ baseMs: 500, factor: 1.5 }), retry: 4, waits: 1_688 },
    { of: exponential({ baseMs: 700, factor: 1 }), retry: 10_000, waits: 700 },
    { of: exponential({ baseMs: 0 }), retry: 10_000, waits: 0 },
    { of: exponential({ baseMs: 1 }), retry: 31, waits: 1_073_741_824 },
    { of: exponential({ baseMs: 1 }), retry: 32, waits: 2_147_483_647 },
    { of: exponential({ baseMs: 1 }), retry: 10_000, waits: 2_147_483_647 },
    { of: exponential({ baseMs: 1_000, maxMs: 300 }), retry: 1, waits: 300 },
    { of: exponential({ baseMs: 10, maxMs: 0 }), retry: 1, waits: 0 },
    { of: list([10, 300, 50]), retry: 1, waits: 10 },
    { of: list([10, 300, 50]), retry: 2, waits: 300 },
    { of: list([10, 300, 50]), retry: 3, waits: 50 },
    { of: list([10, 300, 50]), retry: 4, waits: 50 },
    { of: list([10, 300, 50]), retry: 10_000, waits: 50 },
    { of: list([0]), retry: 3, waits: 0 },
  ])('$of.kind: retry $retry waits $waits ms', ({ of, retry, waits }) => {
    expect(delayMs(of, retry, drawsNothing)).toBe(waits);
  });

  test('a list as long as a program may write is read without running out of stack', () => {
    const long = list(Array.from({ length: 200_000 }, (_, index) => index));
    expect(delayMs(long, 2, drawsNothing)).toBe(1);
    expect(delayMs(long, 200_000, drawsNothing)).toBe(199_999);
  });
});

describe('jitter with a given chance', () => {
  const grows = exponential({ baseMs: 500, maxMs: 10_000 });
  const second = exponential({ baseMs: 1_000, maxMs: 30_000 });
  test.each<{ of: Backoff; retry: number; random: number; waits: number }>([
    { of: fullJitter(constant(1_000)), retry: 1, random: 0, waits: 0 },
    { of: fullJitter(constant(1_000)), retry: 1, random: 0.25, waits: 250 },
    { of: fullJitter(constant(1_000)), retry: 1, random: 0.998, waits: 998 },
    { of: fullJitter(grows), retry: 1, random: 0.5, waits: 250 },
    { of: fullJitter(grows), retry: 2, random: 0.5, waits: 500 },
    { of: fullJitter(grows), retry: 5, random: 0.5, waits: 4_000 },
    { of: fullJitter(grows), retry: 6, random: 0.5, waits: 5_000 },
    { of: fullJitter(grows), retry: 10_000, random: 0.5, waits: 5_000 },
    { of: fullJitter(linear({ stepMs: 100, maxMs: 250 })), retry: 2, random: 0.5, waits: 100 },
    { of: fullJitter(linear({ stepMs: 100, maxMs: 250 })), retry: 3, random: 0.5, waits: 125 },
    { of: fullJitter(list([10, 300])), retry: 2, random: 0.1, waits: 30 },
    { of: equalJitter(constant(1_000)), retry: 1, random: 0, waits: 500 },
    { of: equalJitter(constant(1_000)), retry: 1, random: 0.5, waits: 750 },
    { of: equalJitter(constant(1_000)), retry: 1, random: 0.998, waits: 999 },
    { of: equalJitter(grows), retry: 6, random: 0, waits: 5_000 },
    { of: equalJitter(grows), retry: 10_000, random: 0.5, waits: 7_500 },
    { of: additiveJitter(second, 100), retry: 1, random: 0, waits: 1_000 },
    { of: additiveJitter(second, 100), retry: 1, random: 0.5, waits: 1_050 },
    { of: additiveJitter(second, 100), retry: 5, random: 0.5, waits: 16_050 },
    { of: additiveJitter(second, 100), retry: 6, random: 0.5, waits: 30_000 },
    { of: additiveJitter(second, 100), retry: 10_000, random: 0.5, waits: 30_000 },
    { of: additiveJitter(second, 100, 'after-cap'), retry: 1, random: 0.5, waits: 1_050 },
    { of: additiveJitter(second, 100, 'after-cap'), retry: 6, random: 0, waits: 30_000 },
    { of: additiveJitter(second, 100, 'after-cap'), retry: 6, random: 0.5, waits: 30_050 },
    { of: additiveJitter(second, 100, 'after-cap'), retry: 10_000, random: 0.99, waits: 30_099 },
    { of: proportionalJitter(second, 0.1), retry: 1, random: 0, waits: 900 },
    { of: proportionalJitter(second, 0.1), retry: 1, random: 0.75, waits: 1_050 },
    { of: proportionalJitter(second, 0.1), retry: 6, random: 0, waits: 28_800 },
    { of: proportionalJitter(second, 0.1), retry: 6, random: 0.75, waits: 30_000 },
    { of: proportionalJitter(exponential({ baseMs: 1, maxMs: 30_000 }), 1), retry: 1_000, random: 0, waits: 0 },
    // The power has overflowed here, and 0 × Infinity is no number.
    { of: proportionalJitter(exponential({ baseMs: 1, maxMs: 30_000 }), 1), retry: 10_000, random: 0, waits: 0 },
    { of: proportionalJitter(second, 0.1, 'after-cap'), retry: 1, random: 0, waits: 900 },
    { of: proportionalJitter(second, 0.1, 'after-cap'), retry: 1, random: 0.5, waits: 1_000 },
    { of: proportionalJitter(second, 0.1, 'after-cap'), retry: 6, random: 0, waits: 27_000 },
    { of: proportionalJitter(second, 0.1, 'after-cap'), retry: 6, random: 0.75, waits: 31_500 },
    { of: proportionalJitter(second, 0.1, 'after-cap'), retry: 10_000, random: HIGHEST, waits: 33_000 },
    { of: equalJitter(additiveJitter(second, 100, 'after-cap')), retry: 6, random: 0.5, waits: 22_538 },
    { of: fullJitter(fullJitter(constant(1_000))), retry: 1, random: 0.5, waits: 250 },
    { of: additiveJitter(proportionalJitter(second, 0.1, 'after-cap'), 100), retry: 9, random: 0.75, waits: 31_575 },
  ])('$of.kind ($of.order): retry $retry at chance $random waits $waits ms', ({ of, retry, random, waits }) => {
    expect(delayMs(of, retry, () => random)).toBe(waits);
  });

  // A constant and a list have no cap, so there is nothing that could swallow the jitter.
  test.each<{ of: Backoff; retry: number; random: number; waits: number }>([
    { of: additiveJitter(constant(1_000), 100), retry: 1, random: 0.5, waits: 1_050 },
    { of: additiveJitter(constant(1_000), 100, 'after-cap'), retry: 1, random: 0.5, waits: 1_050 },
    { of: additiveJitter(list([100, 200]), 50), retry: 2, random: 0.5, waits: 225 },
    { of: additiveJitter(list([100, 200]), 50, 'after-cap'), retry: 2, random: 0.5, waits: 225 },
    { of: proportionalJitter(constant(1_000), 0.1), retry: 1, random: 0.75, waits: 1_050 },
    { of: proportionalJitter(list([100, 200]), 0.1), retry: 2, random: 0.75, waits: 210 },
  ])('$of.kind ($of.order) around $of.of.kind waits $waits ms', ({ of, retry, random, waits }) => {
    expect(delayMs(of, retry, () => random)).toBe(waits);
  });
});

describe('decorrelated jitter', () => {
  const of = decorrelatedJitter(exponential({ baseMs: 100, maxMs: 1_000 }));
  test.each([
    { previousMs: undefined, random: 0, waits: 100 },
    { previousMs: undefined, random: 0.5, waits: 200 },
    { previousMs: undefined, random: 0.995, waits: 299 },
    { previousMs: 200, random: 0, waits: 100 },
    { previousMs: 200, random: 0.5, waits: 350 },
    { previousMs: 300, random: 0.99, waits: 892 },
    { previousMs: 900, random: 0.25, waits: 750 },
    { previousMs: 900, random: 0.5, waits: 1_000 },
    { previousMs: 10, random: 0.5, waits: 100 },
    { previousMs: 0, random: HIGHEST, waits: 100 },
    { previousMs: MAX_DELAY_MS, random: HIGHEST, waits: 1_000 },
  ])('after $previousMs ms at chance $random waits $waits ms', ({ previousMs, random, waits }) => {
    expect(delayMs(of, 1, () => random, previousMs)).toBe(waits);
    expect(delayMs(of, 7, () => random, previousMs)).toBe(waits);
  });

  test('property: each wait of a chain is between the first and three times the one before, within the cap', () => {
    fc.assert(
      fc.property(fc.array(chance, { minLength: 1, maxLength: 50 }), (chances) => {
        let previousMs: number | undefined;
        for (const [index, random] of chances.entries()) {
          const waits = delayMs(of, index + 1, () => random, previousMs);
          expect(waits).toBeGreaterThanOrEqual(100);
          expect(waits).toBeLessThanOrEqual(Math.min(1_000, Math.max(100, 3 * (previousMs ?? 100))));
          previousMs = waits;
        }
      }),
    );
  });

  test('a chain of unlucky chances grows to the cap', () => {
    const waits: number[] = [];
    for (let retry = 1; retry <= 5; retry++) waits.push(delayMs(of, retry, () => 0.9, waits.at(-1)));
    expect(waits).toEqual([280, 766, 1_000, 1_000, 1_000]);
  });
});

describe('row 17: bounds for every retry from 1 to 10 000', () => {
  const of = exponential({ baseMs: 500, maxMs: 10_000 });
  const plain = (retry: number) => Math.min(10_000, 500 * 2 ** Math.min(retry - 1, 40));
  test.each<{ name: string; jittered: Backoff; low: (retry: number) => number; high: (retry: number) => number }>([
    { name: 'full', jittered: fullJitter(of), low: () => 0, high: plain },
    { name: 'equal', jittered: equalJitter(of), low: (retry) => plain(retry) / 2, high: plain },
    { name: 'decorrelated', jittered: decorrelatedJitter(of), low: () => 500, high: () => 1_500 },
    {
      name: 'additive before the cap',
      jittered: additiveJitter(of, 100),
      low: plain,
      high: (retry) => Math.min(10_000, plain(retry) + 100),
    },
    {
      name: 'additive after the cap',
      jittered: additiveJitter(of, 100, 'after-cap'),
      low: plain,
      high: (retry) => plain(retry) + 100,
    },
    {
      name: 'proportional before the cap',
      jittered: proportionalJitter(of, 0.1),
      low: (retry) => plain(retry) * 0.9,
      high: (retry) => Math.min(10_000, plain(retry) * 1.1),
    },
    {
      name: 'proportional after the cap',
      jittered: proportionalJitter(of, 0.1, 'after-cap'),
      low: (retry) => plain(retry) * 0.9,
      high: (retry) => plain(retry) * 1.1,
    },
  ])('$name', ({ jittered, low, high }) => {
    const outside = EVERY_RETRY.flatMap((retry) =>
      [0, 0.1, 0.5, 0.9, HIGHEST].flatMap((random) => {
        const waits = delayMs(jittered, retry, () => random);
        const inside = Number.isInteger(waits) && waits >= low(retry) - 0.5 && waits <= high(retry) + 0.5;
        return inside ? [] : [{ retry, random, waits }];
      }),
    );
    expect(outside).toEqual([]);
    // Jitter that is not there keeps every bound, too.
    expect(delayMs(jittered, 1, () => 0)).toBeLessThan(delayMs(jittered, 1, () => 0.9));
  });

  test.each<{ of: Backoff }>([
    { of: constant(MAX_DELAY_MS) },
    { of: linear({ stepMs: MAX_DELAY_MS }) },
    { of: exponential({ baseMs: MAX_DELAY_MS, factor: 1_000 }) },
    { of: additiveJitter(exponential({ baseMs: 1, factor: 1_000 }), MAX_DELAY_MS, 'after-cap') },
    { of: proportionalJitter(exponential({ baseMs: 1, factor: 1_000 }), 1, 'after-cap') },
    { of: proportionalJitter(exponential({ baseMs: 1, factor: 1_000 }), 1) },
    { of: decorrelatedJitter(exponential({ baseMs: MAX_DELAY_MS })) },
  ])('$of.kind of the largest numbers stays within what a timer takes', ({ of }) => {
    const outside = EVERY_RETRY.flatMap((retry) =>
      [0, 0.5, HIGHEST].flatMap((random) => {
        const waits = delayMs(of, retry, () => random, MAX_DELAY_MS);
        return Number.isInteger(waits) && waits >= 0 && waits <= 2_147_483_647 ? [] : [{ retry, random, waits }];
      }),
    );
    expect(outside).toEqual([]);
  });
});

test('B019 additive jitter larger than the cap stays within it and still varies', () => {
  const of = additiveJitter(exponential({ baseMs: 50, maxMs: 100 }), 250);
  const waits = Array.from({ length: 1_000 }, (_, index) => delayMs(of, 1, () => index / 1_000));
  expect(Math.min(...waits)).toBe(50);
  expect(Math.max(...waits)).toBe(100);
  expect(new Set(waits).size).toBe(51);
});

test('row 44: ±10 % after a cap of 30 s is spread over 27 to 33 s', () => {
  const of = proportionalJitter(exponential({ baseMs: 1_000, maxMs: 30_000 }), 0.1, 'after-cap');
  const waits = Array.from({ length: 601 }, (_, index) => delayMs(of, 6, () => index / 600));
  expect(waits).toEqual(Array.from({ length: 601 }, (_, index) => 27_000 + index * 10));
});

describe('schedules of other layers are expressible', () => {
  test.each<{ name: string; of: Backoff; random: number; waits: number[] }>([
    {
      name: 'row 8: 1 s × 2, 0–100 ms on top, at most 30 s',
      of: additiveJitter(exponential({ baseMs: 1_000, maxMs: 30_000 }), 100),
      random: 0.5,
      waits: [1_050, 2_050, 4_050],
    },
    {
      name: 'row 13: 1 s × 2, 1 ms jitter, no cap',
      of: additiveJitter(exponential({ baseMs: 1_000 }), 1),
      random: 0.9,
      waits: [1_001, 2_001, 4_001],
    },
    {
      name: 'row 44: 1 s × 2, ±10 % after a cap of 30 s',
      of: proportionalJitter(exponential({ baseMs: 1_000, maxMs: 30_000 }), 0.1, 'after-cap'),
      random: 0,
      waits: [900, 1_800, 3_600, 7_200, 14_400, 27_000],
    },
    {
      name: 'row 44: 500 ms × 1.5',
      of: exponential({ baseMs: 500, factor: 1.5, maxMs: 60_000 }),
      random: 0,
      waits: [500, 750, 1_125],
    },
    { name: 'two waits of a list', of: list([500, 1_000]), random: 0, waits: [500, 1_000] },
  ])('$name', ({ of, random, waits }) => {
    expect(waits.map((_, index) => delayMs(of, index + 1, () => random))).toEqual(waits);
  });
});

describe('whatever the backoff', () => {
  /** What a backoff may never exceed; a constant and a list have no cap of their own. */
  function capOf(backoff: Backoff): number {
    switch (backoff.kind) {
      case 'constant':
      case 'list':
        return Number.POSITIVE_INFINITY;
      case 'linear':
      case 'exponential':
        return backoff.maxMs;
      case 'full-jitter':
      case 'equal-jitter':
      case 'decorrelated-jitter':
        return capOf(backoff.of);
      case 'additive-jitter':
        return capOf(backoff.of) + (backoff.order === 'after-cap' ? backoff.upToMs : 0);
      case 'proportional-jitter':
        return capOf(backoff.of) * (backoff.order === 'after-cap' ? 1 + backoff.ratio : 1);
    }
  }

  test('property: the wait is a whole number within [0, cap], the cap of a timer at most', () => {
    fc.assert(
      fc.property(
        anyBackoff,
        retryNumber,
        chance,
        fc.option(fc.nat({ max: MAX_DELAY_MS }), { nil: undefined }),
        (backoff, retry, random, previousMs) => {
          const waits = delayMs(backoff, retry, () => random, previousMs);
          expect(Number.isInteger(waits)).toBe(true);
          expect(waits).toBeGreaterThanOrEqual(0);
          expect(waits).toBeLessThanOrEqual(Math.min(2_147_483_647, Math.ceil(capOf(backoff))));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('property: without jitter a later retry of a growing backoff never waits less', () => {
    const growing = anyBackoff.filter(({ kind }) => kind === 'linear' || kind === 'exponential');
    fc.assert(
      fc.property(growing, retryNumber, retryNumber, (backoff, one, other) => {
        const [earlier, later] = one < other ? [one, other] : [other, one];
        expect(delayMs(backoff, later, drawsNothing)).toBeGreaterThanOrEqual(delayMs(backoff, earlier, drawsNothing));
      }),
    );
  });

  test('property: data that crossed a structured clone asks for the same wait', () => {
    fc.assert(
      fc.property(anyBackoff, retryNumber, chance, (backoff, retry, random) => {
        expect(delayMs(structuredClone(backoff), retry, () => random)).toBe(delayMs(backoff, retry, () => random));
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 2])(
    'a broken source of chance that gives %d neither speeds it up below 0 nor beyond the cap',
    (broken) => {
      const of = exponential({ baseMs: 500, maxMs: 10_000 });
      const jittered = [fullJitter(of), equalJitter(of), decorrelatedJitter(of), additiveJitter(of, 100)];
      for (const backoff of [...jittered, proportionalJitter(of, 0.1)]) {
        const waits = delayMs(backoff, 3, () => broken, 500);
        expect(waits).toBeGreaterThanOrEqual(0);
        expect(waits).toBeLessThanOrEqual(10_000);
      }
    },
  );

  test('chance that is not a number waits for the whole cap, not for nothing', () => {
    expect(delayMs(fullJitter(exponential({ baseMs: 500, maxMs: 10_000 })), 1, () => Number.NaN)).toBe(10_000);
  });
});

test('a list that names no wait waits for none', () => {
  expect(delayMs(list([]), 1, () => 0.5)).toBe(0);
});
