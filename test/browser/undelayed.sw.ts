import { constant, createRetryLayer } from '../../src/worker/index.ts';

// By default everything, but for the waits, and for guards, by which what fails would change what comes after it.
createRetryLayer({
  defaults: { backoff: constant(1) },
  circuit: { failures: 1_000_000, window: 50, failureRatio: 1, attemptsDivisor: 1 },
  budget: { capacity: 1_000 },
}).listen();
