import { registerRoute } from 'workbox-routing/registerRoute.js';
import { constant, createRetryLayer } from '../../src/worker/index.ts';

// Somebody's own Workbox, whose route looks at the whole URL.
createRetryLayer({
  defaults: { backoff: constant(100), throttledBackoff: constant(100) },
  routes: [{ match: '/own', retry: false }],
}).listen();
registerRoute(/\.json$/, async ({ request }) => {
  const answer = await fetch(request);
  return new Response(`${await answer.text()} by workbox`);
});
registerRoute(/\/own/, async () => new Response('their own'));
