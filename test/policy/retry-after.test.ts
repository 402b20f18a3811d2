import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asksForNow, carriesFreshness, parseRetryAfter, serverWaitMs } from '../../src/policy/retry-after.ts';
import { instantMs } from '../support/arbitraries.ts';
import { asctime, imf, rfc850 } from '../support/http-dates.ts';
import { isRight, ROWS } from '../support/retry-after-rows.ts';

const NOW = Date.UTC(2026, 6, 5, 12);
const HOUR_MS = 3_600_000;

// The same rows as in every time zone, but without a process between, so that a step through one reaches the source.
test.each(ROWS)('$id: $header', (row) => {
  const waitMs = parseRetryAfter(row.header, Date.parse(row.now));
  expect({ waitMs, right: isRight(row, waitMs) }).toEqual({ waitMs, right: true });
});

test('the judge of the rows tells right from wrong', () => {
  const row = { id: 'x', header: 'x', now: '', expected_ms: 5, level: 'must' } as const;
  expect(isRight(row, 5)).toBe(true);
  expect(isRight(row, 6)).toBe(false);
  expect(isRight(row, undefined)).toBe(false);
  expect(isRight({ ...row, expected_ms: null }, 0)).toBe(false);
  expect(isRight({ ...row, level: 'latitude', alt_ms: 7 }, 7)).toBe(true);
  expect(isRight({ ...row, level: 'latitude', alt_ms: 7 }, 6)).toBe(false);
  expect(isRight({ ...row, level: 'latitude', expected_min_ms: 7 }, 6)).toBe(false);
  expect(isRight({ ...row, level: 'latitude', expected_min_ms: 7 }, 8)).toBe(true);
});

describe('header values', () => {
  test.each<{ header: string | null | undefined; waits: number | undefined }>([
    { header: undefined, waits: undefined },
    { header: null, waits: undefined },
    { header: '5', waits: 5_000 },
    { header: ' \t5\t ', waits: 5_000 },
    { header: '00', waits: 0 },
    { header: '\u00a05', waits: undefined },
    { header: '5\n', waits: undefined },
    { header: '5\r\nX-Injected: 1', waits: undefined },
    { header: '٥', waits: undefined },
    { header: '-0', waits: undefined },
    { header: '1e3', waits: undefined },
    { header: '0x10', waits: undefined },
    { header: '5s', waits: undefined },
    { header: 'NaN', waits: undefined },
    { header: '2, 5', waits: undefined },
    { header: '9'.repeat(400), waits: Number.MAX_SAFE_INTEGER },
    { header: imf(NOW), waits: 0 },
    { header: imf(NOW - HOUR_MS), waits: 0 },
    { header: rfc850(NOW + 3_000), waits: 3_000 },
    { header: asctime(NOW + 3_000), waits: 3_000 },
  ])('$header waits $waits ms', ({ header, waits }) => {
    expect(parseRetryAfter(header, NOW)).toBe(waits);
  });

  test('what remains of a second is neither rounded up nor down', () => {
    expect(parseRetryAfter(imf(NOW + 3_000), NOW + 1)).toBe(2_999);
    expect(parseRetryAfter(imf(NOW + 3_000), NOW + 999)).toBe(2_001);
  });

  test.each<{ name: string; read: (flood: string) => unknown }>([
    { name: 'parseRetryAfter', read: (flood) => parseRetryAfter(`5${flood}x`, NOW) },
    { name: 'asksForNow', read: (flood) => asksForNow(`${flood}0${flood}x`) },
    {
      name: 'carriesFreshness',
      read: (flood) => carriesFreshness({ cacheControl: `x${flood}max-age`, expires: flood, date: null }, NOW),
    },
  ])('$name reads a value of 50 000 blanks in a moment', ({ read }) => {
    const startedAt = performance.now();
    read(' '.repeat(50_000));
    read('\t'.repeat(50_000));
    read('0'.repeat(50_000));
    // Work in proportion takes well under a millisecond; work that grows with the square takes seconds.
    expect(performance.now() - startedAt).toBeLessThan(250);
  });
});

