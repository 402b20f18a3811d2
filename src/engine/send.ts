import type { RequestFacts } from '../policy/index.js';
import { cacheBypass, mayCutOff, mayRebuild, takesOriginal } from '../policy/replay.js';
import type { Call, Engine } from './call.js';
import type { Flights } from './flights.js';
import { type Target, toMirror } from './target.js';

/** How the attempts of one request go out. */
export interface Sender {
  /** Is an overdue attempt cut off when the next one starts? */
  readonly cutsOff: boolean;
  /** Sends the next attempt; `last`: there can be no other after it. Throws only if our own machinery fails. */
  send(target: Target, last: boolean): Promise<Response>;
  /** Can another attempt get past the browser's own cache? */
  canPass(target: Target): boolean;
}

/** What is ever changed about a request is changed in here, and nowhere else. */
export function createSender({ request, facts, policy }: Call, flights: Flights, { ports }: Engine): Sender {
  const cutsOff = policy.cancelTimedOut && mayCutOff(facts);

  // Another server's answer is another entry of the cache.
  const bypass = ({ mirror, discardedFresh }: Target) =>
    cacheBypass(facts, { discardedFresh, inFlight: !mirror && flights.inFlight.size > 0 });

  /** While the device is offline even the last attempt takes a clone, because it will not count. */
  const take = (first: boolean, last: boolean): Request =>
    takesOriginal(facts, { first, last }) && (first || ports.isOnline()) ? request : request.clone();

  return {
    cutsOff,
    canPass: (target) => bypass(target) !== 'impossible',
    send(target, last) {
      const attempt = flights.launched + 1;
      const reload = bypass(target) === 'reload';
      const told = policy.retryAttemptHeader && attempt > 1 && target.facts.sameOrigin && mayTell(facts);
      const init = {
        ...(reload ? { cache: 'reload' as const } : {}),
        ...(told ? { headers: withAttempt(request.headers, attempt - 1) } : {}),
      };
      if (!reload && !told && !cutsOff && !target.mirror) return started(take(attempt === 1, last));
      // Any init costs the same; where there is one, it may as well be possible to call the attempt off.
      const controller = new AbortController();
      flights.controllers.set(attempt, controller);
      const { signal } = controller;
      if (target.mirror) return started(toMirror(request, target, policy.mirrorCredentials, { ...init, signal }));
      const { referrer, referrerPolicy } = request;
      return started(take(attempt === 1, last), { ...init, referrer, referrerPolicy, signal });
    },
  };

  // Async, so that a fetch that throws is an outcome like any other.
  async function started(sent: Request, init?: RequestInit): Promise<Response> {
    const response = await (init === undefined ? ports.fetch(sent) : ports.fetch(sent, init));
    // It was refused on this side, and only of what the page has asked can the page be told.
    if (response.type === 'error' && sent.url !== request.url) throw new TypeError('Failed to fetch');
    return response;
  }
}

/** Without CORS the browser would drop the header, and the request would be rebuilt for nothing. */
const mayTell = (facts: RequestFacts): boolean => facts.mode !== 'no-cors' && mayRebuild(facts);

/** As the Fetch Retry proposal names it; a first attempt has none. */
function withAttempt(headers: Headers, retry: number): Headers {
  const more = new Headers(headers);
  more.set('Retry-Attempt', String(retry));
  return more;
}
