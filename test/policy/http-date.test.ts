import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseHttpDate } from '../../src/policy/http-date.ts';
import { instantMs } from '../support/arbitraries.ts';
import { asctime, imf, rfc850 } from '../support/http-dates.ts';

const NOW = Date.UTC(2026, 6, 5, 12);
const FORTY_NINE_YEARS_S = 49 * 365 * 86_400;

describe('the three forms', () => {
  const example = Date.UTC(1994, 10, 6, 8, 49, 37);
  test.each([
    { text: 'Sun, 06 Nov 1994 08:49:37 GMT', at: example },
    { text: 'Sunday, 06-Nov-94 08:49:37 GMT', at: example },
    { text: 'Sun Nov  6 08:49:37 1994', at: example },
    { text: 'Sun Nov 06 08:49:37 1994', at: example },
    { text: 'Wed, 16 Nov 1994 08:49:37 GMT', at: example + 10 * 86_400_000 },
    { text: 'Wed Nov 16 08:49:37 1994', at: example + 10 * 86_400_000 },
    { text: 'Thu, 01 Jan 1970 00:00:00 GMT', at: 0 },
    { text: 'Wed, 31 Dec 1969 23:59:59 GMT', at: -1_000 },
    { text: 'Fri, 31 Dec 9999 23:59:59 GMT', at: 253_402_300_799_000 },
    { text: 'Mon, 01 Jan 0001 00:00:00 GMT', at: -62_135_596_800_000 },
    { text: 'Sat, 01 Jan 0050 00:00:00 GMT', at: -60_589_296_000_000 },
    { text: 'Tue, 29 Feb 2028 00:00:00 GMT', at: Date.UTC(2028, 1, 29) },
    { text: 'Sat, 31 Dec 2016 23:59:60 GMT', at: Date.UTC(2017, 0, 1) },
    { text: 'Saturday, 31-Dec-16 23:59:60 GMT', at: Date.UTC(2017, 0, 1) },
    { text: 'Sat Dec 31 23:59:60 2016', at: Date.UTC(2017, 0, 1) },
  ])('$text', ({ text, at }) => {
    expect(parseHttpDate(text, NOW)).toBe(at);
  });

  test.each([...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].entries()])(
    'month %i is %s',
    (index, month) => {
      expect(parseHttpDate(`Mon, 02 ${month} 2023 01:02:03 GMT`, NOW)).toBe(Date.UTC(2023, index, 2, 1, 2, 3));
    },
  );

  test.each(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'])(
    '%s is a day in every form, whether it fits the date or not',
    (day) => {
      const at = Date.UTC(2026, 6, 5, 12, 0, 10);
      expect(parseHttpDate(`${day.slice(0, 3)}, 05 Jul 2026 12:00:10 GMT`, NOW)).toBe(at);
      expect(parseHttpDate(`${day}, 05-Jul-26 12:00:10 GMT`, NOW)).toBe(at);
      expect(parseHttpDate(`${day.slice(0, 3)} Jul  5 12:00:10 2026`, NOW)).toBe(at);
    },
  );
});

test.each([
  '',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT ',
  'Sun, 06 Nov 1994 08:49:37 GMT\n',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 94 08:49:37 GMT',
  'Sun, 06 Nov 01994 08:49:37 GMT',
  'Sun, 06-Nov-94 08:49:37 GMT',
  'Sunday, 06-Nov-1994 08:49:37 GMT',
  'Sunday, 06 Nov 1994 08:49:37 GMT',
  'Tuesday, 6-Nov-94 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
  'Sun Nov  6 08:49:37 94',
  'Sun Nov  6 08:49:37 1994 GMT',
  'Sun, 06 Nov 1994 8:49:37 GMT',
  'Sun, 06 Nov 1994 08:49 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:60 GMT',
  'Sun, 06 Nov 1994 23:58:60 GMT',
  'Sun, 06 Nov 1994 22:59:60 GMT',
  'Sun, 06 Nov 1994 23:59:61 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Thu, 31 Nov 1994 08:49:37 GMT',
  'Sun, 32 Dec 1994 08:49:37 GMT',
  'Mon, 29 Feb 2027 00:00:00 GMT',
  'Mon, 29 Feb 2100 00:00:00 GMT',
  'Sun Nov  0 08:49:37 1994',
  'Sun, 06 Foo 1994 08:49:37 GMT',
  'Sun, 06 nov 1994 08:49:37 GMT',
  'sun, 06 Nov 1994 08:49:37 GMT',
  'Foo, 06 Nov 1994 08:49:37 GMT',
  'Foosday, 06-Nov-94 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 gmt',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 Z',
  'Sun, 06 Nov 1994 08:49:37 EST',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 08:49:37 -0400',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37.000 GMT',
  'Sun, 06 Nov 1994 ０8:49:37 GMT',
  '1994-11-06T08:49:37Z',
  '784111777',
])('%j is no HTTP-date', (text) => {
  expect(parseHttpDate(text, NOW)).toBeUndefined();
});

