import { createRetryLayer } from 'steadfetch/worker';
import { precacheAndRoute } from 'workbox-precaching';

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: Parameters<typeof precacheAndRoute>[0] };

// First, and for the API alone: pages and assets are Workbox's, which has them also where there is no network.
createRetryLayer({ defaults: false, routes: [{ match: '/api/' }] }).listen();

precacheAndRoute(self.__WB_MANIFEST);
