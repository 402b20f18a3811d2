/**
 * How long a `RateLimit` header asks to wait because nothing is left, in milliseconds; `undefined` if it leaves
 * something, names no time or is malformed (draft-ietf-httpapi-ratelimit-headers: a list of Strings, each the name of a
 * quota policy, with `r`, what remains of it, and `t`, the seconds until there is more). Of several policies that are
 * used up the longest time counts.
 *
 * Strict: one malformed item makes the whole value malformed (RFC 9651 §4.2). Not read: the dictionary of earlier
 * drafts, and the headers named `RateLimit-Reset` and the like, which some servers fill with seconds and some with dates.
 */
export function rateLimitWaitMs(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined || header.length > MAX_CHARS || !LIST.test(header)) return undefined;
  let longestS: number | undefined;
  for (const [, parameters = ''] of header.matchAll(ITEMS)) {
    // Said twice, the last one counts; without a value it is true (RFC 9651 §4.2.3.2).
    const { r, t } = Object.fromEntries(
      Array.from(parameters.matchAll(PARAMETERS), ([, key = '', value = '?1']) => [key, value]),
    );
    if (!isCount(r) || !isCount(t)) return undefined;
    if (Number(r) === 0 && t !== undefined) longestS = Math.max(longestS ?? 0, Number(t));
  }
  return longestS === undefined ? undefined : Math.min(longestS * 1_000, Number.MAX_SAFE_INTEGER);
}

const isCount = (value: string | undefined): boolean => value === undefined || /^\d+$/.test(value);

/** Servers name a handful of policies; what is longer is not read at all. */
const MAX_CHARS = 4_096;

// RFC 9651 §4.2. No text fits any of them in two ways, so that reading takes a time in proportion to its length.
const STRING = '"(?:[ !#-[\\]-~]|\\\\["\\\\])*"';
/** Decimal, integer, token, byte sequence, boolean, date, display string. */
const OTHER =
  '-?\\d{1,12}\\.\\d{1,3}|-?\\d{1,15}|[A-Za-z*][\\w!#$%&\'*+.^`|~:/-]*|:[A-Za-z0-9+/=]*:|\\?[01]|@-?\\d{1,15}|%"(?:[ !#$&-~]|%[\\da-f]{2})*"';
const parameter = (open: string) => `; *${open}[a-z*][a-z0-9_.*-]*)(?:=${open}${STRING}|${OTHER}))?`;
const ITEM = `${STRING}((?:${parameter('(?:')})*)`;
const OWS = '[ \\t]*';
const LIST = new RegExp(`^ *${ITEM}(?:${OWS},${OWS}${ITEM})*${OWS}$`);
const ITEMS = new RegExp(ITEM, 'g');
const PARAMETERS = new RegExp(parameter('('), 'g');
