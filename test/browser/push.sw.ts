/// <reference lib="WebWorker" />
import { constant, createRetryLayer } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

// What a vendor of push messages has its users load; with `?beside` it is a worker of its own without the layer.
self.addEventListener('push', (event) =>
  event.waitUntil(
    (async () => {
      const pages = await self.clients.matchAll({ includeUncontrolled: true });
      for (const page of pages) page.postMessage({ pushed: event.data?.text() });
    })(),
  ),
);

if (!location.search.includes('beside')) {
  createRetryLayer({ defaults: { backoff: constant(1_000), throttledBackoff: constant(1_000) } }).listen();
}
