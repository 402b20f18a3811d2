import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NOT_YET, OTHERWISE_BY_HAND } from './otherwise.ts';
import { readTable } from './row.ts';

const HERE = new URL('./', import.meta.url);
const table = readFileSync(new URL('peer-cases.jsonl', HERE), 'utf8');
const areaOf = new Map(
  table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as { id: string; area: string })
    .map(({ id, area }) => [id, area]),
);
const forAPerson = readTable(table).flatMap((reading) => (reading.kind === 'for-a-person' ? [reading.id] : []));

/** Those that are translated; of the others not all have a test yet. */
const AREAS = ['hedge', 'timeouts', 'eligibility', 'backoff', 'giveup', 'body', 'retry-after'];
const translated = forAPerson.filter((id) => AREAS.includes(areaOf.get(id) ?? ''));

/** What the tests here say, without their comments: a row that is only mentioned is not shown. */
const tests = readdirSync(HERE)
  .filter((file) => file.endsWith('.test.ts') && file !== 'peer-by-hand.test.ts')
  .map((file) => readFileSync(new URL(file, HERE), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''))
  .join('\n');
const isShown = (id: string) => new RegExp(`\\b${id}\\b`).test(tests);

test('every row for a person of these areas has a test of its name, or a reason why not', () => {
  expect(translated).toHaveLength(67);
  const reasons = { ...OTHERWISE_BY_HAND, ...NOT_YET };
  expect(translated.filter((id) => !isShown(id) && !Object.hasOwn(reasons, id))).toEqual([]);
});

test('reasons are given for rows there are, once, and only where there is one', () => {
  const given = [...Object.keys(OTHERWISE_BY_HAND), ...Object.keys(NOT_YET)];
  expect(given.filter((id) => !forAPerson.includes(id))).toEqual([]);
  expect(new Set(given).size).toBe(given.length);
  expect(Object.keys(NOT_YET).filter(isShown)).toEqual([]);
});
