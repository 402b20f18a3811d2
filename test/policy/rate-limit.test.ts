import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateLimitWaitMs } from '../../src/policy/rate-limit.ts';

describe('a quota that is used up says when there is more', () => {
  test.each<{ header: string; waitMs: number }>([
    { header: '"default";r=0;t=30', waitMs: 30_000 },
    { header: '"default";t=30;r=0', waitMs: 30_000 },
    { header: '"default"; r=0;  t=30', waitMs: 30_000 },
    { header: '  "default";r=0;t=30  ', waitMs: 30_000 },
    { header: '"default";r=0;t=0', waitMs: 0 },
    { header: '"default";r=00;t=007', waitMs: 7_000 },
    { header: '"default";r=0;t=999999999999999', waitMs: Number.MAX_SAFE_INTEGER },
    { header: '"";r=0;t=1', waitMs: 1_000 },
    { header: '"a \\"b\\" \\\\, c;r=5";r=0;t=1', waitMs: 1_000 },
    { header: '"default";r=0;pk=:cHsdsRa894==:;t=2', waitMs: 2_000 },
    { header: '"default";q=1.5;w;u=?0;v=tok/en:1;x="y";r=0;t=2;at=@1659578233;d=%"f%c3%bc"', waitMs: 2_000 },
    { header: '"default";*k.-_9=1;r=0;t=2', waitMs: 2_000 },
    // Said twice, the last one counts.
    { header: '"default";r=5;r=0;t=9;t=3', waitMs: 3_000 },
    { header: '"burst";r=0;t=1, "daily";r=10;t=3600', waitMs: 1_000 },
    { header: '"burst";r=0;t=1,"daily";r=0;t=20', waitMs: 20_000 },
    { header: '"daily";r=0;t=20 \t, \t"burst";r=0;t=1', waitMs: 20_000 },
    { header: '"daily";r=0, "burst";r=0;t=1', waitMs: 1_000 },
  ])('$header: $waitMs ms', ({ header, waitMs }) => {
    expect(rateLimitWaitMs(header)).toBe(waitMs);
  });
});

describe('says nothing', () => {
  test.each<{ why: string; header: string | null | undefined }>([
    { why: 'absent', header: null },
    { why: 'unknown', header: undefined },
    { why: 'empty', header: '' },
    { why: 'something is left', header: '"default";r=1;t=30' },
    { why: 'no time', header: '"default";r=0' },
    { why: 'nothing of what is left', header: '"default";t=30' },
    { why: 'a name alone', header: '"default"' },
    { why: 'another parameter that ends alike', header: '"default";xr=0;xt=5' },
  ])('$why', ({ header }) => {
    expect(rateLimitWaitMs(header)).toBeUndefined();
  });

  test.each([
    'default;r=0;t=30',
    'limit=100, remaining=0, reset=30',
    'r=0;t=30',
    '0;r=0;t=30',
    '("default");r=0;t=30',
    '"default;r=0;t=30',
    'default";r=0;t=30',
    '"def\\ault";r=0;t=30',
    '"défaut";r=0;t=30',
    '"de\tfault";r=0;t=30',
    '\t"default";r=0;t=30',
    '"default" ;r=0;t=30',
    '"default";r =0;t=30',
    '"default";r= 0;t=30',
    '"default";r=0;t=',
    '"default";r=;t=30',
    '"default";r;t=30',
    '"default";r=0;t',
    '"default";r="0";t=30',
    '"default";r=0;t="30"',
    '"default";r=0;t=30s',
    '"default";r=0;t=-1',
    '"default";r=-1;t=30',
    '"default";r=0;t=+30',
    '"default";r=0;t=30.5',
    '"default";r=0.0;t=30',
    '"default";r=0;t=3e1',
    '"default";r=0;t=1234567890123456',
    '"default";r=0;t=?1',
    '"default";R=0;T=30',
    '"default";r=0;t=30;',
    '"default";r=0;t=30;;',
    '"default";r=0;t=30;X=1',
    '"default";r=0;t=30;x=1.2345',
    '"default";r=0;t=30;x=:a b:',
    '"default";r=0;t=30;x=%"A%C3"',
    '"default";r=0;t=30,',
    ', "default";r=0;t=30',
    '"a";r=0;t=30,,"b";r=1;t=1',
    '"a";r=0;t=30 "b";r=1;t=1',
    '"a";r=0;t=30, b;r=1;t=1',
    '"a";r=0;t=30, "b";r=x;t=1',
    '"a";r=0;t=30\n',
  ])('malformed: %s', (header) => {
    expect(rateLimitWaitMs(header)).toBeUndefined();
  });
});

