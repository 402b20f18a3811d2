import { constant, createRetryLayer } from '../../src/worker/index.ts';

// `?1` and `?2` are two versions of it.
createRetryLayer({
  skipWaiting: location.search.includes('skip'),
  defaults: { backoff: constant(1_000), throttledBackoff: constant(1_000) },
}).listen();
