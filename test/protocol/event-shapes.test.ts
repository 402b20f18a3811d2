import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, isEvent } from '../../src/protocol/event-shapes.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { has } from '../../src/protocol/shape.ts';

const request = { id: 'e7', at: 1, method: 'GET', url: 'https://a.test/', group: 'data', elapsedMs: 2 };
const notice = { at: 1, origin: 'https://a.test', group: 'data' };
const entry = { at: 1, id: 'o1', outbox: 'orders', method: 'POST', url: 'https://a.test/' };
/** What each must have; what is optional is left out. */
const LEAST: { readonly [Type in LayerEvent['type']]: object } = {
  'retry-scheduled': { ...request, attempt: 1, delayMs: 5, cause: 'status', by: 'backoff' },
  waiting: { ...request, cause: 'hold' },
  released: { ...request, cause: 'hold' },
  'hedge-launched': { ...request, attempt: 2 },
  resumed: { ...request, resumptions: 1, fromByte: 65_536 },
  recovered: { ...request, attempts: 2, status: 200 },
  'gave-up': { ...request, attempts: 4, reason: 'attempts' },
  'hold-started': { ...notice, until: 9 },
  'hold-ended': notice,
  'circuit-changed': { ...notice, from: 'closed', to: 'open' },
  'budget-exhausted': notice,
  queued: entry,
  'queue-sent': { ...entry, status: 201, sends: 1 },
  'queue-failed': { ...entry, reason: 'refused', sends: 1 },
};
const OTHERS: readonly unknown[] = [undefined, null, true, [], {}, 5n];
const fields = Object.entries(LEAST).flatMap(([type, least]) => Object.keys(least).map((field) => ({ type, field })));

test('there are these events', () => {
  expect([...EVENT_TYPES].sort()).toEqual(Object.keys(LEAST).sort());
});

test.each(Object.entries(LEAST))('%s is one with what it must have, and with more', (type, least) => {
  expect(isEvent({ type, ...least })).toBe(true);
  expect(isEvent({ type, ...least, status: 503, later: {} })).toBe(true);
});

// A listener reads what its type promises.
test.each(fields)('$type is none without a good `$field`', ({ type, field }) => {
  const good: Record<string, unknown> = { type, ...LEAST[type as LayerEvent['type']] };
  const { [field]: value, ...others } = good;
  expect(isEvent(others)).toBe(false);
  for (const other of [...OTHERS, typeof value === 'string' ? 5 : 'text']) {
    expect(isEvent({ ...good, [field]: other })).toBe(false);
  }
});

test.each([
  { value: undefined },
  { value: null },
  { value: 'waiting' },
  { value: {} },
  { value: { ...request, ...notice, type: 'exploded' } },
  { value: { ...request, ...notice, type: 'toString' } },
  { value: { ...request, ...notice, type: 5 } },
  { value: { ...request, ...notice, type: ['hold-ended'] } },
])('$value is none', ({ value }) => {
  expect(isEvent(value)).toBe(false);
});

describe('a shape', () => {
  test.each([
    { value: { a: 'x', b: 1, c: {} }, fits: true },
    { value: { a: '', b: 0, c: [] }, fits: true },
    { value: { a: '', b: Number.NaN, c: [] }, fits: false },
    { value: { a: 'x', b: 1, c: null }, fits: false },
    { value: { a: 'x', b: 1 }, fits: false },
    { value: { a: 1, b: 1, c: {} }, fits: false },
    { value: null, fits: false },
    { value: 'x', fits: false },
  ])('$value fits: $fits', ({ value, fits }) => {
    expect(has(value, { a: 'string', b: 'number', c: 'object' })).toBe(fits);
  });

  test('of nothing is any object', () => {
    expect([has({}, {}), has([], {}), has(null, {}), has(undefined, {}), has('x', {})]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

test('property: whatever it is, it is one exactly if it has a known type and what that must have', () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.constantFrom(undefined, null, {}));
  const names = [...new Set(fields.map(({ field }) => field))];
  const near = fc.tuple(fc.constantFrom(...EVENT_TYPES), fc.dictionary(fc.constantFrom(...names), value));
  fc.assert(
    fc.property(near, fc.boolean(), ([type, over], whole) => {
      const event: Record<string, unknown> = { type, ...(whole ? LEAST[type] : {}), ...over };
      const sound = Object.entries(LEAST[type]).every(([field, good]) => typeof event[field] === typeof good);
      expect(isEvent(event)).toBe(sound);
    }),
  );
  fc.assert(
    fc.property(fc.anything(), (anything) => {
      expect(isEvent(anything)).toBe(false);
    }),
  );
});
