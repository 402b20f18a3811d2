/// <reference lib="WebWorker" />
declare const self: ServiceWorkerGlobalScope;

self.addEventListener('activate', () => self.clients.claim());
self.addEventListener('message', () => {});
