import { constant, createRetryLayer } from '../../src/worker/index.ts';

const { searchParams } = new URL(self.location.href);
const mirrors = searchParams.getAll('mirror');
const quick = { attempts: 2, backoff: constant(50), throttledBackoff: constant(50) };

createRetryLayer({
  circuit: { failures: 1, openMs: 60_000 },
  defaults: quick,
  routes: [
    { match: /[?&]trusted\b/, name: 'trusted', retry: { mirrors, mirrorCredentials: true } },
    { match: '/', retry: { mirrors } },
  ],
}).listen();
