import { createRetryLayer } from '../../src/worker/index.ts';

// Requests with `?short` wait for a server's time for one second at most.
createRetryLayer({
  routes: [{ match: ({ url }) => url.searchParams.has('short'), retry: { retryAfter: { maxMs: 1_000 } } }],
}).listen();
