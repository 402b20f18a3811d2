import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Three tokens, and half a token a second: small enough to see both its end and its return.
createRetryLayer({
  defaults: { attempts: 6, backoff: constant(20) },
  budget: { capacity: 3, refillPerSecond: 0.5, successCredit: 0 },
}).listen();
