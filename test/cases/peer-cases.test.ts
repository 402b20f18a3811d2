import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OTHERWISE } from './otherwise.ts';
import { titleOf } from './report.ts';
import { type Row, readTable } from './row.ts';
import { judge } from './verdict.ts';

const readings = readTable(readFileSync(new URL('peer-cases.jsonl', import.meta.url), 'utf8'));
const rows: Row[] = readings.flatMap((reading) => (reading.kind === 'row' ? [reading.row] : []));

describe.each(['worker', 'fetch'] as const)('what other retry layers pin down, by %s', (way) => {
  for (const row of rows) {
    test(titleOf(row), async ({ skip }) => {
      const verdict = await judge(row, OTHERWISE, way);
      const otherwise = Object.hasOwn(OTHERWISE, row.id);
      if (verdict.kind === 'not-applicable' && !otherwise) skip(verdict.why);
      expect(verdict).toEqual(otherwise ? { kind: 'not-applicable', why: expect.any(String) } : { kind: 'passed' });
    });
  }
});

test('every row can be read, and has an id of its own', () => {
  expect(readings.filter(({ kind }) => kind === 'unreadable')).toEqual([]);
  const ids = readings.map((reading) => (reading.kind === 'row' ? reading.row.id : reading.id));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('what is decided otherwise is decided of rows there are', () => {
  expect(Object.keys(OTHERWISE).filter((id) => !rows.some((row) => row.id === id))).toEqual([]);
});
