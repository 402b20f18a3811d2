import { describe, expect, test, vi } from 'vitest';
import { deadLinks } from './links.ts';
import { blocksIn } from './markdown.ts';
import { BLOCK_NAMES, CASES, PAGES, pageAnew, readPage } from './pages.ts';

// A machine under load is slow, not wrong.
vi.setConfig({ testTimeout: 30_000 });

// That of the cases has a test of its own: what it reads takes a while.
describe.each(PAGES.filter((path) => path !== CASES).map((path) => ({ path, page: readPage(path) })))(
  '$path',
  ({ path, page }) => {
    test('is what `npm run docs` would write', () => {
      expect(page === pageAnew(path), 'run `npm run docs`').toBe(true);
    });

    test('has no link that leads nowhere', () => expect(deadLinks(path, page)).toEqual([]));
  },
);

test('what is generated has a place, and one', () => {
  expect(PAGES.flatMap((path) => blocksIn(readPage(path))).sort()).toEqual([...BLOCK_NAMES].sort());
});

test('the README is short', () => {
  expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(250);
});

test('the README names every page', () => {
  const readme = readPage('README.md');
  for (const path of PAGES.filter((one) => one.startsWith('docs/'))) expect(readme).toContain(`](${path})`);
});
