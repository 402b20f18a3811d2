import { constant, createRetryLayer } from '../../src/worker/index.ts';

const quick = { attemptTimeoutMs: 500, backoff: constant(100), throttledBackoff: constant(100) };

createRetryLayer({
  defaults: quick,
  routes: [
    {
      match: /[?&]hedge\b/,
      name: 'hedged',
      retry: { hedge: { afterMs: 100 }, cancelTimedOut: true, attemptTimeoutMs: 10_000 },
    },
    { match: /[?&]plain-hedge\b/, retry: { hedge: { afterMs: 100 }, attemptTimeoutMs: 10_000 } },
    { match: /[?&]bare\b/, retry: { attemptTimeoutMs: 10_000 } },
    { match: /[?&]cut\b/, retry: { cancelTimedOut: true } },
    { match: /[?&]hard\b/, retry: { hardTotal: true, totalMs: 1_500 } },
    { match: /[?&]told\b/, retry: { retryAttemptHeader: true } },
    {
      match: /[?&]judge\b/,
      classifyBody: true,
      classify: (outcome) => {
        if (outcome.kind !== 'response') return undefined;
        if (outcome.status === 500) return 'deliver';
        return outcome.body?.includes('"transient":true') ? 'retry' : undefined;
      },
    },
  ],
}).listen();
