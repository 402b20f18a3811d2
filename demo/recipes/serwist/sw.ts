import { NetworkFirst, Serwist, StaleWhileRevalidate } from 'serwist';
import { createRetryLayer } from 'steadfetch/worker';

// First, and for the API alone: pages and assets are Serwist's.
const layer = createRetryLayer({ defaults: false, routes: [{ match: '/api/' }] });
layer.listen();

new Serwist({
  skipWaiting: true,
  clientsClaim: true,
  runtimeCaching: [
    { matcher: ({ request }) => request.mode === 'navigate', handler: new NetworkFirst() },
    { matcher: ({ sameOrigin }) => sameOrigin, handler: new StaleWhileRevalidate() },
  ],
}).addEventListeners();
