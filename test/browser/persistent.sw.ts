import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Whatever fails is asked for again, as often as it takes: what is looked at is how.
createRetryLayer({
  defaults: { attempts: 3, backoff: constant(1), retryNonIdempotent: true, mediaRanges: true },
  circuit: { failures: 1_000_000, window: 50, failureRatio: 1, attemptsDivisor: 1 },
  budget: { capacity: 1_000 },
}).listen();
