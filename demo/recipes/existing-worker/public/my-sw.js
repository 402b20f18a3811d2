// The two lines for the retries: before the worker's own listener, which then gets what they leave alone.
importScripts('steadfetch.dropin.js');
steadfetch.createRetryLayer({ routes: [{ match: '/greeting', retry: false }] }).listen();

// The worker as it was.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname === '/greeting') {
    event.respondWith(new Response('hello from the worker of old'));
  }
});
