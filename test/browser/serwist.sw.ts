import { BackgroundSyncPlugin, CacheFirst, NetworkFirst, NetworkOnly, Serwist, StaleWhileRevalidate } from 'serwist';
import { constant, retryHandler, withRetry } from '../../src/workbox/index.ts';

const { searchParams } = new URL(location.href);
const policy = { backoff: constant(Number(searchParams.get('wait') ?? 50)) };
const queue = new BackgroundSyncPlugin('orders', { onSync: async () => {} });
const handlers = {
  NetworkFirst: withRetry(new NetworkFirst(), policy),
  NetworkOnly: withRetry(new NetworkOnly(), policy),
  StaleWhileRevalidate: withRetry(new StaleWhileRevalidate(), policy),
  CacheFirst: withRetry(new CacheFirst(), policy),
  'NetworkFirst-timeout': withRetry(new NetworkFirst({ networkTimeoutSeconds: 0.4 }), policy),
  'NetworkOnly-timeout': withRetry(new NetworkOnly({ networkTimeoutSeconds: 0.4 }), policy),
  'NetworkOnly-timeout-queue': withRetry(new NetworkOnly({ networkTimeoutSeconds: 0.4, plugins: [queue] }), policy),
  'NetworkOnly-queue': withRetry(new NetworkOnly({ plugins: [queue] }), policy),
  retryHandler: retryHandler(policy),
};
const precached = searchParams.get('precache');
const serwist = new Serwist({
  skipWaiting: true,
  clientsClaim: true,
  navigationPreload: searchParams.has('preload'),
  precacheEntries: precached === null ? [] : [{ url: precached, revision: '1' }],
  runtimeCaching: Object.entries(handlers).flatMap(([name, handler]) =>
    (['GET', 'POST', 'PUT'] as const).map((method) => ({
      matcher: ({ url }: { url: URL }) => url.searchParams.get('s') === name,
      handler,
      method,
    })),
  ),
});
withRetry(serwist.precacheStrategy, policy);
serwist.addEventListeners();
Object.assign(self, {
  queued: async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the plugin does not show its queue
    const entries = await (queue as any)._queue.getAll();
    return Promise.all(entries.map(({ request }: { request: Request }) => request.text()));
  },
});
