import { createRetryLayer } from '../../src/worker/index.ts';

const { searchParams } = new URL(self.location.href);

// A plain circuit breaker.
createRetryLayer({
  defaults: { attempts: 1, circuit: 'reject' },
  circuit: {
    failures: 2,
    window: 1_000,
    attemptsDivisor: 1,
    openMs: 1_500,
    parking: false,
    sameFailureMs: 0,
    // How long a probe that does not end keeps its place.
    ...(searchParams.has('probe') ? { probeMs: 2_000 } : {}),
  },
}).listen();
