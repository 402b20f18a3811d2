import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isItem, parseOutboxWish, toItem } from '../../src/protocol/outbox.ts';
import { anyEntry, entryOf } from '../support/outbox-entries.ts';

describe('a page is shown of an entry', () => {
  const least = {
    id: 'o1',
    outbox: 'outbox',
    method: 'POST',
    url: 'https://app.test/api/orders',
    bytes: 3,
    state: 'waiting',
    queuedAt: entryOf().queuedAt,
    expiresAt: entryOf().expiresAt,
    sends: 0,
    notBefore: entryOf().notBefore,
  };

  test('no header, no query, no fragment, nothing of its body', () => {
    expect(toItem(entryOf())).toStrictEqual(least);
    const request = { ...entryOf().request, url: 'https://app.test/api/orders#a\nb' };
    expect(toItem(entryOf({ request })).url).toBe('https://app.test/api/orders');
  });

  test('what its server has said, and why it has failed', () => {
    const more = { status: 422, answer: 'no', reason: 'refused', state: 'failed' } as const;
    expect(toItem(entryOf({ ...more, owner: 'ann', leaseUntil: 5, endedAt: 6, asked: true }))).toStrictEqual({
      ...least,
      ...more,
    });
  });

  test('property: something that is read as one, of every entry', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        expect(isItem(structuredClone(toItem(entry)))).toBe(true);
      }),
    );
  });
});

describe('an item', () => {
  const item: Record<string, unknown> = { ...toItem(entryOf()) };

  test.each(Object.keys(item))('has a good %s', (field) => {
    const { [field]: value, ...others } = item;
    expect(isItem(others)).toBe(false);
    expect(isItem({ ...others, [field]: null })).toBe(false);
    expect(isItem({ ...others, [field]: typeof value === 'string' ? 5 : 'text' })).toBe(false);
  });

  test.each([undefined, null, 5, 'item', [], {}])('is not %o', (value) => expect(isItem(value)).toBe(false));
});

describe('a wish', () => {
  test.each(['list', 'send', 'retry', 'cancel', 'owner'])('%s', (what) => {
    const all = { do: what, id: 'o1', outbox: 'orders', owner: 'ann' };
    expect(parseOutboxWish({ ...all, more: 1 })).toStrictEqual(all);
    expect(parseOutboxWish({ do: what })).toEqual({ do: what });
  });

  test.each(['id', 'outbox', 'owner'])('has a %s that is a text, or none', (field) => {
    for (const other of [null, 5, {}]) expect(parseOutboxWish({ do: 'list', [field]: other })).toBeUndefined();
  });

  test.each([undefined, null, 'list', [], {}, { do: 'eat' }, { do: ['list'] }])('is not %o', (value) => {
    expect(parseOutboxWish(value)).toBeUndefined();
  });

  test('property: whatever comes, it is none or made of texts only', () => {
    const text = fc.option(fc.oneof(fc.string(), fc.anything()), { nil: undefined });
    const nearly = fc.record(
      {
        do: fc.oneof(fc.constantFrom('list', 'send', 'retry', 'cancel', 'owner'), fc.anything()),
        id: text,
        owner: text,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), nearly), (value) => {
        const wish = parseOutboxWish(value);
        if (wish === undefined) return;
        expect(Object.keys(wish)).toEqual(['do', 'id', 'outbox', 'owner']);
        for (const said of Object.values(wish)) expect(said === undefined || typeof said === 'string').toBe(true);
        expect(wish).toMatchObject({ do: (value as { do: string }).do });
      }),
      { numRuns: 1_000 },
    );
  });
});
