import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createFinder } from './named.ts';
import { OTHERWISE_BY_HAND } from './otherwise.ts';
import { readTable } from './row.ts';

const table = readFileSync(new URL('peer-cases.jsonl', import.meta.url), 'utf8');
const forAPerson = readTable(table).flatMap((reading) => (reading.kind === 'for-a-person' ? [reading.id] : []));
const filesOf = createFinder();
const isShown = (id: string) => filesOf(id).length > 0;

test('every row for a person has a test of its name, or a reason why not', () => {
  expect(forAPerson).toHaveLength(161);
  expect(forAPerson.filter((id) => !isShown(id) && !Object.hasOwn(OTHERWISE_BY_HAND, id))).toEqual([]);
});

test('reasons are given for rows there are', () => {
  expect(Object.keys(OTHERWISE_BY_HAND).filter((id) => !forAPerson.includes(id))).toEqual([]);
});
