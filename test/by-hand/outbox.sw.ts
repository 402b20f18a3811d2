/// <reference lib="WebWorker" />
import { constant, createRetryLayer } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

// Another run of the worker says another number.
const run = Math.random();
self.addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'run') port?.postMessage(run);
});

createRetryLayer({
  // What is checked of one request is checked without what the others have to do with it.
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
  routes: [{ match: /[?&]box\b/, retry: { attempts: 2, backoff: constant(50) }, outbox: true }],
}).listen();