describe('hostile values', () => {
  test('a flood is not read', () => {
    const item = '"default";r=0;t=30';
    expect(rateLimitWaitMs(Array(100).fill(item).join(', '))).toBe(30_000);
    expect(rateLimitWaitMs(Array(100_000).fill(item).join(', '))).toBeUndefined();
  });

  test.each<{ name: string; header: string }>([
    { name: 'spaces', header: ' '.repeat(4_000) },
    { name: 'a string without an end', header: `"${'\\"'.repeat(2_000)}` },
    { name: 'digits', header: `"a";r=${'0'.repeat(4_000)}` },
    { name: 'bytes without an end', header: `"a";x=:${'A'.repeat(4_000)}` },
    { name: 'spaces in a parameter', header: `"a";${' '.repeat(4_000)}!` },
    { name: 'a display string without an end', header: `"a";x=%"${'%c3'.repeat(1_300)}` },
  ])('$name: takes no time', ({ header }) => {
    const startedAt = performance.now();
    for (let n = 0; n < 100; n += 1) expect(rateLimitWaitMs(header)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test('one value leaves nothing behind for the next', () => {
    for (const header of ['"a";r=0;t=3', 'x', '"a";r=0;t=3', '"a', '"a";r=0;t=3'])
      expect(rateLimitWaitMs(header)).toBe(header.endsWith('3') ? 3_000 : undefined);
  });

  test('property: whatever it is, a wait or nothing, and no throw', () => {
    const alphabet = [...'";=, rt019-.:?@%*\\az\t', '"a";r=0;t=3', ';r=0', ';t=5'];
    const near = fc.array(fc.constantFrom(...alphabet)).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), near), (header) => {
        const waitMs = rateLimitWaitMs(header);
        expect(waitMs === undefined || (Number.isSafeInteger(waitMs) && waitMs >= 0)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('property: what is written by the rules is read', () => {
    const name = fc.string().map((text) => text.replace(/[^ -~]/g, '').replace(/[\\"]/g, '\\$&'));
    const count = fc.nat({ max: 10 ** 6 });
    const more = fc.subarray([';a', ';b=?1', ';c=to*ken', ';d="x, y"', ';e=-1.25', ';f=:AA==:', '; g=-7']);
    const item = fc.record({ name, r: fc.oneof(fc.constant(0), count), t: count, first: fc.boolean(), more });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), (items) => {
        const header = items
          .map(
            ({ name, r, t, first, more }) => `"${name}"${more.join('')}${first ? `;r=${r};t=${t}` : `;t=${t};r=${r}`}`,
          )
          .join(', ');
        fc.pre(header.length <= 4_096);
        const usedUp = items.filter(({ r }) => r === 0).map(({ t }) => t * 1_000);
        expect(rateLimitWaitMs(header)).toBe(usedUp.length === 0 ? undefined : Math.max(...usedUp));
      }),
    );
  });
});

test('4096 characters are read, one more is not', () => {
  const of = (length: number) => `"${'a'.repeat(length - 10)}";r=0;t=9`;
  expect([of(4_096).length, rateLimitWaitMs(of(4_096)), rateLimitWaitMs(of(4_097))]).toEqual([4_096, 9_000, undefined]);
});
