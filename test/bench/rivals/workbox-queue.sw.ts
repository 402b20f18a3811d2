/// <reference lib="WebWorker" />
import { Queue } from 'workbox-background-sync/Queue.js';

declare const self: ServiceWorkerGlobalScope;

// What `npm run bench:outbox` measures the outbox beside.
const queue = new Queue('bench');

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'POST') return;
  event.respondWith(
    fetch(request.clone()).catch(async () => {
      await queue.pushRequest({ request });
      return new Response('', { status: 202 });
    }),
  );
});
// Its own trigger is the browser's sync event alone, which comes some minutes later if it has failed once.
self.addEventListener('message', (event) => {
  if (event.data === 'replay') event.waitUntil(queue.replayRequests());
});
