import { constant, createRetryLayer, type OutboxPolicy } from '../../src/worker/index.ts';

const { searchParams } = new URL(self.location.href);
const limit = (name: 'maxEntries' | 'maxBytes' | 'maxAgeMs'): Partial<OutboxPolicy> =>
  searchParams.has(name) ? { [name]: Number(searchParams.get(name)) } : {};
const limits = { ...limit('maxEntries'), ...limit('maxBytes'), ...limit('maxAgeMs') };
const retry = { attempts: 2, backoff: constant(50), throttledBackoff: constant(50) };

createRetryLayer({
  routes: [
    { match: /[?&]addkey\b/, retry, outbox: { name: 'added', addKey: true, ...limits } },
    { match: /[?&]byurl\b/, retry, outbox: { name: 'byurl', orderBy: 'url', ...limits } },
    { match: /[?&]free\b/, retry, outbox: { name: 'free', orderBy: 'none', ...limits } },
    { match: /[?&]error\b/, retry, outbox: { name: 'silent', answer: 'error', ...limits } },
    { match: /[?&]form\b/, retry, outbox: { name: 'forms', page: '/?queued', doneAt: '/thanks', ...limits } },
    { match: /[?&]box\b/, retry, outbox: { name: 'orders', ...limits } },
  ],
  prepare: async (request) => {
    const headers = new Headers(request.headers);
    headers.set('Authorization', 'fresh');
    return new Request(request, { headers });
  },
}).listen();
