import { constant, createRetryLayer } from '../../src/worker/index.ts';

const { searchParams } = new URL(self.location.href);
const waits = { backoff: constant(100), throttledBackoff: constant(100) };

createRetryLayer({
  defaults: { ...waits, attempts: 4 },
  routes: [
    { match: /[?&]long\b/, retry: { backoff: constant(10_000), throttledBackoff: constant(10_000) } },
    // A match sees no fragment.
    { match: /\/exact$/, retry: { attempts: 2 } },
  ],
  ...(searchParams.has('observe') ? { mode: 'observe' as const } : {}),
  ...(searchParams.has('sample') ? { sample: Number(searchParams.get('sample')) } : {}),
}).listen();
