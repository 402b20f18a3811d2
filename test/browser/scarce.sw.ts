import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Two retries and no more, and a second to see who waits for one.
createRetryLayer({
  defaults: { attempts: 2, backoff: constant(1_000), throttledBackoff: constant(1_000) },
  budget: { capacity: 2, refillPerSecond: 0 },
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
