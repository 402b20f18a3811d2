import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import {
  HEDGE_SHARE,
  type HedgeStats,
  hedgeAfterMs,
  hedgeEarned,
  hedgeSpent,
  mayBeHedged,
  mayHedge,
  NO_HEDGE_STATS,
  timed,
} from '../../src/policy/hedge.ts';
import { requestFacts } from '../support/request-facts.ts';

const times = (...ms: number[]): HedgeStats => ms.reduce(timed, NO_HEDGE_STATS);
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('when', () => {
  const p95 = { afterMs: 'p95', max: 1 } as const;

  test('a number is that number', () => {
    expect(hedgeAfterMs({ afterMs: 300, max: 1 }, NO_HEDGE_STATS)).toBe(300);
  });

  test('p95 is not known before twenty times are', () => {
    expect(hedgeAfterMs(p95, times(...range(19)))).toBeUndefined();
    expect(hedgeAfterMs(p95, times(...range(20)))).toBe(20);
  });

  test('p95 of a hundred is exceeded by four', () => {
    expect(hedgeAfterMs(p95, times(...range(100).reverse()))).toBe(96);
  });

  test('only the last hundred count', () => {
    expect(hedgeAfterMs(p95, times(...range(50).map(() => 9_999), ...range(100)))).toBe(96);
  });

  test('property: about a twentieth of what is looked back on took longer, never more', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60_000), { minLength: 20, maxLength: 100 }), (ms) => {
        const bound = hedgeAfterMs(p95, times(...ms)) as number;
        expect(ms.filter((one) => one > bound).length).toBeLessThanOrEqual(ms.length * 0.05);
      }),
    );
  });
});

describe('how many', () => {
  test('one to begin with, then one for twenty requests', () => {
    expect(NO_HEDGE_STATS.allowance).toBe(1);
    const spent = hedgeSpent(NO_HEDGE_STATS);
    expect(range(20).reduce(hedgeEarned, spent).allowance).toBe(1);
    expect(range(19).reduce(hedgeEarned, spent).allowance).toBeLessThan(1);
  });

  test('at most five are saved', () => {
    expect(range(1_000).reduce(hedgeEarned, NO_HEDGE_STATS).allowance).toBe(5);
  });

  test('property: never more than a share of the requests, and the first', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (slow) => {
        let stats: HedgeStats = NO_HEDGE_STATS;
        let hedges = 0;
        for (const [index, wants] of slow.entries()) {
          stats = hedgeEarned(stats);
          if (wants && stats.allowance >= 1) {
            stats = hedgeSpent(stats);
            hedges += 1;
          }
          expect(hedges).toBeLessThanOrEqual(1 + HEDGE_SHARE * (index + 1) + 1e-6);
        }
      }),
    );
  });
});

describe('which', () => {
  test.each<{ name: string; facts: Partial<RequestFacts>; may: boolean }>([
    { name: 'a script’s GET', facts: {}, may: true },
    { name: 'HEAD', facts: { method: 'HEAD' }, may: true },
    { name: 'an image', facts: { destination: 'image', mode: 'no-cors' }, may: true },
    { name: 'no-store', facts: { cache: 'no-store' }, may: true },
    { name: 'a navigation', facts: { navigation: true, mode: 'navigate' }, may: false },
    { name: 'PUT', facts: { method: 'PUT' }, may: false },
    { name: 'OPTIONS', facts: { method: 'OPTIONS' }, may: false },
    { name: 'a poll', facts: { polling: true }, may: false },
    { name: 'a shared worker', facts: { destination: 'sharedworker' }, may: false },
    { name: 'force-cache', facts: { cache: 'force-cache' }, may: false },
    { name: 'a range without CORS', facts: { range: true, mode: 'no-cors' }, may: false },
  ])('$name: $may', ({ facts, may }) => {
    expect(mayHedge(requestFacts(facts))).toBe(may);
  });
});

test.each([
  { allowance: 1, pausedUntil: 0, may: true },
  { allowance: 0.999, pausedUntil: 0, may: false },
  { allowance: 5, pausedUntil: 1_000, may: true },
  { allowance: 5, pausedUntil: 1_001, may: false },
])('with an allowance of $allowance, paused until $pausedUntil, at 1000: $may', ({ allowance, pausedUntil, may }) => {
  expect(mayBeHedged({ ...NO_HEDGE_STATS, allowance, pausedUntil }, 1_000)).toBe(may);
});
