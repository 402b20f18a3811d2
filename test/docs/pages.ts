import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readCases, toPage } from '../cases/table.ts';
import { securityBlocks } from '../security/blocks.ts';
import { gapRows } from '../support/engines/summary.ts';
import { transparencyBlocks } from '../transparency/table.ts';
import { eventBlocks } from './event-tables.ts';
import { toTable, withBlocks } from './markdown.ts';
import { optionBlocks } from './option-tables.ts';

const inRepo = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What the documentation is made of, from the root of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'src/README.md',
  'demo/recipes/README.md',
  ...readdirSync(inRepo('docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The page that is all a program's. */
export const CASES = 'docs/cases.md';

export const readPage = (path: string): string => (existsSync(inRepo(path)) ? readFileSync(inRepo(path), 'utf8') : '');

const BLOCKS: Readonly<Record<string, () => string>> = {
  ...optionBlocks,
  ...eventBlocks,
  ...securityBlocks,
  gaps: () => toTable(['gap', 'what a test cannot do', 'in', 'why', 'instead'], gapRows()),
  ...transparencyBlocks,
};

/** A page as it has to be: what is generated of it, anew. */
export function pageAnew(path: string): string {
  if (path === CASES) return toPage(readCases());
  return withBlocks(readPage(path), (name) => {
    const block = BLOCKS[name];
    if (block === undefined)
      throw new Error(`${path} has a block ${name}; there are ${Object.keys(BLOCKS).join(', ')}`);
    return block();
  });
}

/** The names of all blocks that there are; each belongs into a page. */
export const BLOCK_NAMES = Object.keys(BLOCKS);
