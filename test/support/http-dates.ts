const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

function parts(ms: number) {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = DAYS[date.getUTCDay()] ?? '';
  return {
    day,
    shortDay: day.slice(0, 3),
    date: two(date.getUTCDate()),
    spacedDate: String(date.getUTCDate()).padStart(2, ' '),
    month: MONTHS[date.getUTCMonth()] ?? '',
    year: String(date.getUTCFullYear()).padStart(4, '0'),
    time: [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':'),
  };
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` */
export function imf(ms: number): string {
  const { shortDay, date, month, year, time } = parts(ms);
  return `${shortDay}, ${date} ${month} ${year} ${time} GMT`;
}

/** `Sunday, 06-Nov-94 08:49:37 GMT` */
export function rfc850(ms: number): string {
  const { day, date, month, year, time } = parts(ms);
  return `${day}, ${date}-${month}-${year.slice(-2)} ${time} GMT`;
}

/** `Sun Nov  6 08:49:37 1994` */
export function asctime(ms: number): string {
  const { shortDay, spacedDate, month, year, time } = parts(ms);
  return `${shortDay} ${month} ${spacedDate} ${time} ${year}`;
}
