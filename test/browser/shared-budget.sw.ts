import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Only retries change its tokens, and they never come back: what is spent can be counted.
createRetryLayer({
  defaults: { attempts: 2, backoff: constant(20) },
  budget: { capacity: 300, refillPerSecond: 0, successCredit: 0 },
  circuit: { failures: 10_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
