/// <reference lib="WebWorker" />
declare const self: ServiceWorkerGlobalScope;

// What any worker may do that waits as long as a server asks it to, with nobody to keep it alive.
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (!event.request.url.includes('/wire/')) return;
  event.respondWith(new Promise((resolve) => setTimeout(() => resolve(new Response('in time')), 70_000)));
});
