import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({
  routes: [
    { match: '/wire/off', retry: false },
    { match: '/wire', methods: ['PATCH'], retry: { retryNonIdempotent: true } },
    { match: /\.named$/, name: 'named' },
    { match: ({ url }) => url.searchParams.has('twice'), retry: { attempts: 2 } },
  ],
  defaults: { backoff: constant(20) },
  // Whether one request has as many attempts as its route says is not to hang on how another fared.
  circuit: { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
