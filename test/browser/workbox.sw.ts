import { BackgroundSyncPlugin } from 'workbox-background-sync';
import { PrecacheController, PrecacheRoute } from 'workbox-precaching';
import { registerRoute } from 'workbox-routing';
import { CacheFirst, CacheOnly, NetworkFirst, NetworkOnly, StaleWhileRevalidate } from 'workbox-strategies';
import { configureRetries, constant, retryHandler, withRetry } from '../../src/workbox/index.ts';

/** What plugins were told, for tests to read. */
const told: string[] = [];
const note = (line: string): void => void told.push(line);
const teller = {
  requestWillFetch: async ({ request }: { request: Request }) => {
    note('requestWillFetch');
    const headers = new Headers(request.headers);
    headers.set('X-Token', `t${told.length}`);
    return new Request(request, { headers });
  },
  fetchDidSucceed: async ({ response }: { response: Response }) => {
    note(`fetchDidSucceed ${response.status}`);
    return response;
  },
  fetchDidFail: async ({ error, request }: { error: Error; request: Request }) =>
    note(`fetchDidFail ${error.name} ${await request.text()}`),
};
// It keeps what it is given: what would be sent again is looked at.
const queue = new BackgroundSyncPlugin('orders', { onSync: async () => {} });
const unlessOk = {
  fetchDidSucceed: async ({ response }: { response: Response }) => {
    if (response.status >= 500) throw new Error(String(response.status));
    return response;
  },
};

const { searchParams } = new URL(location.href);
const policy = { backoff: constant(Number(searchParams.get('wait') ?? 50)) };
const strategies = {
  NetworkFirst: () => new NetworkFirst(),
  NetworkOnly: () => new NetworkOnly(),
  StaleWhileRevalidate: () => new StaleWhileRevalidate(),
  CacheFirst: () => new CacheFirst(),
  CacheOnly: () => new CacheOnly(),
  'NetworkFirst-timeout': () => new NetworkFirst({ networkTimeoutSeconds: 0.4 }),
  'NetworkOnly-timeout': () => new NetworkOnly({ networkTimeoutSeconds: 0.4 }),
  'NetworkOnly-timeout-queue': () => new NetworkOnly({ networkTimeoutSeconds: 0.4, plugins: [queue] }),
  'NetworkOnly-queue': () => new NetworkOnly({ plugins: [queue] }),
  'NetworkOnly-queue-5xx': () => new NetworkOnly({ plugins: [unlessOk, queue] }),
  'NetworkOnly-plugins': () => new NetworkOnly({ plugins: [teller] }),
  'NetworkOnly-options': () => new NetworkOnly({ fetchOptions: { headers: { 'X-Option': 'yes' } } }),
};
for (const [name, make] of Object.entries(strategies)) {
  const strategy = withRetry(make(), policy);
  for (const method of ['GET', 'POST', 'PUT'] as const) {
    registerRoute(({ url }) => url.searchParams.get('s') === name, strategy, method);
  }
}
const handler = retryHandler(policy);
for (const method of ['GET', 'POST'] as const) {
  registerRoute(({ url }) => url.searchParams.get('s') === 'retryHandler', handler, method);
}
// After the routes: the order does not matter.
configureRetries({ onEvent: ({ type }) => note(`event ${type}`) });

const precached = searchParams.get('precache');
const controller = new PrecacheController();
withRetry(controller.strategy, policy);
if (precached !== null) controller.precache([{ url: precached, revision: '1' }]);
registerRoute(new PrecacheRoute(controller, { cleanURLs: false }));

if (searchParams.has('preload')) {
  addEventListener('activate', (event) => event.waitUntil(registration.navigationPreload.enable()));
}
Object.assign(self, {
  told,
  queued: async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the plugin does not show its queue
    const entries = await (queue as any)._queue.getAll();
    return Promise.all(entries.map(({ request }: { request: Request }) => request.text()));
  },
});
addEventListener('install', () => void skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
