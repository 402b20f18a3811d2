import { constant, createRetryLayer } from '../../src/worker/index.ts';

const retry = { attempts: 4, backoff: constant(20), throttledBackoff: constant(20) };

createRetryLayer({
  routes: [{ match: /[?&]held/, retry: { ...retry, holdBody: { maxBytes: 10_000 } } }],
  defaults: { ...retry, resume: true },
  budget: { capacity: 1_000 },
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
