import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({
  routes: [
    { match: '/wire/off', retry: false },
    { match: '/wire', methods: ['PATCH'], retry: { retryNonIdempotent: true } },
    { match: /\.named$/, name: 'named' },
    { match: ({ url }) => url.searchParams.has('twice'), retry: { attempts: 2 } },
  ],
  defaults: { backoff: constant(20) },
}).listen();
