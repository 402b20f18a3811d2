/// <reference lib="WebWorker" />
declare const self: ServiceWorkerGlobalScope;

// What every comparison is made with: the least a worker can do. It hears the same pages as ours.
self.addEventListener('activate', () => self.clients.claim());
self.addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));
self.addEventListener('message', ({ ports: [port] }) =>
  port?.postMessage({ steadfetch: 1, kind: 'welcome', version: '0.1.0' }),
);
