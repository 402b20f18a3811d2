import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { INVARIANTS } from './invariants.ts';
import { PLANTED, plant } from './planted.ts';

const sourceOf = (file: string): string => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');

test('every invariant has faults to notice', () => {
  for (const name of Object.keys(INVARIANTS)) {
    expect(PLANTED.filter(({ caught }) => caught === name).length, name).toBeGreaterThanOrEqual(2);
  }
});

describe.each(PLANTED)('$name', ({ edits }) => {
  test.each(edits)('its place in src/$file is there, once', ({ file, find }) => {
    expect(sourceOf(file).split(find)).toHaveLength(2);
  });
});

describe('planting', () => {
  const planted = {
    name: 'x',
    caught: 'no lost request',
    edits: [{ file: 'a/b.ts', find: 'one', instead: '$1' }],
  } as const;
  const transformed = (code: string, id = '/r/src/a/b.ts') => {
    const { transform } = plant(planted);
    return (transform as (code: string, id: string) => unknown)(code, id);
  };

  test('changes the place and nothing else', () => {
    expect(transformed('is one here')).toBe('is $1 here');
    expect(transformed('is one here', '/r/src/a/c.ts')).toBe(null);
  });

  test.each(['is none', 'one and one'])('fails loudly where the place is not there, or not once: %s', (code) => {
    expect(() => transformed(code.replace('none', 'two'))).toThrow('planted fault "x": src/a/b.ts must have once: one');
  });

  test('fails loudly where the file is no part of what is built', () => {
    const { buildEnd } = plant(planted);
    expect(() => (buildEnd as () => void)()).toThrow('src/a/b.ts is no part of the worker');
  });
});