describe('a server whose clock is not ours', () => {
  const ahead = NOW + HOUR_MS;
  const behind = NOW - HOUR_MS;
  test.each<{
    name: string;
    retryAfter: string | null;
    date: string | null;
    age?: string;
    crossOrigin?: boolean;
    waits: number | undefined;
  }>([
    { name: 'the same clock', retryAfter: imf(NOW + 3_000), date: imf(NOW), waits: 3_000 },
    { name: '1 h ahead', retryAfter: imf(ahead + 3_000), date: imf(ahead), waits: 3_000 },
    { name: '1 h behind', retryAfter: imf(behind + 3_000), date: imf(behind), waits: 3_000 },
    { name: '1 h ahead, RFC 850', retryAfter: rfc850(ahead + 3_000), date: rfc850(ahead), waits: 3_000 },
    { name: '1 h behind, asctime', retryAfter: asctime(behind + 3_000), date: asctime(behind), waits: 3_000 },
    { name: 'past by its own clock', retryAfter: imf(ahead - 1_000), date: imf(ahead), waits: 0 },
    { name: 'ahead, from a cache', retryAfter: imf(ahead + 3_000), date: imf(ahead), age: '7200', waits: 3_603_000 },
    { name: 'ahead, Age 0', retryAfter: imf(ahead + 3_000), date: imf(ahead), age: '0', waits: 3_603_000 },
    { name: 'behind, from a cache', retryAfter: imf(behind + 3_000), date: imf(behind), age: '7200', waits: 0 },
    {
      name: 'ahead, of another origin',
      retryAfter: imf(ahead + 3_000),
      date: imf(ahead),
      crossOrigin: true,
      waits: 3_603_000,
    },
    {
      name: 'behind, of another origin',
      retryAfter: imf(behind + 3_000),
      date: imf(behind),
      crossOrigin: true,
      waits: 0,
    },
    { name: 'no Date', retryAfter: imf(ahead), date: null, waits: HOUR_MS },
    { name: 'a Date that is none', retryAfter: imf(ahead), date: 'yesterday', waits: HOUR_MS },
    { name: 'a Date of seconds', retryAfter: imf(ahead), date: '0', waits: HOUR_MS },
    { name: 'seconds, which no clock changes', retryAfter: '3', date: imf(ahead), waits: 3_000 },
    { name: 'no Retry-After', retryAfter: null, date: imf(ahead), waits: undefined },
    { name: 'a malformed Retry-After', retryAfter: 'soon', date: imf(ahead), waits: undefined },
  ])('$name: $waits ms', ({ retryAfter, date, age = null, crossOrigin = false, waits }) => {
    expect(serverWaitMs({ retryAfter, date, age }, NOW, !crossOrigin)).toBe(waits);
  });

  test('property: where Date is trusted, our own clock does not matter', () => {
    fc.assert(
      fc.property(instantMs, instantMs, fc.nat({ max: 100_000 }), (ours, theirs, seconds) => {
        fc.pre(theirs + seconds * 1_000 <= 253_402_300_799_000);
        const headers = { retryAfter: imf(theirs + seconds * 1_000), date: imf(theirs), age: null };
        expect(serverWaitMs(headers, ours, true)).toBe(seconds * 1_000);
      }),
    );
  });
});

test.each<{ header: string | null; now: boolean }>([
  { header: '0', now: true },
  { header: '000', now: true },
  { header: ' 0\t', now: true },
  { header: null, now: false },
  { header: '', now: false },
  { header: ' ', now: false },
  { header: '1', now: false },
  { header: '10', now: false },
  { header: '01', now: false },
  { header: '-0', now: false },
  { header: '0.0', now: false },
  { header: '0, 0', now: false },
  { header: imf(NOW), now: false },
  { header: 'Thu, 01 Jan 1970 00:00:00 GMT', now: false },
])('$header asks for now: $now', ({ header, now }) => {
  expect(asksForNow(header)).toBe(now);
});

