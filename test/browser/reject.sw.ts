import { createRetryLayer } from '../../src/worker/index.ts';

// A plain circuit breaker.
createRetryLayer({
  defaults: { attempts: 1, circuit: 'reject' },
  circuit: { failures: 2, window: 1_000, attemptsDivisor: 1, openMs: 1_500, parking: false, sameFailureMs: 0 },
}).listen();
