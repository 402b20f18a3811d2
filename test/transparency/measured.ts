import { readFileSync, writeFileSync } from 'node:fs';
import type { Engine } from './expected.ts';
import type { Row } from './judge.ts';

// What browsers do, held to the letter: a difference that is new fails, and one that is gone as well. After either
// `TRANSPARENCY=write npx playwright test transparency` takes over what has a rule in expected.ts, to be looked at in the
// diff; `npm run docs` then writes docs/transparency.md anew.

const FILE = new URL('measured.json', import.meta.url);

export type Measured = Partial<Record<Engine, Readonly<Record<string, Row>>>>;

export const readMeasured = (): Measured => JSON.parse(readFileSync(FILE, 'utf8'));

export function writeMeasured(engine: Engine, rows: Readonly<Record<string, Row>>): void {
  const lines = Object.entries({ ...readMeasured(), [engine]: rows }).map(([name, some]) => {
    const each = Object.entries(some).map(([id, row]) => `    ${JSON.stringify(id)}: ${JSON.stringify(row)}`);
    return `  ${JSON.stringify(name)}: {\n${each.join(',\n')}\n  }`;
  });
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}
