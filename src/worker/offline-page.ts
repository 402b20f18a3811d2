import type { RequestFacts } from '../policy/index.js';
import { OFFLINE_CACHE } from '../protocol/index.js';

/** A page to be shown in place of documents that cannot be had. */
export interface OfflinePage {
  /** May it stand in for this request? A form is not shown as if it had been sent. */
  fits(facts: RequestFacts): boolean;
  /** `document`, or the page with status 503 if nothing can be reached. */
  insteadOf(document: Promise<Response>): Promise<Response>;
  listen(): void;
  /** Lets go of it. */
  destroy(): Promise<unknown>;
}

export function createOfflinePage(
  scope: ServiceWorkerGlobalScope,
  path: string,
  onProblem: (problem: unknown) => void,
): OfflinePage {
  const { href } = new URL(path, scope.location.origin);
  // Workers of other scopes have their own.
  const cacheName = `${OFFLINE_CACHE} ${scope.registration.scope}`;

  /** Anew with each version of the worker; one that cannot be had leaves the last. */
  async function fetchIt(): Promise<void> {
    const cache = await scope.caches.open(cacheName);
    const page = await fetch(new Request(href, { cache: 'reload' }));
    // A login page in its place is not it.
    if (!page.ok || page.redirected) throw new TypeError(`it is answered with ${page.status} by ${page.url}`);
    await cache.put(href, page);
  }

  /** That of the last version: until this one is active, that one shows it. */
  async function forgetOthers(): Promise<void> {
    const cache = await scope.caches.open(cacheName);
    for (const other of await cache.keys()) if (other.url !== href) await cache.delete(other);
  }

  async function load(): Promise<Response | undefined> {
    const found = await scope.caches.match(href, { cacheName });
    // Whoever asks for it is to know that this is not what was asked for, and nobody is to keep it.
    const type = found?.headers.get('Content-Type') ?? 'text/html';
    const headers = { 'Content-Type': type, 'Cache-Control': 'no-store' };
    return found && new Response(found.body, { status: 503, statusText: 'Service Unavailable', headers });
  }

  return {
    fits: ({ navigation, method }) => navigation && method === 'GET',
    async insteadOf(document) {
      try {
        return await document;
      } catch (error) {
        const page = await load().catch(onProblem);
        if (page) return page;
        throw error;
      }
    },
    listen() {
      scope.addEventListener('install', (event) => event.waitUntil(fetchIt().catch(onProblem)));
      scope.addEventListener('activate', (event) => event.waitUntil(forgetOthers().catch(onProblem)));
    },
    destroy: () => scope.caches.delete(cacheName),
  };
}
