import { registerRoute } from 'workbox-routing/registerRoute.js';
import { NetworkOnly } from 'workbox-strategies/NetworkOnly.js';

declare const self: ServiceWorkerGlobalScope;

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
for (const method of ['GET', 'PUT'] as const) registerRoute(() => true, new NetworkOnly(), method);
