/// <reference lib="WebWorker" />
declare const self: ServiceWorkerGlobalScope;

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', () => {});
