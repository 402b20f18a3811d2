import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({
  routes: [
    { match: /[?&]off$/, retry: false },
    { match: /[?&]again$/, classify: () => 'retry' },
  ],
  defaults: { backoff: constant(50) },
  navigationPreload: new URLSearchParams(location.search).has('preload'),
}).listen();
