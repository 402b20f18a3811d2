import { expect, test } from 'vitest';
import { namesIn } from './named.ts';

test.each<{ name: string; source: string; names: string[] }>([
  { name: 'a test', source: "test('B001 a', () => { say('B002'); });", names: ['B001 a'] },
  { name: 'its groups', source: "describe('row 1', () => { test('a', () => {}); });", names: ['row 1 a'] },
  { name: 'a group without tests', source: "describe('row 1', () => {});", names: [] },
  { name: 'its rows', source: "test.each([{ id: 'x-1' }, { id: 'x-2' }])('$id', () => {});", names: ['x-1 x-2 $id'] },
  {
    name: 'rows of another name',
    source: "const R = [...S]; const S = ['x-1']; test.each(R)('%s', () => {});",
    names: ['x-1 %s'],
  },
  { name: 'a loop', source: "for (const id of ['x-1']) test(`$" + '{id} a`, () => {});', names: ['x-1   a'] },
  { name: 'a comment', source: "// B001\ntest('a', () => {}); /* B002 */", names: ['a'] },
  { name: 'a constant that no test is made of', source: "const R = ['x-1']; test('a', () => use(R));", names: ['a'] },
  ...['skip', 'fails', 'fail', 'fixme', 'todo', 'skipIf(true)', 'runIf(x)'].flatMap((modifier) => [
    { name: modifier, source: `test.${modifier}('B001', () => {});`, names: [] },
    {
      name: `a group: ${modifier}`,
      source: `describe.${modifier}('a', () => { test('B001', () => {}); });`,
      names: [],
    },
  ]),
  { name: 'rows that are skipped', source: "test.skip.each([['x-1']])('%s', () => {});", names: [] },
  { name: 'skipped in its body', source: "test('B001', () => { test.skip(); });", names: [] },
  { name: 'failing by its body', source: "test('B001', async () => { if (x) test.fail(x, 'why'); });", names: [] },
  { name: 'skipped by what it is given', source: "test('B001', ({ skip }) => { skip('why'); });", names: [] },
  { name: 'a failure of its own', source: "test('B001', () => { expect.fail('why'); });", names: ['B001'] },
  { name: 'no test', source: "test.beforeEach('B001', () => {}); check('B002', () => {});", names: [] },
  { name: 'Playwright’s group', source: "test.describe('a', () => { test('B001', () => {}); });", names: ['a B001'] },
])('the names of tests that run and have to pass: $name', ({ source, names }) => {
  expect(namesIn(source).map((name) => name.trim())).toEqual(names);
});
