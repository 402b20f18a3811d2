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
    { url: '/x#', override: {}, marked: '/x' },
    { url: '#part', override: { off: true }, marked: '#part~sf=x' },
    { url: '', override: { off: true }, marked: '#~sf=x' },
    { url: '/x#part', override: {}, marked: '/x#part' },
    // What comes out from behind another mark is no fragment of the page's.
    { url: '/x#part~sf=x~sf=a9', override: {}, marked: '/x#part' },
    { url: '/x#~sf=x~sf=a9', override: { hedge: false }, marked: '/x#~sf=h' },
    { url: '/x#one#two', override: { off: true }, marked: '/x#one#two~sf=x' },
    {
      url: '/x',
      override: { retryNonIdempotent: true, attempts: 10_000, totalMs: 0.2 },
      marked: '/x#~sf=a10000.t1.u1',
    },
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
    { hash: '#~sf=xx', override: undefined },
    // Without a mark nothing of it is read, and at the very beginning it is one.
    { hash: '#abx', override: undefined },
    { hash: '~sf=x', override: { off: true } },
    { hash: '#~sf=x1', override: undefined },
    { hash: '#~sf=hh', override: undefined },
    { hash: '#~sf=h', override: { hedge: false } },
    { hash: '#~sf=u0', override: { retryNonIdempotent: false } },
    { hash: '#~sf=u1', override: { retryNonIdempotent: true } },
    { hash: '#~sf=a99999.o9999999999.t1', override: { attempts: 99_999, attemptTimeoutMs: 9_999_999_999, totalMs: 1 } },
    { hash: '#~sf=o0', override: undefined },
    { hash: '#~sf=t0', override: undefined },
    { hash: '#~sf=o99999999999', override: undefined },
    { hash: '#~sf=t99999999999', override: undefined },
    {
      hash: `#~sf=i${'x'.repeat(64)}.n${'y'.repeat(64)}`,
      override: { abortId: 'x'.repeat(64), nonce: 'y'.repeat(64) },
    },
    { hash: '#~sf=i', override: undefined },
    { hash: '#~sf=n', override: undefined },
    { hash: '#~sf=n_', override: undefined },
    // As long as something of ours may be, and a character longer.
    { hash: `#~sf=${'x.'.repeat(125)}a9`, override: { off: true, attempts: 9 } },
    { hash: `#~sf=${'x.'.repeat(125)}a10`, override: undefined },
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

  test('property: a URL is marked once, and one that asks for nothing carries nothing, whatever fragment it had', () => {
    const fragment = fc
      .array(fc.oneof(fc.string(), fc.constantFrom('~sf=', '~sf=x', '#', 'a1', '.')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(overrides, overrides, fragment, (one, other, part) => {
        const marked = withOverride(`/x#${part}`, one);
        expect(withOverride(marked, other)).toBe(withOverride(`/x#${part}`, other));
        const bare = withOverride(marked, {});
        expect(bare).not.toContain('~sf=');
        expect(withOverride(bare, {})).toBe(bare);
      }),
    );
  });

  test('property: what is understood is what could have been put in', () => {
    const field = fc.oneof(fc.stringMatching(/^[xaothuin]?[\w-]{0,12}$/), fc.string());
    fc.assert(
      fc.property(fc.array(field, { maxLength: 6 }), (fields) => {
        const override = parseOverride(`#~sf=${fields.join('.')}`);
        if (override === undefined) return;
        expect(parseOverride(hashOf(withOverride('/x', override)))).toEqual(override);
      }),
      { numRuns: 500 },
    );
  });
});
