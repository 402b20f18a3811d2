import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FAULTS_OTHERWISE, PARTLY } from './otherwise.ts';
import { type Case, isMissing, readCases, toPage } from './table.ts';

const cases = readCases();
const { rows, faults, peers } = cases;
const idsOf = (some: readonly Case[]) => some.map(({ id }) => id);

test.each([
  { name: 'rows', of: rows, count: 58 },
  { name: 'reported faults', of: faults, count: 88 },
  { name: 'rows of other layers’ tests', of: peers, count: 326 },
])('each of the $count $name has a test of its name, or a reason why not', ({ of, count }) => {
  expect(of).toHaveLength(count);
  expect(idsOf(of.filter(isMissing))).toEqual([]);
});

describe('reasons', () => {
  test('are given for cases there are, and for each once', () => {
    const given = [FAULTS_OTHERWISE, PARTLY].flatMap((reasons) => Object.keys(reasons));
    expect(given.filter((id) => !idsOf([...rows, ...faults, ...peers]).includes(id))).toEqual([]);
    expect(new Set(given).size).toBe(given.length);
  });

  test('of a part are given for nothing that is not shown', () => {
    const shown = idsOf([...faults, ...rows, ...peers].filter(({ files }) => files.length > 0));
    expect(Object.keys(PARTLY).filter((id) => !shown.includes(id))).toEqual([]);
  });
});

test('the README says how many there are', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(`${rows.length + faults.length + peers.length} cases from outside`);
});

test('docs/cases.md is what `npm run cases:table` would write', () => {
  const page = readFileSync(new URL('../../docs/cases.md', import.meta.url), 'utf8');
  expect(page === toPage(cases), 'run `npm run cases:table`').toBe(true);
});
