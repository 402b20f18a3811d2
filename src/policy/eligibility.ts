import type { RetryPolicy } from './policy.js';

/** What is known of a request before anything is sent, as plain data. */
export interface RequestFacts {
  readonly method: string;
  /** Without query and fragment: what events may show. */
  readonly url: string;
  readonly protocol: string;
  readonly origin: string;
  readonly path: string;
  readonly sameOrigin: boolean;
  /** A document for a tab or a frame: `mode` is `navigate`. */
  readonly navigation: boolean;
  readonly mode: string;
  readonly destination: string;
  readonly cache: string;
  /** Carries `Idempotency-Key` or `X-Idempotency-Key`. */
  readonly keyed: boolean;
  /** `Accept` names `text/event-stream`. */
  readonly eventStream: boolean;
  readonly range: boolean;
  /** False only where that is certain: of GET and HEAD, and where `Request.body` is there and may be asked. */
  readonly hasBody: boolean;
  /** It may refuse an answer by itself (`integrity`, `redirect: 'error'`), which looks like a lost connection. */
  readonly choosy: boolean;
  /** Its referrer is of this origin, or none: a rebuilt request can send the same. */
  readonly sameReferrer: boolean;
  /** Its server answers when there is news, and once. */
  readonly polling: boolean;
  /** It is to outlive its page. */
  readonly keepalive: boolean;
  /** The user has reloaded the page. */
  readonly reloaded: boolean;
}

/** Why a request is left alone: the worker does not intercept it at all. */
export type SkipReason =
  | 'protocol'
  | 'retry-off'
  | 'method'
  | 'only-if-cached'
  | 'event-stream'
  | 'media-range'
  | 'destination';

export const IDEMPOTENT_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', 'TRACE'] as const;
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE'];

/** Safe in the sense of RFC 9110 §9.2.1: the client asks for no change. */
export const isSafe = (method: string): boolean => SAFE_METHODS.includes(method);

/**
 * May this request be sent again if need be? `undefined` means yes. Settled before anything is sent, because a request
 * that will not be retried must not be intercepted.
 */
export function skipReason(request: RequestFacts, policy: RetryPolicy | false): SkipReason | undefined {
  if (request.protocol !== 'https:' && request.protocol !== 'http:') return 'protocol';
  if (policy === false || !looksAfter(request, policy)) return 'retry-off';
  if (!methodAllowed(request, policy)) return 'method';
  // Legal or not, its miss is an answer of the cache, and no server can mend it.
  if (request.cache === 'only-if-cached') return 'only-if-cached';
  if (request.eventStream) return 'event-stream';
  if (request.range && MEDIA.includes(request.destination) && !policy.mediaRanges) return 'media-range';
  if (UNTOUCHED.includes(request.destination)) return 'destination';
  return undefined;
}

/** One that may be refused, or asked of a mirror, is looked at even if it is never repeated. */
const looksAfter = (request: RequestFacts, { attempts, circuit, mirrors }: RetryPolicy): boolean =>
  attempts > 1 || circuit === 'reject' || (mirrors.length > 0 && mayMirror(request));

/**
 * May this request be answered by another server? Only what is read, and no documents or workers, whose origin is what
 * they are; nor what another server could not answer as well: without CORS there is neither integrity nor a range.
 */
export const mayMirror = ({ method, mode, destination, choosy, range }: RequestFacts): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (mode === 'cors' || (mode === 'no-cors' && !choosy && !range)) &&
  !['worker', 'sharedworker', 'serviceworker', 'document', 'iframe', 'frame'].includes(destination);

const MEDIA = ['audio', 'video', 'track'];
const UNTOUCHED = ['embed', 'object', 'report'];

/**
 * RFC 9110 §9.2.2: a method that is not idempotent is not repeated by itself. A key (the Idempotency-Key draft) or the
 * user's own word makes it so.
 */
function methodAllowed({ method, keyed }: RequestFacts, policy: RetryPolicy): boolean {
  if (policy.methods.includes(method)) return true;
  const idempotent = (IDEMPOTENT_METHODS as readonly string[]).includes(method);
  return !idempotent && (keyed || policy.retryNonIdempotent);
}

/** What shares a budget within an origin, so that a failing API never throttles images. */
export type Group = 'page' | 'asset' | 'data' | (string & {});

export function groupOf(request: RequestFacts): Group {
  if (request.navigation) return 'page';
  return request.destination === '' ? 'data' : 'asset';
}
