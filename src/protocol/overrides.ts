/**
 * What one call asks for, otherwise than its route says. It travels from the page to the worker in the URL's fragment,
 * which causes no preflight and which no server and no `Response.url` ever sees.
 */
export interface Override {
  /** Leave it alone: not even looked at. */
  readonly off?: true;
  readonly attempts?: number;
  readonly attemptTimeoutMs?: number;
  readonly totalMs?: number;
  /** `false`: not hedged. */
  readonly hedge?: false;
  readonly retryNonIdempotent?: boolean;
  /** By which the page calls it off. */
  readonly abortId?: string;
  /** Shows that the page itself has asked, and not somebody whose URL it fetches. */
  readonly nonce?: string;
}

const MARK = '~sf=';
/** Nothing of ours is longer; what is, is somebody else's. */
const MAX_CHARS = 256;
const WORD = '[A-Za-z0-9-]{1,64}';
const FIELD = new RegExp(
  `^(?:(x)|a([1-9]\\d{0,4})|o([1-9]\\d{0,9})|t([1-9]\\d{0,9})|(h)|u([01])|i(${WORD})|n(${WORD}))$`,
);

/**
 * The URL with the override after whatever fragment it has. One that it carries already is replaced.
 *
 * @param url - absolute or relative: it is not resolved
 */
export function withOverride(url: string, override: Override): string {
  const { off, attempts, attemptTimeoutMs, totalMs, hedge, retryNonIdempotent, abortId, nonce } = override;
  const fields = [
    off && 'x',
    attempts !== undefined && `a${attempts}`,
    attemptTimeoutMs !== undefined && `o${Math.ceil(attemptTimeoutMs)}`,
    totalMs !== undefined && `t${Math.ceil(totalMs)}`,
    hedge === false && 'h',
    retryNonIdempotent !== undefined && `u${Number(retryNonIdempotent)}`,
    abortId !== undefined && `i${abortId}`,
    nonce !== undefined && `n${nonce}`,
  ].filter(Boolean);
  const [before = '', fragment = ''] = halves(url);
  const theirs = withoutMark(fragment);
  return fields.length === 0 && theirs === ''
    ? before
    : `${before}#${theirs}${fields.length ? MARK + fields.join('.') : ''}`;
}

/** What a URL's hash carries; `undefined` if that is nothing, or nothing that this version understands. */
export function parseOverride(hash: string): Override | undefined {
  const at = hash.lastIndexOf(MARK);
  if (at < 0 || hash.length - at > MAX_CHARS) return undefined;
  const override: { -readonly [Key in keyof Override]: Override[Key] } = {};
  for (const field of hash.slice(at + MARK.length).split('.')) {
    const [, off, attempts, attemptTimeoutMs, totalMs, unhedged, repeats, abortId, nonce] = FIELD.exec(field) ?? [];
    if (off) override.off = true;
    else if (attempts) override.attempts = Number(attempts);
    else if (attemptTimeoutMs) override.attemptTimeoutMs = Number(attemptTimeoutMs);
    else if (totalMs) override.totalMs = Number(totalMs);
    else if (unhedged) override.hedge = false;
    else if (repeats) override.retryNonIdempotent = repeats === '1';
    else if (abortId) override.abortId = abortId;
    else if (nonce) override.nonce = nonce;
    else return undefined;
  }
  return override;
}

function halves(url: string): [string, string] {
  const at = url.indexOf('#');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function withoutMark(fragment: string): string {
  // From the first one: another before it would be what the call asks for otherwise.
  const at = fragment.indexOf(MARK);
  return at < 0 ? fragment : fragment.slice(0, at);
}
