import { expect, test } from 'vitest';
import { readArgs } from './args.mjs';

const EXPECTED = { numbers: { seed: 1, only: 3 }, most: { only: 16 }, flags: ['long'], names: ['firefox', 'webkit'] };

test('what is not given is as it is unless given', () => {
  expect(readArgs([], EXPECTED)).toEqual({ seed: 1, only: 3, long: false, named: [] });
});

test('numbers, flags and names come in any order', () => {
  const read = { seed: 7, only: 16, long: true, named: ['webkit', 'firefox'] };
  expect(readArgs(['webkit', '--seed', '7', '--long', '--only=16', 'firefox'], EXPECTED)).toEqual(read);
});

test.each([
  { args: ['--seed', 'x'], says: '--seed is x; give a whole number from 1' },
  { args: ['--seed', '-5'], says: '--seed is -5; give a whole number from 1' },
  { args: ['--seed', '1.5'], says: '--seed is 1.5; give a whole number from 1' },
  { args: ['--seed'], says: '--seed has no value; give a whole number from 1' },
  { args: ['--only', '99'], says: '--only is 99; give a whole number from 1 to 16' },
  { args: ['--long=yes'], says: '--long has the value yes; it takes none' },
  { args: ['--frob'], says: 'unknown option --frob; use --seed N, --only N, --long, firefox, webkit' },
  { args: ['chrome'], says: 'there is no chrome; use --seed N, --only N, --long, firefox, webkit' },
])('$args: $says', ({ args, says }) => {
  expect(() => readArgs(args, EXPECTED)).toThrow(new Error(says));
});

test('a command that takes nothing says so', () => {
  expect(() => readArgs(['--foo'])).toThrow(new Error('unknown option --foo; it takes nothing'));
});
