import { mayMirror } from '../policy/eligibility.js';
import type { RequestFacts } from '../policy/index.js';
import { isForMirrors } from '../policy/mirrors.js';
import type { Call } from './call.js';
import type { OriginKey } from './origin-book.js';

/** A server that a request can be sent to, and what this request has learnt of it. */
export interface Target {
  /** Whose budget, hold and circuit count. */
  readonly key: OriginKey;
  /** The request as this server gets it. */
  readonly facts: RequestFacts;
  /** It is not the one that the page asked. */
  readonly mirror: boolean;
  /** No attempt to it starts before: the latest time that any of its answers has named. */
  notBefore: number | undefined;
  /** An answer of it that carried freshness was discarded: the browser's cache may serve it again. */
  discardedFresh: boolean;
}

/** The server that the page asked, and its mirrors if this request may go to them. */
export function targetsOf({ facts, group, policy, mayAsk = () => true }: Call): readonly [Target, ...Target[]] {
  const target = (origin: string): Target => ({
    key: { origin, group },
    facts: origin === facts.origin ? facts : { ...facts, origin, sameOrigin: false },
    mirror: origin !== facts.origin,
    notBefore: undefined,
    discardedFresh: false,
  });
  const own = target(facts.origin);
  if (policy.mirrors.length === 0 || !mayMirror(facts)) return [own];
  const others = new Set(policy.mirrors.filter((origin) => origin !== facts.origin && mayAsk(origin)));
  return [own, ...[...others].map(target)];
}

/** The same request for another server, who does not learn who asks unless `credentials` says so. */
export function toMirror(request: Request, { key, facts }: Target, credentials: boolean, init: RequestInit): Request {
  const { pathname, search } = new URL(request.url);
  const headers = [...request.headers].filter(([name]) => credentials || isForMirrors(name));
  return new Request(key.origin + pathname + search, {
    method: request.method,
    headers,
    mode: request.mode,
    credentials: credentials && request.credentials !== 'omit' ? 'include' : 'omit',
    cache: request.cache,
    redirect: request.redirect,
    integrity: request.integrity,
    keepalive: request.keepalive,
    // One of another origin cannot be set: the worker's own would take its place.
    referrer: facts.sameReferrer ? request.referrer : '',
    referrerPolicy: request.referrerPolicy,
    ...init,
  });
}
