import { type ContentRange, parseContentRange, toNumber } from './content-range.js';
import type { RequestFacts } from './eligibility.js';
import { parseHttpDate } from './http-date.js';
import type { RetryPolicy } from './policy.js';
import { mayRebuild } from './replay.js';

/** The headers of an answer, and whether it may have others that cannot be read (`cors`). */
export interface Head {
  readonly status: number;
  readonly cors: boolean;
  header(name: string): string | null;
}

/** How an answer can be gone on with if it breaks off. */
export interface ResumePlan {
  /** What it is known by: only a later answer with the same is about the same bytes. */
  readonly validator: { readonly name: 'ETag' | 'Last-Modified'; readonly value: string };
  /** Absent where it was not declared: then the network says what its end is, or the server does when it is asked. */
  readonly total?: number;
  readonly cors: boolean;
}

/** A resumption that brings less than this before it breaks off as well is one that has failed. */
export const PROGRESS_BYTES = 65_536;

/**
 * May the rest of this request's answer be asked for? Only what is read by a script: a rebuilt `no-cors` request loses its
 * `Range`, and a document cannot be rebuilt. A range that the page itself has asked for is its own.
 */
export const mayResume = (request: RequestFacts, policy: RetryPolicy): boolean =>
  policy.resume &&
  request.method === 'GET' &&
  (request.mode === 'cors' || request.mode === 'same-origin') &&
  !request.range &&
  !request.choosy &&
  mayRebuild(request);

/**
 * Can this answer be gone on with? It takes bytes as they are (a range is one of the encoded bytes, and decoded ones are what
 * we get, RFC 9110 §8.4), a server that has ranges, and a validator that is the same for the same bytes only.
 */
export function resumePlan({ status, cors, header }: Head): ResumePlan | undefined {
  if (status !== 200 || isEncoded(header) || !hasByteRanges(header('Accept-Ranges'))) return undefined;
  const validator = strongValidator(header);
  const length = header('Content-Length');
  const total = toNumber(length ?? '');
  // Of another origin's headers the encoding may be one that cannot be read, and a length that then fits no range gives it away.
  if (validator === undefined || (total === undefined && (cors || length !== null))) return undefined;
  return { validator, cors, ...(total === undefined ? {} : { total }) };
}

/** What the answer to a request for the rest is. */
export type Rest =
  /** The bytes from where it broke off to `last`. */
  | { readonly kind: 'part'; readonly last: number; readonly total?: number }
  /** There are no more. */
  | { readonly kind: 'complete' }
  /** Nothing that fits; `why` completes "the answer ...". */
  | { readonly kind: 'unfit'; readonly why: string };

/** Is this the rest, from byte `from` on? Every piece is held against the plan: what does not fit is never glued on. */
export function checkPartial({ status, header }: Head, from: number, plan: ResumePlan): Rest {
  const range = parseContentRange(header('Content-Range'));
  if (status === 416) return checkNoMore(range, from, header, plan);
  if (status === 200) return unfit('is a whole one: it has changed, or its server has no ranges after all');
  if (status !== 206) return unfit(`has status ${status}`);
  if (isEncoded(header)) return unfit('is encoded');
  if (/^multipart\/byteranges\b/i.test(header('Content-Type') ?? '')) return unfit('has several parts, or says so');
  if (range === undefined || !('first' in range)) return unfit('does not say which part of the whole it is');
  const { first, last, total = plan.total } = range;
  if (first !== from) return unfit(`begins at byte ${first} instead of ${from}`);
  if (total !== plan.total && plan.total !== undefined) return unfit(`is of ${total} bytes instead of ${plan.total}`);
  if (total !== undefined && last >= total) return unfit('goes on past the end');
  // Where an encoding could be hidden, the length is what would give it away.
  if (plan.cors && range.total === undefined) return unfit('does not say how long the whole is');
  if (!isSame(header, plan)) return unfit(`has another ${plan.validator.name}`);
  const length = header('Content-Length');
  if (length !== null && toNumber(length) !== last - first + 1) return unfit('has another length than its range');
  return { kind: 'part', last, ...(total === undefined ? {} : { total }) };
}

/** Everything was there already, and only the end of it was lost. */
function checkNoMore(range: ContentRange | undefined, from: number, header: Head['header'], plan: ResumePlan): Rest {
  const atEnd = range !== undefined && !('first' in range) && range.total === from;
  const whole = atEnd && (plan.total ?? from) === from && isSame(header, plan);
  return whole ? { kind: 'complete' } : unfit('has status 416');
}

const unfit = (why: string): Rest => ({ kind: 'unfit', why });

/** An answer to `If-Range` need not repeat a date; to other origins that is not sent, and then the answer has to prove itself. */
function isSame(header: Head['header'], { validator: { name, value }, cors }: ResumePlan): boolean {
  const theirs = header(name);
  return theirs === value || (theirs === null && !cors);
}

/** Are the bytes that we get others than those on the wire? */
export const isEncoded = (header: Head['header']): boolean =>
  !/^(?:identity)?$/i.test(header('Content-Encoding')?.trim() ?? '');

const hasByteRanges = (value: string | null): boolean =>
  (value ?? '').split(',').some((unit) => unit.trim().toLowerCase() === 'bytes');

/** RFC 9110 §8.8.3: `W/` is weak. Only an answer that has no entity tag may be known by its date (§13.1.5). */
function strongValidator(header: Head['header']): ResumePlan['validator'] | undefined {
  const etag = header('ETag');
  if (etag !== null) return /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag) ? { name: 'ETag', value: etag } : undefined;
  const value = header('Last-Modified');
  const instant = (date: string | null) => parseHttpDate(date ?? '', 0) ?? Number.NaN;
  // §8.8.2.2: a second change within the same second would not show. A minute allows for two clocks.
  const settled = instant(header('Date')) - instant(value) >= MODIFIED_BEFORE_MS;
  return value !== null && settled ? { name: 'Last-Modified', value } : undefined;
}

const MODIFIED_BEFORE_MS = 60_000;
