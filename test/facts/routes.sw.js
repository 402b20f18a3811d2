// With static routes that race the network with it.
self.addEventListener('install', (event) => {
  self.skipWaiting();
  if ('addRoutes' in event) {
    event.waitUntil(
      event.addRoutes({
        condition: { urlPattern: new URLPattern({ pathname: '/routes/raced*' }) },
        source: 'race-network-and-fetch-handler',
      }),
    );
  }
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (url.searchParams.has('joined')) event.respondWith(fetch(event.request));
  if (url.searchParams.has('cloned')) event.respondWith(fetch(event.request.clone()));
});
