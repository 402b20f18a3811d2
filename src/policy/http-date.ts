/**
 * Reads an HTTP-date in any of its three forms as milliseconds since the epoch, or `undefined` when it is none of
 * them (RFC 9110 §5.6.7). Always UTC: a form without a zone is never read in local time, which `Date.parse` does.
 *
 * @param nowMs - decides the century of a two-digit year
 */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text);
  if (imf) return instant(imf[3], imf[2], imf[1], imf[4]);
  const asctime = ASCTIME.exec(text);
  if (asctime) return instant(asctime[4], asctime[1], asctime[2], asctime[3]);
  const rfc850 = RFC_850.exec(text);
  if (rfc850) return twoDigitYear(Number(rfc850[3]), nowMs, (year) => instant(year, rfc850[2], rfc850[1], rfc850[4]));
  return undefined;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(${MONTHS.join('|')})`;
const TIME = '(\\d\\d:\\d\\d:\\d\\d)';
// The weekday has to be one, but need not fit the date: a server that counts weekdays wrongly still says when.
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const DAY_NAME_LONG = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const IMF_FIXDATE = new RegExp(`^${DAY_NAME}, (\\d\\d) ${MONTH} (\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^${DAY_NAME_LONG}, (\\d\\d)-${MONTH}-(\\d\\d) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^${DAY_NAME} ${MONTH} (\\d\\d| \\d) ${TIME} (\\d{4})$`);

function instant(
  year: string | number | undefined,
  month: string | undefined,
  day: string | undefined,
  time: string | undefined,
): number | undefined {
  const [hour = 99, minute = 99, second = 99] = (time ?? '').split(':').map(Number);
  const leapSecond = hour === 23 && minute === 59 && second === 60;
  if (hour > 23 || minute > 59 || (second > 59 && !leapSecond)) return undefined;
  // `Date.UTC` would take the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(Number(year), MONTHS.indexOf(month ?? ''), Number(day));
  if (date.getUTCDate() !== Number(day)) return undefined;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000;
}

/**
 * RFC 9110 §5.6.7: a date that appears to be more than 50 years in the future is one of the past with the same last
 * two digits. The latest such year that is not, in other words.
 */
function twoDigitYear(
  lastDigits: number,
  nowMs: number,
  inYear: (year: number) => number | undefined,
): number | undefined {
  const inFiftyYears = new Date(nowMs);
  const nextCentury = (Math.floor(inFiftyYears.getUTCFullYear() / 100) + 1) * 100;
  inFiftyYears.setUTCFullYear(inFiftyYears.getUTCFullYear() + 50);
  for (const century of [nextCentury, nextCentury - 100, nextCentury - 200]) {
    const at = inYear(century + lastDigits);
    if (at !== undefined && at <= inFiftyYears.getTime()) return at;
  }
  return undefined;
}
