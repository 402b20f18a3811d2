import { expect, test } from 'vitest';
import { createRandom, poissonGapMs } from '../../src/sim/random.ts';

test('the same seed gives the same numbers, another one others', () => {
  const take = (seed: number) => Array.from({ length: 5 }, createRandom(seed));
  expect(take(1)).toEqual(take(1));
  expect(take(1)).not.toEqual(take(2));
});

test('numbers are in [0, 1) and even', () => {
  const random = createRandom(7);
  const numbers = Array.from({ length: 100_000 }, random);
  expect(Math.min(...numbers.slice(0, 10_000))).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers.slice(0, 10_000))).toBeLessThan(1);
  expect(numbers.reduce((sum, number) => sum + number, 0) / numbers.length).toBeCloseTo(0.5, 2);
});

test('gaps between independent events: finite, and as long on average as their rate says', () => {
  const random = createRandom(3);
  const gaps = Array.from({ length: 100_000 }, () => poissonGapMs(4, random));
  expect(gaps.every((gap) => gap >= 0 && Number.isFinite(gap))).toBe(true);
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length / 250).toBeCloseTo(1, 1);
});
