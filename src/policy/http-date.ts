/**
 * Reads an HTTP-date in any of its three forms as milliseconds since the epoch, or `undefined` when it is none of
 * them (RFC 9110 §5.6.7). Always UTC: a form without a zone is never read in local time, which `Date.parse` does.
 *
 * @param nowMs - decides the century of a two-digit year
 */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  const whole = partsOf(IMF_FIXDATE, text) ?? partsOf(ASCTIME, text);
  if (whole) return instant(Number(whole.year), whole);
  const short = partsOf(RFC_850, text);
  return short && twoDigitYear(Number(short.year), nowMs, (year) => instant(year, short));
}

/** What each of the three forms has, as text. */
interface Parts {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

const partsOf = (form: RegExp, text: string): Parts | undefined => form.exec(text)?.groups as Parts | undefined;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
// The weekday has to be one, but need not fit the date: a server that counts weekdays wrongly still says when.
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const DAY_NAME_LONG = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const IMF_FIXDATE = new RegExp(`^${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^${DAY_NAME_LONG}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^${DAY_NAME} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`);

function instant(year: number, parts: Parts): number | undefined {
  const [day, hour, minute, second] = [
    Number(parts.day),
    Number(parts.hour),
    Number(parts.minute),
    Number(parts.second),
  ];
  const leapSecond = hour === 23 && minute === 59 && second === 60;
  if (hour > 23 || minute > 59 || (second > 59 && !leapSecond)) return undefined;
  // `Date.UTC` would take the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, MONTHS.indexOf(parts.month), day);
  if (date.getUTCDate() !== day) return undefined;
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
