import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHANNEL, type Gossip, parseGossip, toGossip } from '../../src/protocol/gossip.ts';
import { PROTOCOL } from '../../src/protocol/version.ts';

/** As another context hears it. */
const heard = (gossip: Gossip) => parseGossip(structuredClone(toGossip(gossip)));

test('goes over a channel of this name, marked as ours', () => {
  expect(CHANNEL).toBe('steadfetch');
  expect(toGossip({ kind: 'retry-now' })).toEqual({ steadfetch: PROTOCOL, kind: 'retry-now' });
});

describe('is understood', () => {
  test.each<Gossip>([
    { kind: 'guards', record: { origin: 'https://a.test' } },
    { kind: 'success', origin: 'https://a.test', group: 'data' },
    { kind: 'retry-now' },
    { kind: 'retry-now', origin: 'https://a.test' },
    { kind: 'pause' },
    { kind: 'resume' },
    { kind: 'reset' },
    { kind: 'reset', origin: 'https://a.test' },
  ])('$kind', (gossip) => expect(heard(gossip)).toStrictEqual(gossip));

  test('without what a later version adds', () => {
    const success = { kind: 'success', origin: 'https://a.test', group: 'data' } as const;
    expect(parseGossip({ ...toGossip(success), record: {}, more: 1 })).toStrictEqual(success);
  });
});

describe('is not understood', () => {
  const ours = { steadfetch: PROTOCOL };
  test.each<{ name: string; data: unknown }>([
    { name: 'nothing', data: undefined },
    { name: 'null', data: null },
    { name: 'a text', data: 'retry-now' },
    { name: 'no mark', data: { kind: 'reset' } },
    { name: 'another protocol', data: { steadfetch: PROTOCOL + 1, kind: 'reset' } },
    { name: 'no kind', data: ours },
    { name: 'another kind', data: { ...ours, kind: 'nonsense', origin: 'https://a.test', group: 'data', record: {} } },
    { name: 'guards without a record', data: { ...ours, kind: 'guards', origin: 'https://a.test' } },
    { name: 'guards of null', data: { ...ours, kind: 'guards', record: null } },
    { name: 'guards of a text', data: { ...ours, kind: 'guards', record: 'x' } },
    { name: 'a success of no origin', data: { ...ours, kind: 'success', group: 'data' } },
    { name: 'a success of no group', data: { ...ours, kind: 'success', origin: 'https://a.test' } },
    {
      name: 'a success of a group that is none',
      data: { ...ours, kind: 'success', origin: 'https://a.test', group: 5 },
    },
    { name: 'retry-now of an origin that is none', data: { ...ours, kind: 'retry-now', origin: 5 } },
    // Not all of them: somebody meant one.
    { name: 'a reset of null', data: { ...ours, kind: 'reset', origin: null } },
  ])('$name', ({ data }) => expect(parseGossip(data)).toBeUndefined());
});

test('S03 property: whatever is heard, it is a kind of gossip with what it needs, or nothing', () => {
  const field = fc.oneof(fc.string(), fc.object(), fc.constantFrom(undefined, null, 5));
  const near = fc.record(
    {
      steadfetch: fc.constantFrom(PROTOCOL, PROTOCOL, PROTOCOL, '1', undefined),
      kind: fc.oneof(fc.constantFrom('guards', 'success', 'retry-now', 'reset'), fc.anything()),
      record: field,
      origin: field,
      group: field,
    },
    { requiredKeys: ['steadfetch', 'kind'] },
  );
  let understood = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: fc.anything() }), (data) => {
      const gossip = parseGossip(data);
      if (gossip === undefined) return;
      understood++;
      expect(data).toMatchObject(gossip);
      expect(heard(gossip)).toEqual(gossip);
      if (gossip.kind === 'guards') expect(gossip.record).toBeTypeOf('object');
      if (gossip.kind === 'success') expect([typeof gossip.origin, typeof gossip.group]).toEqual(['string', 'string']);
      if ('origin' in gossip) expect(gossip.origin).toBeTypeOf('string');
    }),
    { numRuns: 1_000 },
  );
  expect(understood).toBeGreaterThan(50);
});
