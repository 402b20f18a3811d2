import { expect, test } from 'vitest';
import { rowByKey, tabByKey } from '../../src/devtools/keys.ts';

test.each([
  ['ArrowDown', -1, 0],
  ['ArrowDown', 3, 4],
  ['ArrowDown', 9, 9],
  ['ArrowUp', -1, 9],
  ['ArrowUp', 3, 2],
  ['ArrowUp', 0, 0],
  ['Home', 5, 0],
  ['End', 5, 9],
  ['PageDown', 2, 6],
  ['PageDown', 8, 9],
  ['PageUp', 8, 4],
  ['PageUp', 2, 0],
  ['a', 2, undefined],
])('%s in row %i of ten, four in view, leads to %s', (key, at, to) => {
  expect(rowByKey(key, at, 10, 4)).toBe(to);
});

test('in a list of nothing no key leads anywhere', () => expect(rowByKey('End', -1, 0, 4)).toBeUndefined());

test.each([
  ['ArrowRight', 3, 0],
  ['ArrowLeft', 0, 3],
  ['ArrowLeft', 2, 1],
  ['Home', 2, 0],
  ['End', 0, 3],
  ['Enter', 1, undefined],
])('%s on tab %i of four leads to %s', (key, at, to) => expect(tabByKey(key, at, 4)).toBe(to));
