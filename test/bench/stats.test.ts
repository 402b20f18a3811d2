import { expect, test } from 'vitest';
import { asTable, median, quantile, ratios, show, spread } from './stats.mjs';

test('a median and quantiles are values that were measured, in whatever order', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect([0, 0.5, 0.9, 0.99, 1].map((share) => quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share))).toEqual([
    1, 6, 10, 10, 10,
  ]);
});

test('several runs are their median and their ends', () => {
  expect(spread([3, 1, 2, 5, 4])).toEqual({ mid: 3, low: 1, high: 5 });
  expect(show(spread([3, 1, 2]), 1, ' ms')).toBe('2.0 ms (1.0\u20133.0)');
});

test('two kinds are compared run by run', () => {
  // A slow run is one for both.
  expect(ratios([[2], [20], [6]], [[1], [10], [2]], median)).toEqual({ mid: 2, low: 2, high: 3 });
});

test('a table is one that Markdown knows', () => {
  expect(
    asTable(
      ['', 'ms'],
      [
        ['one', 12],
        ['fifteen', '1.5'],
      ],
    ),
  ).toBe(['|         |  ms |', '| ------- | --: |', '| one     |  12 |', '| fifteen | 1.5 |'].join('\n'));
});
