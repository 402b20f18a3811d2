import { parseOverride } from '../../src/protocol/index.ts';
import { constant, createRetryLayer } from '../../src/worker/index.ts';

// What a page retries by itself is left alone; requests with `?short` wait for a server's time for one second at most.
createRetryLayer({
  routes: [
    { match: ({ request }) => parseOverride(new URL(request.url).hash)?.off === true, retry: false },
    { match: ({ url }) => url.searchParams.has('short'), retry: { retryAfter: { maxMs: 1_000 } } },
  ],
  defaults: { backoff: constant(20) },
}).listen();
