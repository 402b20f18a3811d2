import { parseHttpDate } from './http-date.js';

/**
 * How long a `Retry-After` value asks to wait from `nowMs`, in milliseconds; `undefined` when the value is absent or
 * malformed, so that ordinary backoff applies (RFC 9110 §10.2.3). Takes delay-seconds and the three HTTP-dates, and
 * nothing else: no signs, fractions, units, lists or numeric zones. A date in the past gives 0.
 *
 * A cap is policy, not parsing: the result may be years.
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const value = withoutOws(header ?? '');
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(value, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}

/**
 * Takes optional whitespace off, which is SP and HTAB (RFC 9110 §5.6.3): `trim` would take more, and a regular
 * expression would take a time that grows with the square of a hostile header's length.
 */
function withoutOws(value: string): string {
  let start = 0;
  let end = value.length;
  while (isOws(value[start])) start++;
  while (end > start && isOws(value[end - 1])) end--;
  return value.slice(start, end);
}

const isOws = (char: string | undefined): boolean => char === ' ' || char === '\t';

/** What an answer says about the time, as its headers. `null`: absent, or hidden from scripts across origins. */
export interface TimeHeaders {
  readonly retryAfter: string | null;
  readonly date: string | null;
  readonly age: string | null;
  readonly rateLimit?: string | null;
}

/**
 * {@link parseRetryAfter} freed of the difference between the server's clock and ours: where the answer tells the
 * origin's time (`Date`, RFC 9110 §6.6.1), a date is measured from there. An answer with an `Age` sat in a cache, so
 * its `Date` says nothing about now (RFC 9111 §5.1).
 */
export function serverWaitMs(headers: TimeHeaders, nowMs: number, sameOrigin: boolean): number | undefined {
  const trusted = sameOrigin && headers.age === null && headers.date !== null;
  const serverNowMs = trusted ? parseHttpDate(headers.date, nowMs) : undefined;
  return parseRetryAfter(headers.retryAfter, serverNowMs ?? nowMs);
}

/** `Retry-After: 0` says "now", where a date in the past only says that waiting is no longer asked for. */
export const asksForNow = (header: string | null): boolean => header !== null && /^[ \t]*0+[ \t]*$/.test(header);

/**
 * Whether an error answer may be stored and served again by the browser's own cache, which would make a retry see the
 * same answer without reaching the server (RFC 9111 §4.2.1: `max-age`, else `Expires`).
 */
export function carriesFreshness(
  { cacheControl, expires, date }: { cacheControl: string | null; expires: string | null; date: string | null },
  nowMs: number,
): boolean {
  if (cacheControl !== null) {
    // With a field name, `no-cache` speaks of that field only (RFC 9111 §5.2.2.4).
    if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/i.test(cacheControl)) return false;
    const [maxAge, stale] = ['max-age', 'stale-while-revalidate'].map((name) => secondsOf(name, cacheControl));
    // Served once more while it is asked for anew (RFC 5861 §3).
    if (maxAge !== undefined) return maxAge > 0 || (stale ?? 0) > 0;
  }
  // Both are the server's clock; ours may be another.
  const serverNowMs = date === null ? undefined : parseHttpDate(date, nowMs);
  return expires !== null && (parseHttpDate(expires, nowMs) ?? 0) > (serverNowMs ?? nowMs);
}

function secondsOf(directive: string, cacheControl: string): number | undefined {
  const [, seconds] = new RegExp(`(?:^|[\\s,])${directive}="?(\\d+)`, 'i').exec(cacheControl) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
