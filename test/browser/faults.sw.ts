import { constant, createRetryLayer, exponential } from '../../src/worker/index.ts';

const every = (delayMs: number) => ({ backoff: constant(delayMs), throttledBackoff: constant(delayMs) });
const marked = (marker: string) => new RegExp(`[?&]${marker}\\b`);

// Each route is one configuration that a fault was reported with; no jitter, so that gaps can be told from one another.
createRetryLayer({
  defaults: every(300),
  routes: [
    { match: marked('base-100'), retry: every(100) },
    { match: marked('base-500'), retry: { attempts: 3, ...every(500) } },
    { match: marked('base-2000'), retry: every(2_000) },
    { match: marked('growing'), retry: { backoff: exponential({ baseMs: 300 }) } },
    { match: marked('most-2000'), retry: { retryAfter: { maxMs: 2_000 } } },
    { match: marked('own-time'), retry: { ...every(200), retryAfter: { mode: 'ignore' } } },
    { match: marked('overdue-600'), retry: { ...every(100), attemptTimeoutMs: 600 } },
    { match: marked('get-only'), retry: { methods: ['GET'] } },
    { match: marked('one-retry'), retry: { attempts: 2, ...every(1_500) } },
    { match: marked('nine'), retry: { attempts: 9, ...every(30) } },
    { match: marked('and-500'), retry: { statuses: [500, 503] } },
    { match: marked('hedged'), retry: { hedge: { afterMs: 200 }, attemptTimeoutMs: 10_000 } },
  ],
  // What one request does is not to hang on how the one before it fared.
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
