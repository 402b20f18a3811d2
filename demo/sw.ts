import { createRetryLayer } from '../src/worker/index.ts';

createRetryLayer({
  routes: [
    { match: /\/wire\/bare-/, retry: false }, // the lane without retries: never intercepted
    { match: '/wire-control', retry: false },
  ],
}).listen();
