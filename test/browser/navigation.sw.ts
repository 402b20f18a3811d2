import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({
  defaults: { backoff: constant(50) },
  navigationPreload: new URLSearchParams(location.search).has('preload'),
}).listen();
