import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Override, parseOverride, withOverride } from '../../src/protocol/overrides.ts';

const hashOf = (url: string) => new URL(url, 'https://app.test').hash;

describe('what a call asks for travels in the fragment', () => {
  test.each<{ url: string; override: Override; marked: string }>([
    { url: '/x', override: { off: true }, marked: '/x#~sf=x' },
    { url: '/x?a=1#part', override: { attempts: 2 }, marked: '/x?a=1#part~sf=a2' },
    { url: 'https://a.test/', override: { totalMs: 5.2, attemptTimeoutMs: 1 }, marked: 'https://a.test/#~sf=o1.t6' },
    { url: '/x#~sf=a9', override: { attempts: 1 }, marked: '/x#~sf=a1' },
    { url: '/x#part~sf=a9.u1', override: {}, marked: '/x#part' },
    { url: '/x', override: {}, marked: '/x' },
    {
      url: '/x',
      override: { retryNonIdempotent: false, hedge: false, abortId: 'a-1', nonce: 'n-2' },
      marked: '/x#~sf=h.u0.ia-1.nn-2',
    },
  ])('$url, $override', ({ url, override, marked }) => {
    expect(withOverride(url, override)).toBe(marked);
  });

  test.each([
    { hash: '', override: undefined },
    { hash: '#part', override: undefined },
    { hash: '#~sf=', override: undefined },
    { hash: '#~sf=a0', override: undefined },
    { hash: '#~sf=a1.', override: undefined },
    { hash: '#~sf=a-1', override: undefined },
    { hash: '#~sf=a1e3', override: undefined },
    { hash: '#~sf=a999999', override: undefined },
    { hash: '#~sf=z1', override: undefined },
    { hash: `#~sf=i${'x'.repeat(65)}`, override: undefined },
    { hash: `#~sf=${'a1.'.repeat(100)}a1`, override: undefined },
    { hash: '#~sf=u2', override: undefined },
    { hash: '#a~sf=a1~sf=a2', override: { attempts: 2 } },
    { hash: '#part~sf=x', override: { off: true } },
  ])('$hash means $override', ({ hash, override }) => {
    expect(parseOverride(hash)).toEqual(override);
  });

  const word = fc.stringMatching(/^[A-Za-z0-9-]{1,36}$/);
  const overrides = fc.record(
    {
      off: fc.constant(true as const),
      attempts: fc.integer({ min: 1, max: 99_999 }),
      attemptTimeoutMs: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      totalMs: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      hedge: fc.constant(false as const),
      retryNonIdempotent: fc.boolean(),
      abortId: word,
      nonce: word,
    },
    { requiredKeys: [] },
  );

  test('property: what was put in comes out, whatever fragment there was, and the rest of the URL stays', () => {
    fc.assert(
      fc.property(overrides, fc.webUrl({ withFragments: true, withQueryParameters: true }), (override, url) => {
        const marked = withOverride(url, override);
        expect(parseOverride(hashOf(marked)) ?? {}).toEqual(override);
        const [before, after] = [new URL(url), new URL(marked)];
        expect(after.href.split('#')[0]).toBe(before.href.split('#')[0]);
        expect(withOverride(marked, {})).toBe(withOverride(url, {}));
      }),
    );
  });

  test('property: no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseOverride(text);
        parseOverride(`#~sf=${text}`);
        withOverride(text, { attempts: 1 });
      }),
    );
  });
});
