import { expect, test } from 'vitest';
import { createFinder } from '../cases/named.ts';
import { CLAIMS } from './claims.ts';

const filesOf = createFinder();

test.each(CLAIMS)('$id has a test of its name: $says', ({ id }) => expect(filesOf(id)).not.toEqual([]));

test('each id is one claim’s, and there is none without a claim', () => {
  const ids = CLAIMS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const all = Array.from({ length: 100 }, (_, n) => `S${String(n).padStart(2, '0')}`);
  expect(all.filter((id) => filesOf(id).length > 0).sort()).toEqual([...ids].sort());
});