describe('a year of two digits is at most fifty years ahead (RFC 9110 §5.6.7)', () => {
  test.each([
    { text: 'Sunday, 05-Jul-26 12:33:20 GMT', year: 2026 },
    { text: 'Monday, 05-Jul-27 12:00:02 GMT', year: 2027 },
    { text: 'Friday, 05-Jul-75 12:00:02 GMT', year: 2075 },
    { text: 'Saturday, 04-Jul-76 12:00:02 GMT', year: 2076 },
    { text: 'Monday, 06-Jul-76 12:00:02 GMT', year: 1976 },
    { text: 'Monday, 05-Jul-77 12:00:02 GMT', year: 1977 },
    { text: 'Sunday, 05-Jul-99 12:00:02 GMT', year: 1999 },
    { text: 'Wednesday, 05-Jul-00 12:00:02 GMT', year: 2000 },
    { text: 'Thursday, 29-Feb-96 00:00:00 GMT', year: 1996 },
    { text: 'Sunday, 29-Feb-76 00:00:00 GMT', year: 2076 },
  ])('$text is in $year', ({ text, year }) => {
    const at = parseHttpDate(text, NOW);
    expect(at === undefined ? undefined : new Date(at).getUTCFullYear()).toBe(year);
  });

  // 50 years by the calendar, which have 18 261 to 18 263 days: no average year serves.
  test.each([
    '2026-07-05T12:00:00Z',
    '2001-03-01T00:00:00Z',
    '1990-01-01T00:00:00Z',
    '2052-03-01T00:00:00Z',
    '2075-12-31T23:59:59Z',
  ])('from %s exactly fifty years are ahead and a second more is past', (from) => {
    const now = Date.parse(from);
    const date = new Date(now);
    const inFiftyYears = date.setUTCFullYear(date.getUTCFullYear() + 50);
    const hundredYearsBefore = (at: number) => {
      const before = new Date(at);
      return before.setUTCFullYear(before.getUTCFullYear() - 100);
    };
    expect(parseHttpDate(rfc850(inFiftyYears), now)).toBe(inFiftyYears);
    expect(parseHttpDate(rfc850(inFiftyYears + 1_000), now)).toBe(hundredYearsBefore(inFiftyYears + 1_000));
  });

  test('the last year of a century sees the next one', () => {
    const now = Date.UTC(1999, 11, 31, 23, 59, 57);
    expect(parseHttpDate('Saturday, 01-Jan-00 00:00:00 GMT', now)).toBe(now + 3_000);
    expect(parseHttpDate('Friday, 31-Dec-99 23:59:59 GMT', Date.UTC(2000, 0, 1))).toBe(Date.UTC(2000, 0, 1) - 1_000);
  });

  test('29 February of a year that no century within reach has is no date', () => {
    expect(parseHttpDate('Monday, 29-Feb-27 00:00:00 GMT', NOW)).toBeUndefined();
    // 2000 had one, 2100 has none.
    expect(parseHttpDate('Tuesday, 29-Feb-00 00:00:00 GMT', Date.UTC(2099, 0, 1))).toBe(Date.UTC(2000, 1, 29));
  });
});

describe('properties', () => {
  test('every instant from 1970 to 9999 comes back from IMF-fixdate and asctime, whatever the time is now', () => {
    fc.assert(
      fc.property(instantMs, instantMs, (at, now) => {
        expect(parseHttpDate(imf(at), now)).toBe(at);
        expect(parseHttpDate(asctime(at), now)).toBe(at);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an IMF-fixdate is what the platform writes', () => {
    fc.assert(
      fc.property(instantMs, (at) => {
        expect(parseHttpDate(new Date(at).toUTCString(), NOW)).toBe(at);
      }),
    );
  });

  test('every instant within 49 years of now comes back from RFC 850', () => {
    fc.assert(
      fc.property(instantMs, fc.integer({ min: -FORTY_NINE_YEARS_S, max: FORTY_NINE_YEARS_S }), (now, seconds) => {
        const at = now + seconds * 1_000;
        fc.pre(at >= 0 && at <= 253_402_300_799_000);
        expect(parseHttpDate(rfc850(at), now)).toBe(at);
      }),
      { numRuns: 2_000 },
    );
  });

  test('one character changed, added or left out gives a finite instant or none, and never throws', () => {
    const edit = fc.record({
      form: fc.constantFrom(imf, rfc850, asctime),
      at: instantMs,
      position: fc.nat({ max: 40 }),
      remove: fc.constantFrom(0, 1),
      insert: fc.oneof(fc.constant(''), fc.constantFrom(...'0123456789 :,-GMTJan'), fc.string({ maxLength: 1 })),
    });
    fc.assert(
      fc.property(edit, ({ form, at, position, remove, insert }) => {
        const text = form(at);
        const edited = text.slice(0, position) + insert + text.slice(position + remove);
        const read = parseHttpDate(edited, NOW);
        expect(read === undefined || Number.isInteger(read)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('arbitrary text at an arbitrary instant gives a finite instant or none', () => {
    const instant = fc.oneof(instantMs, fc.double(), fc.constantFrom(-8.64e15, 8.64e15));
    fc.assert(
      fc.property(fc.oneof(fc.string(), instantMs.map(rfc850)), instant, (text, now) => {
        const read = parseHttpDate(text, now);
        expect(read === undefined || Number.isFinite(read)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
