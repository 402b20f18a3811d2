import { describe, expect, test } from 'vitest';
import { fullBy, OUTBOX_DEFAULTS, OUTBOX_METHODS, resolveOutbox } from '../../src/policy/outbox.ts';

test('the defaults are these, and nobody changes them', () => {
  expect(OUTBOX_DEFAULTS).toEqual({
    name: 'outbox',
    answer: 'accepted',
    orderBy: 'outbox',
    addKey: false,
    maxAgeMs: 24 * 3_600_000,
    maxEntries: 100,
    maxBytes: 5_242_880,
  });
  expect(OUTBOX_DEFAULTS).toSatisfy(Object.isFrozen);
  expect(OUTBOX_METHODS).toEqual(['POST', 'PUT', 'PATCH', 'DELETE']);
});

test('what a route does not say is as by default', () => {
  expect(resolveOutbox(true)).toBe(OUTBOX_DEFAULTS);
  expect(resolveOutbox({})).toEqual(OUTBOX_DEFAULTS);
  expect(resolveOutbox({ name: 'orders', page: '/queued' })).toEqual({
    ...OUTBOX_DEFAULTS,
    name: 'orders',
    page: '/queued',
  });
});

describe('an outbox has room', () => {
  const policy = resolveOutbox({ name: 'orders', maxEntries: 2, maxBytes: 10 });
  const kept = (outbox: string, bytes: number) => ({ outbox, bytes });

  test.each([
    { bytes: 10, pending: [] },
    { bytes: 6, pending: [kept('orders', 4)] },
    { bytes: 0, pending: [kept('orders', 10)] },
    { bytes: 10, pending: [kept('others', 10), kept('others', 10)] },
  ])('for $bytes beside $pending', ({ bytes, pending }) => {
    expect(fullBy(policy, bytes, pending)).toBeUndefined();
  });

  test('S17 for as many entries as it may have', () => {
    expect(fullBy(policy, 0, [kept('orders', 0), kept('orders', 0)])).toBe(
      "outbox 'orders' has 2 entries, as many as maxEntries allows",
    );
  });

  test('S17 for as many bytes as it may have', () => {
    expect(fullBy(policy, 7, [kept('others', 9), kept('orders', 4)])).toBe(
      "outbox 'orders' has 4 bytes, and 7 more are more than maxBytes (10) allows",
    );
    expect(fullBy(policy, 11, [])).toContain('has 0 bytes, and 11 more');
  });
});
