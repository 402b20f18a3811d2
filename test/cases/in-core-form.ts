/**
 * Rows that ask for one number, as rows that play: the wait that a header asks for, or the wait before one retry. What
 * is of neither form comes back as it is.
 */
export function inCoreForm(row: Fields): Fields {
  const { given, when, then } = row;
  if (!isObject(given) || !isObject(when) || !isObject(then)) return row;
  return ofHeader(row, given, when, then) ?? ofRetry(row, given, when, then) ?? row;
}

type Fields = Readonly<Record<string, unknown>>;

/** `{ header }` → `{ wait_ms }`, where `null` is "what the backoff says". */
function ofHeader(row: Fields, given: Fields, when: Fields, then: Fields): Fields | undefined {
  const { now, ra_max_ms, ra_over, ...moreGiven } = given;
  const { header, ...moreWhen } = when;
  const { wait_ms: waitMs, note, ...moreThen } = then;
  const whole = [moreGiven, moreWhen, moreThen].every(isEmpty);
  if (!whole || waitMs === undefined || !(header === null || typeof header === 'string')) return undefined;
  const told = header === null ? {} : { 'Retry-After': header };
  return {
    ...row,
    given: {
      ...(now === undefined ? {} : { now }),
      policy: {
        attempts: 2,
        statuses: [503],
        delays_ms: [UNTOLD_MS],
        ra_max_ms: ra_max_ms ?? null,
        ...(ra_over === undefined ? {} : { ra_over }),
      },
    },
    when: [{ s: 503, h: told }, 200],
    then: { delays_ms: [waitMs ?? UNTOLD_MS] },
  };
}

/** A wait that no header of a table asks for. */
const UNTOLD_MS = 7;

/** `{ retry_index }` → `{ delay_ms }`, from 0; a list of either is one of each. */
function ofRetry(row: Fields, given: Fields, when: Fields, then: Fields): Fields | undefined {
  const { policy, method, ...moreGiven } = given;
  const { retry_index: asked, random, retry_after_ms: toldMs, ...moreWhen } = when;
  const { delay_ms: delayMs, note, ...moreThen } = then;
  if (![moreGiven, moreWhen, moreThen].every(isEmpty) || !isObject(policy) || delayMs === undefined) return undefined;
  const retries = (Array.isArray(asked) ? asked : [asked]) as unknown[];
  const delays = (Array.isArray(asked) ? delayMs : [delayMs]) as unknown;
  if (!retries.every(isIndex) || !Array.isArray(delays) || delays.length !== retries.length) return undefined;
  const many = Math.max(...retries) + 1;
  const status = Array.isArray(policy.statuses) ? policy.statuses[0] : 503;
  const step = toldMs === undefined ? status : { s: status, h: { 'Retry-After': String(Number(toldMs) / 1_000) } };
  return {
    ...row,
    given: { policy: { ...policy, attempts: many + 1 }, ...(random === undefined ? {} : { random }) },
    when: [...Array.from({ length: many }, () => step), 200],
    then: { delays_ms: Array.from({ length: many }, (_, retry) => delays[retries.indexOf(retry)] ?? ANY) },
  };
}

const ANY = [0, null];

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;

const isIndex = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;
