import { expect, test } from 'vitest';
import { mergeRecords } from '../../src/policy/merge.ts';
import { GUARDS, recordOf } from '../support/records.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const KEY = { origin: 'https://app.test', group: 'data' };

test.each([
  { name: 'ours is poorer', ours: recordOf(3, T0, KEY), theirs: recordOf(9, T0, KEY), tokens: 3 },
  { name: 'theirs is poorer', ours: recordOf(9, T0, KEY), theirs: recordOf(3, T0, KEY), tokens: 3 },
  { name: 'theirs is later', ours: recordOf(3, T0, KEY), theirs: recordOf(5, T0 + 10_000, KEY), tokens: 4 },
  { name: 'ours is later', ours: recordOf(5, T0 + 10_000, KEY), theirs: recordOf(3, T0, KEY), tokens: 4 },
])('of two budgets the poorer counts, at the same instant: $name', ({ ours, theirs, tokens }) => {
  const { budget } = mergeRecords(ours, theirs, GUARDS);
  expect(budget).toEqual({ tokens, at: Math.max(ours.budget.at, theirs.budget.at) });
});
