import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Three tokens, and half a token a second: small enough to see both its end and its return.
createRetryLayer({
  defaults: { attempts: 6, backoff: constant(20) },
  budget: { capacity: 3, refillPerSecond: 0.5, successCredit: 0 },
  // On a slow machine what fails lies far enough apart to open one.
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
