import type { RequestFacts } from '../policy/index.js';

/**
 * Long polling, as Engine.IO (Socket.IO) and SignalR ask for it. A poll that is sent again beside the first loses its
 * session or a message.
 */
const POLLING = /[?&](transport=(long-?)?polling(&|$)|id=[^&]+&_=\d{13}$)/i;

/** Reads a request once, before anything is sent. Nothing here consumes or changes it. */
export function toFacts(request: Request, url: URL, ownOrigin: string): RequestFacts {
  const { method, mode, headers, referrer, keepalive } = request;
  const { origin, pathname, protocol, search } = url;
  const read = method === 'GET' || method === 'HEAD';
  return {
    method,
    url: origin + pathname,
    protocol,
    origin,
    path: pathname,
    sameOrigin: origin === ownOrigin,
    navigation: mode === 'navigate',
    mode,
    // Some servers' runtimes have no such thing.
    destination: request.destination ?? '',
    cache: request.cache,
    // A key that is empty tells no two requests apart: a server would act on each of them.
    keyed: Boolean(headers.get('Idempotency-Key') || headers.get('X-Idempotency-Key')),
    eventStream: headers.get('Accept')?.includes('text/event-stream') === true,
    range: headers.has('Range'),
    // `undefined` in Firefox, where only the method tells. And not asked of one with `keepalive`: from then on WebKit takes its
    // body for a stream, refuses to send it, original and clone, and the request is lost.
    hasBody: !read && (keepalive || request.body !== null),
    choosy: Boolean(request.integrity) || request.redirect === 'error',
    sameReferrer: !/^https?:/.test(referrer) || referrer.startsWith(`${ownOrigin}/`),
    polling: POLLING.test(search),
    keepalive,
    // Chromium only.
    reloaded: (request as { isReloadNavigation?: boolean }).isReloadNavigation === true,
  };
}