describe('an answer that the browser may serve again', () => {
  const later = imf(NOW + 60_000);
  test.each<{ cacheControl: string | null; expires: string | null; fresh: boolean }>([
    { cacheControl: null, expires: null, fresh: false },
    { cacheControl: 'max-age=60', expires: null, fresh: true },
    { cacheControl: 'Max-Age=60', expires: null, fresh: true },
    { cacheControl: 'max-age="60"', expires: null, fresh: true },
    { cacheControl: 'private, max-age=60', expires: null, fresh: true },
    { cacheControl: 'private,max-age=60,must-revalidate', expires: null, fresh: true },
    { cacheControl: 'max-age=1', expires: null, fresh: true },
    { cacheControl: 'max-age=0', expires: null, fresh: false },
    { cacheControl: 'max-age=00', expires: null, fresh: false },
    { cacheControl: 's-maxage=60', expires: null, fresh: false },
    { cacheControl: 'x-max-age=60', expires: null, fresh: false },
    { cacheControl: 'max-age', expires: null, fresh: false },
    { cacheControl: 'max-age=-60', expires: null, fresh: false },
    { cacheControl: 'no-store', expires: later, fresh: false },
    { cacheControl: 'no-store, max-age=60', expires: later, fresh: false },
    { cacheControl: 'max-age=60, NO-CACHE', expires: later, fresh: false },
    { cacheControl: 'max-age=60,no-cache="set-cookie"', expires: null, fresh: true },
    { cacheControl: 'max-age=0, stale-while-revalidate=60', expires: null, fresh: true },
    { cacheControl: 'max-age=0, stale-while-revalidate=0', expires: null, fresh: false },
    { cacheControl: 'stale-while-revalidate=60', expires: null, fresh: false },
    { cacheControl: 'no-store, max-age=0, stale-while-revalidate=60', expires: null, fresh: false },
    { cacheControl: 'no-storehouse, max-age=60', expires: null, fresh: true },
    { cacheControl: 'private', expires: later, fresh: true },
    { cacheControl: null, expires: later, fresh: true },
    { cacheControl: null, expires: rfc850(NOW + 60_000), fresh: true },
    { cacheControl: null, expires: imf(NOW), fresh: false },
    { cacheControl: null, expires: imf(NOW - 1_000), fresh: false },
    { cacheControl: null, expires: '0', fresh: false },
    { cacheControl: null, expires: '-1', fresh: false },
    { cacheControl: 'max-age=0', expires: later, fresh: false },
    { cacheControl: 'max-age=60', expires: imf(NOW - 1_000), fresh: true },
  ])('$cacheControl and $expires: $fresh', ({ cacheControl, expires, fresh }) => {
    expect(carriesFreshness({ cacheControl, expires, date: null }, NOW)).toBe(fresh);
  });

  test('Expires is measured by the clock of the server that wrote it, where it tells it', () => {
    const [hourAhead, aMinuteLater] = [imf(NOW + 3_600_000), imf(NOW + 3_660_000)];
    expect(carriesFreshness({ cacheControl: null, expires: hourAhead, date: hourAhead }, NOW)).toBe(false);
    expect(carriesFreshness({ cacheControl: null, expires: aMinuteLater, date: hourAhead }, NOW)).toBe(true);
    expect(carriesFreshness({ cacheControl: null, expires: later, date: 'nonsense' }, NOW)).toBe(true);
  });

  test('property: whatever the two headers say, the answer is yes or no', () => {
    fc.assert(
      fc.property(fc.option(fc.string()), fc.option(fc.string()), instantMs, (cacheControl, expires, now) => {
        expect(typeof carriesFreshness({ cacheControl, expires, date: expires }, now)).toBe('boolean');
      }),
    );
  });
});

describe('properties', () => {
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 5 });

  test('delay-seconds of any length, with blanks around: that many seconds', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        blanks,
        blanks,
        fc.nat({ max: 5 }),
        (n, before, after, zeros) => {
          const exact = n * 1_000n;
          const most = BigInt(Number.MAX_SAFE_INTEGER);
          const waits = exact > most ? Number.MAX_SAFE_INTEGER : Number(exact);
          expect(parseRetryAfter(`${before}${'0'.repeat(zeros)}${n}${after}`, NOW)).toBe(waits);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('every instant from 1970 to 9999 as IMF-fixdate and asctime: the time until then, 0 if past', () => {
    fc.assert(
      fc.property(instantMs, instantMs, fc.nat({ max: 999 }), blanks, (at, now, ms, blank) => {
        const waits = Math.max(0, at - (now + ms));
        expect(parseRetryAfter(`${blank}${imf(at)}${blank}`, now + ms)).toBe(waits);
        expect(parseRetryAfter(`${blank}${asctime(at)}${blank}`, now + ms)).toBe(waits);
      }),
      { numRuns: 2_000 },
    );
  });

  test('every instant within 49 years as RFC 850: the time until then, 0 if past', () => {
    fc.assert(
      fc.property(instantMs, fc.integer({ min: -1_546_000_000, max: 1_546_000_000 }), (now, seconds) => {
        const at = now + seconds * 1_000;
        fc.pre(at >= 0 && at <= 253_402_300_799_000);
        expect(parseRetryAfter(rfc850(at), now)).toBe(Math.max(0, seconds * 1_000));
      }),
      { numRuns: 2_000 },
    );
  });

  test('arbitrary text never throws, and is a finite wait of at least 0 or none', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789 \t,.:+-eGMTSunJul') }),
      fc
        .tuple(fc.constantFrom(imf, rfc850, asctime), instantMs, fc.string({ maxLength: 3 }))
        .map(([form, at, more]) => form(at) + more),
    );
    fc.assert(
      fc.property(text, instantMs, (header, now) => {
        const waits = parseRetryAfter(header, now);
        expect(waits === undefined || (Number.isFinite(waits) && waits >= 0)).toBe(true);
        const skewed = serverWaitMs({ retryAfter: header, date: header, age: null }, now, true);
        expect(skewed === undefined || (Number.isFinite(skewed) && skewed >= 0)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
