import { constant, createRetryLayer } from '../../src/worker/index.ts';

const waits = (ms: number) => ({ backoff: constant(ms), throttledBackoff: constant(ms) });

createRetryLayer({
  // What is checked of one request is checked without what the others have to do with it.
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
  defaults: waits(100),
  routes: [
    { match: /[?&]patient\b/, name: 'patient', retry: { totalMs: 120_000, retryAfter: { maxMs: 90_000 } } },
    { match: /[?&]slow\b/, retry: waits(1_500) },
  ],
}).listen();
