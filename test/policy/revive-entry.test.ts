import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OutboxEntry } from '../../src/policy/outbox-entry.ts';
import { reviveEntry } from '../../src/policy/revive-entry.ts';
import { AROUND } from '../support/arbitraries.ts';
import { anyEntry, entryOf } from '../support/outbox-entries.ts';

const NOW = AROUND + 1_000;
const DAY_MS = 86_400_000;
const without = (value: object, field: string) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));

describe('what is stored comes back', () => {
  test('as it was, with all that it may have', () => {
    const whole = entryOf({
      owner: 'ann',
      doneAt: '/done',
      asked: true,
      conflicts: 1,
      leaseUntil: NOW + 1,
      status: 503,
      reason: 'unknown',
      answer: 'no',
      endedAt: NOW,
    });
    expect(reviveEntry(structuredClone(whole), NOW)).toEqual(whole);
    expect(reviveEntry(entryOf(), NOW)).toStrictEqual(entryOf());
    expect(reviveEntry({ ...entryOf(), more: 1 }, NOW)).toEqual({ ...entryOf(), more: 1 });
  });

  test.each(['waiting', 'sending', 'sent', 'failed'] as const)('%s', (state) => {
    expect(reviveEntry(entryOf({ state }), NOW)).toEqual(entryOf({ state }));
  });

  test('with the same time to live after a clock was set back', () => {
    const late = entryOf({ queuedAt: NOW + 5_000, expiresAt: NOW + 5_000 + DAY_MS, notBefore: NOW + 9e9 });
    expect(reviveEntry(late, NOW)).toEqual(
      entryOf({ queuedAt: NOW, expiresAt: NOW + DAY_MS, notBefore: NOW + DAY_MS }),
    );
    const now = entryOf({ queuedAt: NOW, expiresAt: NOW + DAY_MS });
    expect(reviveEntry(now, NOW)).toEqual(now);
    expect(reviveEntry(entryOf({ leaseUntil: NOW + 9e9, endedAt: NOW + 9e9 }), NOW)).toEqual(
      entryOf({ leaseUntil: NOW + 120_000, endedAt: NOW }),
    );
  });
});

describe('what is no entry is none', () => {
  test.each([undefined, null, 5, 'entry', [], {}, new Date(0)])('%o', (stored) => {
    expect(reviveEntry(stored, NOW)).toBeUndefined();
  });

  const must = [
    ...['id', 'outbox', 'order', 'group', 'repeatable', 'bytes', 'queuedAt', 'expiresAt', 'sends', 'notBefore'],
    ...['state', 'request'],
  ];
  test.each(must)('without a good %s', (field) => {
    expect(reviveEntry(without(entryOf(), field), NOW)).toBeUndefined();
    for (const other of [null, {}, [5]]) expect(reviveEntry({ ...entryOf(), [field]: other }, NOW)).toBeUndefined();
  });

  test.each(['bytes', 'queuedAt', 'expiresAt', 'sends', 'notBefore', 'leaseUntil', 'endedAt', 'status', 'conflicts'])(
    'with a %s that nobody can count with',
    (field) => {
      for (const other of [Number.NaN, Number.POSITIVE_INFINITY, -1, '5', null]) {
        expect(reviveEntry({ ...entryOf(), [field]: other }, NOW)).toBeUndefined();
      }
      expect(reviveEntry({ ...entryOf(), [field]: 0 }, NOW)).toBeDefined();
    },
  );

  test.each(['owner', 'doneAt', 'asked', 'reason', 'answer'])('with a %s that is something else', (field) => {
    for (const other of [null, 5, {}]) expect(reviveEntry({ ...entryOf(), [field]: other }, NOW)).toBeUndefined();
    expect(reviveEntry({ ...entryOf(), [field]: undefined }, NOW)).toBeDefined();
  });

  test('in a state that there is not', () => {
    expect(reviveEntry({ ...entryOf(), state: 'lost' }, NOW)).toBeUndefined();
  });

  test.each([
    'url',
    'method',
    'mode',
    'credentials',
    'redirect',
    'cache',
    'referrer',
    'referrerPolicy',
    'integrity',
    'headers',
  ])('without a good %s of its request', (field) => {
    const { request } = entryOf();
    expect(reviveEntry({ ...entryOf(), request: without(request, field) }, NOW)).toBeUndefined();
    expect(reviveEntry({ ...entryOf(), request: { ...request, [field]: 5 } }, NOW)).toBeUndefined();
  });

  test.each([[5], [['a']], [['a', 'b', 'c']], [['a', 5]], [[5, 'a']], ['ab'], { length: 0 }])(
    'with headers %o',
    (...headers) => {
      expect(reviveEntry({ ...entryOf(), request: { ...entryOf().request, headers } }, NOW)).toBeUndefined();
    },
  );

  test('with no headers it is one', () => {
    const request = { ...entryOf().request, headers: [] };
    expect(reviveEntry({ ...entryOf(), request }, NOW)).toMatchObject({ request });
  });
});

/** Whatever reads it may rely on this. */
function expectSound(entry: OutboxEntry): void {
  for (const field of ['id', 'outbox', 'order', 'group'] as const) expect(entry[field]).toBeTypeOf('string');
  for (const field of ['bytes', 'queuedAt', 'expiresAt', 'sends', 'notBefore'] as const) {
    expect(Number.isFinite(entry[field])).toBe(true);
  }
  for (const field of ['leaseUntil', 'status', 'endedAt'] as const) {
    expect(entry[field] === undefined || Number.isFinite(entry[field])).toBe(true);
  }
  expect(entry.owner === undefined || typeof entry.owner === 'string').toBe(true);
  expect(['waiting', 'sending', 'sent', 'failed']).toContain(entry.state);
  expect(entry.queuedAt).toBeLessThanOrEqual(NOW);
  expect(entry.notBefore).toBeLessThanOrEqual(NOW + entry.expiresAt - entry.queuedAt);
  for (const header of entry.request.headers) expect(header.map((text) => typeof text)).toEqual(['string', 'string']);
}

test('property: whatever is stored, nothing is thrown, and an entry is a sound one', () => {
  const fields = Object.keys(entryOf({ owner: '', leaseUntil: 0, endedAt: 0, status: 0, asked: true, answer: '' }));
  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, undefined));
  const nearly = fc
    .tuple(anyEntry, fc.dictionary(fc.constantFrom(...fields), odd, { maxKeys: 2 }))
    .map(([entry, over]) => ({ ...entry, ...over }));
  let entries = 0;
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.anything(), nearly), (stored) => {
      const entry = reviveEntry(stored, NOW);
      if (entry === undefined) return;
      entries += 1;
      expectSound(entry);
    }),
    { numRuns: 2_000 },
  );
  expect(entries).toBeGreaterThan(50);
});

test('property: what our own code has left is read as it is, in whatever way it was stored', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      expect(reviveEntry(JSON.parse(JSON.stringify(entry)), NOW + 3_600_000)).toEqual(entry);
    }),
  );
});
