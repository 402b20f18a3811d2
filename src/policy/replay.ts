import { isSafe, type RequestFacts } from './eligibility.js';

/**
 * Which object an attempt fetches. A second `fetch(event.request)` may be answered with the raced response of the
 * first, so later attempts are clones; a request with a body stays whole as long as another attempt may need it.
 */
export const takesOriginal = (
  { hasBody }: RequestFacts,
  { first, last }: { readonly first: boolean; readonly last: boolean },
): boolean => (hasBody ? last : first);

/** How an attempt gets past the browser's own cache. */
export type CacheBypass =
  /** Nothing to get past: fetched without any init, so that nothing about the request changes. */
  | 'not-needed'
  /** Rebuilt with `cache: 'reload'`. */
  | 'reload'
  /** It would have to be rebuilt, and cannot be. */
  | 'impossible';

/**
 * The HTTP cache lets one request per URL through until the first has headers (up to 20 s), and serves an error that
 * carried freshness again. `discardedFresh`: such an answer was discarded; `inFlight`: an earlier attempt has no
 * headers yet.
 */
export function cacheBypass(
  request: RequestFacts,
  { discardedFresh, inFlight }: { discardedFresh: boolean; inFlight: boolean },
): CacheBypass {
  const cached = isRead(request) && (request.cache === 'default' || request.cache === 'force-cache');
  if (!cached || !(discardedFresh || inFlight)) return 'not-needed';
  if (isRebuildable(request)) return 'reload';
  return discardedFresh ? 'impossible' : 'not-needed';
}

const isRead = ({ method }: RequestFacts): boolean => method === 'GET' || method === 'HEAD';

/** Can it be fetched with an init without a change of anything that it has to keep? */
export const mayRebuild = ({ navigation, mode, range, sameReferrer }: RequestFacts): boolean =>
  !navigation && !(mode === 'no-cors' && range) && sameReferrer;

/** And in another cache mode? Any but the default is somebody's wish. */
const isRebuildable = (request: RequestFacts): boolean => request.cache === 'default' && mayRebuild(request);

/** Requests in these cache modes wait for one another; `reload` and `no-store` do not. */
const QUEUING = ['default', 'no-cache', 'force-cache'];

/**
 * Is an overdue attempt cut off when the next one starts, where the policy asks for that? Not of long polling, whose
 * server has nothing to say yet.
 */
export const mayCutOff = (request: RequestFacts): boolean => mayRebuild(request) && !request.polling;

/**
 * May a second attempt start while the first has no answer yet? Only where doing something twice at once is harmless
 * and a late answer can still be used: never for writes or bodies, navigations or long polling. And only where it would
 * not wait behind the first in the HTTP cache.
 */
export function mayRace(request: RequestFacts): boolean {
  if (!isSafe(request.method) || request.hasBody || request.navigation || request.polling) return false;
  return !isRead(request) || !QUEUING.includes(request.cache) || isRebuildable(request);
}
