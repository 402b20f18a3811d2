/// <reference lib="WebWorker" />
import {
  constant,
  createRetryLayer,
  exponential,
  fullJitter,
  type OutboxPolicy,
  type RetryOptions,
  type Route,
} from '../../src/worker/index.ts';
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS, MAX_RETRY_AFTER_MS, TOTAL_MS } from './times.ts';

declare const self: ServiceWorkerGlobalScope;

// Whatever nobody handles here is told to the page that stays.
const line = new BroadcastChannel('chaos');
const complain = (what: unknown): void => line.postMessage(String(what));
/** Chromium itself leaves the rejection of each answer to nobody, once. */
const answered: unknown[] = [];
self.addEventListener('unhandledrejection', ({ reason }) => {
  const at = answered.indexOf(reason);
  if (at >= 0) answered.splice(at, 1);
  else complain(`worker: nobody handled the rejection ${reason?.stack ?? reason}`);
});
self.addEventListener('error', ({ message, error }) => complain(`worker: ${error?.stack ?? message}`));
for (const level of ['warn', 'error'] as const) {
  const say = console[level];
  console[level] = (...words) => {
    complain(`worker: console.${level} ${words.map((word) => word?.stack ?? word).join(' ')}`);
    say(...words);
  };
}

// What has begun and has no end yet.
const left = { answers: 0, fetches: 0, timers: 0 };
const counted = <T>(name: 'answers' | 'fetches', work: Promise<T>): Promise<T> => {
  left[name] += 1;
  const end = () => {
    left[name] -= 1;
  };
  work.then(end, end);
  return work;
};
const { fetch, setTimeout: start, clearTimeout: stop } = self;
self.fetch = (...asked) => counted('fetches', fetch(...asked));
const { respondWith } = FetchEvent.prototype;
FetchEvent.prototype.respondWith = function (answer) {
  const work = counted('answers', Promise.resolve(answer));
  work.catch((reason) => answered.push(reason));
  respondWith.call(this, work);
};
/** Those that are to be over soon: the end of a hold is told when it comes, which may be in an hour. */
const SOON_MS = 10_000;
const timers = new Set<number>();
self.setTimeout = ((work: () => void, ms?: number) => {
  const timer = start(() => {
    timers.delete(timer);
    work();
  }, ms);
  if ((ms ?? 0) <= SOON_MS) timers.add(timer);
  return timer;
}) as typeof self.setTimeout;
self.clearTimeout = (timer) => {
  if (timer !== undefined) timers.delete(timer);
  stop(timer);
};
self.addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'left') port?.postMessage({ ...left, timers: timers.size });
});

const strict = new URL(self.location.href).searchParams.get('guards') === 'strict';
const backoff = fullJitter(exponential({ baseMs: 50, maxMs: 500 }));
const retry: RetryOptions = {
  attempts: ATTEMPTS,
  totalMs: TOTAL_MS,
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  backoff,
  throttledBackoff: backoff,
  retryAfter: { maxMs: MAX_RETRY_AFTER_MS },
  holdScope: strict ? 'auto' : 'path',
};
const box = (name: string, more: Partial<OutboxPolicy>): Partial<OutboxPolicy> => ({
  name,
  maxEntries: 10_000,
  ...more,
});

const KINDS: Readonly<Record<string, Omit<Route, 'match'>>> = {
  plain: { retry },
  left: { retry: false },
  resume: { retry: { ...retry, resume: true } },
  hold: { retry: { ...retry, holdBody: true } },
  hedge: { retry: { ...retry, hedge: { afterMs: 150 } } },
  reject: { retry: { ...retry, circuit: 'reject' } },
  cut: { retry: { ...retry, cancelTimedOut: true } },
  box: { retry, outbox: box('free', { orderBy: 'none' }) },
  'boxed-in-order': {
    retry: { ...retry, attempts: 2, backoff: constant(20) },
    outbox: box('ordered', { orderBy: 'outbox' }),
  },
  'box-adds-key': { retry, outbox: box('keys', { orderBy: 'none', addKey: true }) },
};

createRetryLayer({
  routes: [0, 1, 2, 3].flatMap((shard) =>
    Object.entries(KINDS).map(([name, route]) => ({
      ...route,
      match: new RegExp(`/wire/.*[?]${name}&${shard}$`),
      name: `${name}-${shard}`,
    })),
  ),
  defaults: retry,
  budget: strict ? {} : { capacity: 100_000 },
  circuit: strict
    ? { openMs: 200, maxOpenMs: 800, probeMs: 1_000 }
    : { failures: 1_000, window: 1_000, attemptsDivisor: 1 },
}).listen();
