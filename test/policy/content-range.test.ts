import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseContentRange, toNumber } from '../../src/policy/content-range.ts';

test.each<{ value: string | null; means: ReturnType<typeof parseContentRange> }>([
  { value: null, means: undefined },
  { value: '', means: undefined },
  { value: 'bytes 0-0/1', means: { first: 0, last: 0, total: 1 } },
  { value: 'bytes 4-9/10', means: { first: 4, last: 9, total: 10 } },
  { value: 'Bytes 4-9/10', means: { first: 4, last: 9, total: 10 } },
  { value: 'bytes 4-9/*', means: { first: 4, last: 9 } },
  { value: 'bytes */10', means: { total: 10 } },
  { value: 'bytes */0', means: { total: 0 } },
  { value: 'bytes */*', means: undefined },
  { value: 'bytes 4-10/10', means: undefined },
  { value: 'bytes 9-4/10', means: undefined },
  { value: 'bytes 4-/10', means: undefined },
  { value: 'bytes -9/10', means: undefined },
  { value: 'bytes 4-9', means: undefined },
  { value: 'bytes=4-9/10', means: undefined },
  { value: 'bytes 4-9/10, bytes 4-9/10', means: undefined },
  { value: 'items 4-9/10', means: undefined },
  { value: ' bytes 4-9/10', means: undefined },
  { value: 'bytes 4-9/10\n', means: undefined },
  { value: 'bytes 4-9007199254740992/9007199254740993', means: undefined },
  { value: 'bytes 4-9007199254740992/*', means: undefined },
  { value: 'bytes 9007199254740992-9007199254740993/*', means: undefined },
  { value: 'bytes 4-9/9007199254740992', means: undefined },
  { value: 'bytes */9007199254740992', means: undefined },
])('$value', ({ value, means }) => {
  expect(parseContentRange(value)).toEqual(means);
});

describe('any', () => {
  const size = fc.maxSafeNat();

  test('that is written is read', () => {
    fc.assert(
      fc.property(size, size, fc.option(size), (a, b, more) => {
        const [first, last] = a < b ? [a, b] : [b, a];
        const total = more === null || last + 1 + more > Number.MAX_SAFE_INTEGER ? undefined : last + 1 + more;
        const read = parseContentRange(`bytes ${first}-${last}/${total ?? '*'}`);
        expect(read).toEqual({ first, last, ...(total === undefined ? {} : { total }) });
      }),
    );
  });

  test('text gives a range that can be, or none', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^bytes [\d*]{0,3}-?[\d*]{0,3}\/[\d*]{0,3}$/), (text) => {
        const range = parseContentRange(text);
        if (range === undefined || !('first' in range)) return;
        expect(range.first).toBeLessThanOrEqual(range.last);
        expect(range.last).toBeLessThan(range.total ?? Number.POSITIVE_INFINITY);
      }),
    );
  });
});

test.each([
  ['', undefined],
  [undefined, undefined],
  ['0', 0],
  ['10', 10],
  ['1e3', undefined],
  ['+5', undefined],
  ['5, 5', undefined],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740992', undefined],
])('of the digits %j: %j', (digits, number) => {
  expect(toNumber(digits)).toBe(number);
});
