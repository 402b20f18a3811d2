import type { RetryAfter } from './step.ts';

/** The header's text. Dates have whole seconds, cut off, as the `Date` header has. */
export function toRetryAfter(value: RetryAfter, nowMs: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if ('imf' in value) return new Date(nowMs + value.imf).toUTCString();
  if ('rfc850' in value) return toRfc850(new Date(nowMs + value.rfc850));
  return toAsctime(new Date(nowMs + value.asctime));
}

/** `Sunday, 06-Nov-94 08:49:37 GMT` */
function toRfc850(date: Date): string {
  const weekday = date.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
  const { day, month, year, time } = partsOf(date);
  return `${weekday}, ${day}-${month}-${year.slice(-2)} ${time} GMT`;
}

/** `Sun Nov  6 08:49:37 1994`: the day is padded with a space, and UTC goes without saying. */
function toAsctime(date: Date): string {
  const { weekday, day, month, year, time } = partsOf(date);
  return `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
}

function partsOf(date: Date) {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date.toUTCString().replace(',', '').split(' ');
  return { weekday, day, month, year, time };
}
