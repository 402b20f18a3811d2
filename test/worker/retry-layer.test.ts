import '../support/worker-scope.ts';

import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { toGossip } from '../../src/protocol/gossip.ts';
import { type PageMessage, toMessage } from '../../src/protocol/messages.ts';
import type { RetryLayerOptions } from '../../src/worker/options.ts';
import { createRetryLayer } from '../../src/worker/retry-layer.ts';
import { cutAfter } from '../support/broken-bodies.ts';
import { type FakeScope, settle, stubScope } from '../support/worker-scope.ts';

let scope: FakeScope;
let warn: ReturnType<typeof vi.spyOn>;
let script: (() => Response | Promise<Response>)[];
const fetched: unknown[][] = [];

const status = (code: number) => () => new Response(`answer ${code}`, { status: code });
const lost = () => Promise.reject(new TypeError('lost'));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(Math, 'random').mockReturnValue(0);
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  scope = stubScope();
  scope.open('page');
  script = [];
  fetched.length = 0;
  vi.stubGlobal('fetch', async (...args: unknown[]) => {
    fetched.push(args);
    return (script.shift() ?? status(200))();
  });
  vi.stubGlobal('indexedDB', undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface FetchOptions {
  readonly clientId?: string;
  readonly resultingClientId?: string;
  readonly request?: Request;
  readonly respondWith?: (answer: Promise<Response>) => void;
  readonly preloadResponse?: Promise<Response | undefined>;
  readonly mode?: string;
}

/** What a worker does with a page's request. `undefined`: it was not intercepted. */
function dispatch({ request = new Request('https://app.test/api'), mode, ...more }: FetchOptions = {}) {
  let answer: Promise<Response> | undefined;
  const waits: Promise<unknown>[] = [];
  const seen = mode === undefined ? request : withMode(request, mode);
  scope.dispatch('fetch', {
    request: seen,
    clientId: 'page',
    resultingClientId: '',
    respondWith: (given: Promise<Response>) => {
      answer = given;
      given.catch(() => {});
    },
    waitUntil: (work: Promise<unknown>) => waits.push(work),
    ...more,
  });
  return { answer, waits, request: seen };
}

/** Node makes no navigations. */
const withMode = (request: Request, mode: string): Request => {
  const destination = mode === 'navigate' ? 'document' : '';
  const over: Record<string, unknown> = { mode, destination, clone: () => withMode(new Request(request), mode) };
  return new Proxy(request, {
    get(target, key) {
      if (typeof key === 'string' && key in over) return over[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};

const listen = (options?: RetryLayerOptions) => {
  const layer = createRetryLayer(options);
  layer.listen();
  return layer;
};

describe('a download that breaks off', () => {
  const ranges = { 'Accept-Ranges': 'bytes', ETag: '"v1"' };
  const broken = () => new Response(cutAfter('0123')(), { headers: { ...ranges, 'Content-Length': '10' } });
  const rest = () => new Response('456789', { status: 206, headers: { ...ranges, 'Content-Range': 'bytes 4-9/10' } });

  test('goes on in a worker whose streams last', async () => {
    listen({ defaults: { resume: true, backoff: constant(0) } });
    script = [broken, rest];
    const { answer, waits } = dispatch();
    const text = (await answer)?.text();
    await vi.runAllTimersAsync();
    expect(await text).toBe('0123456789');
    expect(waits).toEqual([]);
  });

  test('is left to the page in Firefox, and resumed for the worker itself', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Firefox/153.0' });
    const layer = listen({ defaults: { resume: true, backoff: constant(0) } });
    const [forPage, forUs] = [broken(), broken()];
    script = [() => forPage, () => forUs];
    expect(await dispatch().answer).toBe(forPage);
    expect(await layer.fetch(new Request('https://app.test/api'))).not.toBe(forUs);
  });
});

describe('listening', () => {
  test('begins at once, and only where it is said', () => {
    const layer = createRetryLayer();
    expect(scope.listening).toEqual([]);
    layer.listen();
    expect(scope.listening).toContain('fetch');
    expect(scope.listening).toContain('message');
  });

  test('twice is refused, and nothing is installed twice', () => {
    const layer = listen();
    const before = scope.listening.length;
    expect(() => layer.listen()).toThrow(RetryLayerError);
    expect(() => layer.listen()).toThrow(expect.objectContaining({ code: 'already-listening' }));
    expect(scope.listening).toHaveLength(before);
  });

  test('with a bad option nothing is installed at all', () => {
    const open = vi.fn();
    vi.stubGlobal('indexedDB', { open });
    expect(() => createRetryLayer({ routes: [{ match: 'api' }] })).toThrow(RetryLayerError);
    expect(() => createRetryLayer(null as never)).toThrow(RetryLayerError);
    expect([scope.listening, open.mock.calls.length, vi.getTimerCount()]).toEqual([[], 0, 0]);
  });

  test('open pages are claimed unless that is switched off', async () => {
    listen();
    scope.dispatch('activate', { waitUntil: () => {} });
    await settle();
    expect(scope.claimed()).toBe(1);
    scope = stubScope();
    listen({ clientsClaim: false });
    scope.dispatch('activate', { waitUntil: () => {} });
    expect(scope.claimed()).toBe(0);
  });

  test('skipWaiting and navigation preload are for those who ask', async () => {
    listen();
    scope.dispatch('install', { waitUntil: () => {} });
    scope.dispatch('activate', { waitUntil: () => {} });
    expect([scope.skipWaiting.mock.calls.length, scope.enablePreload.mock.calls.length]).toEqual([0, 0]);
    scope = stubScope();
    listen({ skipWaiting: true, navigationPreload: true });
    const waits: unknown[] = [];
    scope.dispatch('install', { waitUntil: () => {} });
    scope.dispatch('activate', { waitUntil: (work: unknown) => waits.push(work) });
    expect([scope.skipWaiting.mock.calls.length, scope.enablePreload.mock.calls.length]).toEqual([1, 1]);
    expect(waits).toContain(scope.enablePreload.mock.results[0]?.value);
    expect(scope.disablePreload).not.toHaveBeenCalled();
  });

  test('navigation preload that an earlier version has switched on is switched off', () => {
    listen({ navigationPreload: false });
    scope.dispatch('activate', { waitUntil: () => {} });
    expect([scope.enablePreload.mock.calls.length, scope.disablePreload.mock.calls.length]).toEqual([0, 1]);
  });

  test('a document that is left alone is what the browser has asked for already', async () => {
    listen({ navigationPreload: true, routes: [{ match: '/', retry: false }] });
    const preloaded = new Response('preloaded');
    const given = dispatch({ mode: 'navigate', preloadResponse: Promise.resolve(preloaded) });
    expect(await given.answer).toBe(preloaded);
    expect(fetched).toHaveLength(0);
    await dispatch({ mode: 'navigate', preloadResponse: Promise.resolve(undefined) }).answer;
    expect(fetched).toHaveLength(1);
    expect(dispatch({}).answer).toBeUndefined();
  });
});

describe('a request that is not retried is not intercepted', () => {
  test.each<{ name: string; options?: RetryLayerOptions; request: () => Request; over?: FetchOptions }>([
    { name: 'POST', request: () => new Request('https://app.test/', { method: 'POST', body: 'x' }) },
    { name: 'another scheme', request: () => new Request('data:text/plain,x') },
    {
      name: 'an event stream',
      request: () => new Request('https://app.test/', { headers: { Accept: 'text/event-stream' } }),
    },
    {
      name: 'a route that is off',
      options: { routes: [{ match: '/', retry: false }] },
      request: () => new Request('https://app.test/live'),
    },
    { name: 'no route, no defaults', options: { defaults: false }, request: () => new Request('https://app.test/') },
    { name: 'one attempt', options: { defaults: { attempts: 1 } }, request: () => new Request('https://app.test/') },
    { name: 'no retries', options: { defaults: { retries: 0 } }, request: () => new Request('https://app.test/') },
    {
      name: 'B048 a method that is not on the list',
      options: { defaults: { methods: ['GET'] } },
      request: () => new Request('https://app.test/', { method: 'DELETE' }),
    },
  ])('$name', ({ options, request }) => {
    const layer = listen(options);
    const { answer, waits } = dispatch({ request: request() });
    expect([answer, waits, fetched]).toEqual([undefined, [], []]);
    expect(layer.status().counters.requests).toBe(0);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a request that may be retried', () => {
  test('is fetched as it is: at a cold start after 20 ms at the latest, then at once', async () => {
    listen();
    const { answer, waits, request } = dispatch();
    await vi.advanceTimersByTimeAsync(20);
    expect(fetched).toEqual([[request]]);
    expect((await answer)?.status).toBe(200);
    expect(waits).toEqual([]);
    const second = dispatch();
    expect(fetched).toEqual([[request], [second.request]]);
  });

  test('B117 and row 52: is fetched again after a failure, and its page is told, no other', async () => {
    const layer = listen({ defaults: { backoff: constant(100) } });
    const page = scope.open('page');
    const other = scope.open('other');
    script = [status(503), lost, status(200)];
    const { answer } = dispatch({ request: new Request('https://app.test/api?secret=1#~x') });
    await vi.advanceTimersByTimeAsync(100);
    await settle();
    await vi.advanceTimersByTimeAsync(110);
    expect((await answer)?.status).toBe(200);
    await settle();
    expect(fetched).toHaveLength(3);
    expect(page.received).toMatchObject([
      { kind: 'event', event: { type: 'retry-scheduled', attempt: 1, status: 503, delayMs: 100, group: 'data' } },
      { kind: 'event', event: { type: 'retry-scheduled', attempt: 2, cause: 'network-error' } },
      { kind: 'event', event: { type: 'recovered', attempts: 3, status: 200 } },
    ]);
    expect(JSON.stringify(page.received)).not.toMatch(/secret|~x/);
    expect(other.received).toEqual([]);
    expect(layer.status().counters).toMatchObject({
      requests: 1,
      attempts: 3,
      retries: 2,
      amplification: 3,
      recovered: 1,
      gaveUp: {},
    });
  });

  test.each([
    { name: '503 each time', fails: status(503), ends: { status: 503, text: 'answer 503' } },
    { name: 'refused each time', fails: lost, ends: expect.any(TypeError) },
  ])('B054 $name: after giving up the page has its answer, and nothing keeps the worker', async ({ fails, ends }) => {
    listen({ defaults: { attempts: 3, backoff: constant(100) } });
    script = [fails, fails, fails];
    const { answer, waits } = dispatch();
    let passedMs = 0;
    let endedAt: number | undefined;
    const end = answer
      ?.then(
        async (response) => ({ status: response.status, text: await response.text() }),
        (error: unknown) => error,
      )
      .finally(() => {
        endedAt = passedMs;
      });
    // What keeps the worker may be added to until the end.
    let [kept, over] = [0, 0];
    // The waits, and a second.
    for (; passedMs < 2 * 100 + 1_000; passedMs += 10) {
      for (const wait of waits.slice(kept)) void wait.then(() => (over += 1));
      kept = waits.length;
      await vi.advanceTimersByTimeAsync(10);
      await settle();
    }
    expect(endedAt).toBeGreaterThanOrEqual(2 * 100 - 10);
    expect(await end).toMatchObject(ends);
    expect(fetched).toHaveLength(3);
    expect([kept > 0, over]).toEqual([true, kept]);
  });

  test('is matched without its fragment, and fetched as it is', async () => {
    listen({
      routes: [
        { match: /\/live$/, retry: false },
        { match: ({ url }) => url.hash !== '', retry: false },
      ],
    });
    expect(dispatch({ request: new Request('https://app.test/live#part') }).answer).toBeUndefined();
    const { request } = dispatch({ request: new Request('https://app.test/api#part') });
    await vi.advanceTimersByTimeAsync(20);
    expect(fetched).toEqual([[request]]);
    expect(request.url).toBe('https://app.test/api#part');
  });

  test('B116 a navigation’s events are for the page that is coming', async () => {
    listen({ defaults: { backoff: constant(100) } });
    const [left, coming] = [scope.open('left'), scope.open('coming')];
    script = [status(503), status(200)];
    const { answer } = dispatch({ mode: 'navigate', clientId: 'left', resultingClientId: 'coming' });
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    await answer;
    await settle();
    expect(left.received).toEqual([]);
    expect(coming.received).toHaveLength(2);
  });

  test('a navigation whose page has no id yet is told to nobody', async () => {
    listen({ defaults: { backoff: constant(100) } });
    const left = scope.open('left');
    script = [status(503), status(200)];
    const { answer } = dispatch({ mode: 'navigate', clientId: 'left', resultingClientId: '' });
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    await answer;
    await settle();
    expect([left.received, scope.asked]).toEqual([[], []]);
  });

  test('a navigation takes the answer that was preloaded', async () => {
    listen();
    const preloaded = new Response('preloaded');
    const { answer } = dispatch({ mode: 'navigate', preloadResponse: Promise.resolve(preloaded) });
    expect(await answer).toBe(preloaded);
    expect(fetched).toEqual([]);
  });

  test('a preloaded answer that fails is not the end', async () => {
    listen({ defaults: { backoff: constant(100) } });
    const { answer } = dispatch({ mode: 'navigate', preloadResponse: lost() });
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    expect((await answer)?.status).toBe(200);
    expect(fetched).toHaveLength(1);
  });

  test('a route’s name is the group of its events', async () => {
    const heard: LayerEvent[] = [];
    listen({
      routes: [{ match: '/api', name: 'search' }],
      onEvent: (event) => heard.push(event),
      defaults: { totalMs: 1, backoff: constant(10) },
    });
    script = [status(503)];
    await dispatch().answer;
    expect(heard).toMatchObject([{ type: 'gave-up', group: 'search', reason: 'deadline', lastStatus: 503 }]);
  });
});

describe('a raced route', () => {
  const holding = () =>
    new Response('busy', { status: 503, headers: { 'Retry-After': '5', 'Cache-Control': 'no-store' } });
  const installed = async (event: object) => {
    vi.stubGlobal('URLPattern', class {});
    const layer = listen({ routes: [{ match: '/raced', raceNetwork: true }] });
    scope.dispatch('install', { waitUntil: () => {}, ...event });
    await settle();
    // Of its own script, for the policy that comes with it.
    expect(fetched).toHaveLength(1);
    fetched.length = 0;
    script = [holding];
    dispatch({ request: new Request('https://app.test/other') });
    await vi.advanceTimersByTimeAsync(20);
    expect(fetched).toHaveLength(1);
    return layer;
  };
  const raced = () => new Request('https://app.test/raced/x');

  test('is not held where the browser has sent it, but only then', async () => {
    const layer = await installed({ addRoutes: async () => {} });
    const { answer, request } = dispatch({ request: raced() });
    expect((await answer)?.status).toBe(200);
    expect(fetched).toHaveLength(2);
    // Its very request, or the browser would send another.
    expect(fetched[1]).toEqual([request]);
    void layer.fetch(raced());
    dispatch({ request: new Request(raced(), { method: 'HEAD' }) });
    await settle();
    expect(fetched).toHaveLength(2);
  });

  test.each([
    ['has none', {}],
    ['refuses them', { addRoutes: () => Promise.reject(new TypeError('Too many router rules.')) }],
  ])('is held like any other where the browser, asked for static routes, %s', async (_how, event) => {
    await installed(event);
    dispatch({ request: raced() });
    await settle();
    expect(fetched).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(fetched.length).toBeGreaterThan(1);
  });
});

// Chromium passes no abort of a page on to the request of the event; another browser may.
test('httpc-280 a page’s request whose own signal fires is not retried, and is held against nobody', async () => {
  const layer = listen({ defaults: { backoff: constant(10) } });
  const controller = new AbortController();
  const { signal } = controller;
  const until = () => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const again = () => Promise.reject(signal.reason);
  script = [until, again, again, again];
  const { answer } = dispatch({ request: new Request('https://app.test/api', { signal }) });
  await vi.advanceTimersByTimeAsync(20);
  controller.abort();
  for (let turn = 0; turn < 4; turn += 1) {
    await settle();
    await vi.advanceTimersByTimeAsync(10);
  }
  await expect(answer).rejects.toBe(signal.reason);
  expect(fetched).toHaveLength(1);
  expect(layer.status().counters).toMatchObject({ attempts: 1, retries: 0 });
});

describe('fail open', () => {
  test('a match that throws: not intercepted, said once', () => {
    listen({
      routes: [
        {
          match: () => {
            throw new Error('match');
          },
        },
      ],
    });
    expect(dispatch().answer).toBeUndefined();
    expect(dispatch().answer).toBeUndefined();
    expect(fetched).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test('an answer that is not ours to give: nothing is sent', async () => {
    listen();
    const { waits } = dispatch({
      respondWith: () => {
        throw new DOMException('responded already', 'InvalidStateError');
      },
    });
    await settle();
    expect([fetched, waits]).toEqual([[], []]);
  });

  test('B110 without a database retries go on, and it is said once', async () => {
    const layer = listen({ defaults: { backoff: constant(10) } });
    await settle();
    for (let request = 0; request < 3; request += 1) {
      script = [status(503), status(200)];
      const { answer } = dispatch();
      await settle();
      await vi.advanceTimersByTimeAsync(10);
      expect((await answer)?.status).toBe(200);
    }
    expect(layer.status().storage).toBe('memory');
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test('row 41: onEvent that throws harms nothing', async () => {
    listen({
      defaults: { backoff: constant(10) },
      onEvent: () => {
        throw new Error('onEvent');
      },
    });
    script = [status(503), status(200)];
    const { answer } = dispatch();
    await settle();
    await vi.advanceTimersByTimeAsync(10);
    expect((await answer)?.status).toBe(200);
  });

  test('a worker whose life cannot be prolonged answers all the same', async () => {
    listen({ defaults: { backoff: constant(10) } });
    script = [status(503), status(200)];
    let answer: Promise<Response> | undefined;
    scope.dispatch('fetch', {
      request: new Request('https://app.test/'),
      clientId: 'page',
      respondWith: (given: Promise<Response>) => {
        answer = given;
      },
      waitUntil: () => {
        throw new DOMException('too late', 'InvalidStateError');
      },
    });
    await settle();
    await vi.advanceTimersByTimeAsync(10);
    expect([200, 503]).toContain((await answer)?.status);
  });

  test.each([
    ['an answer', status(200)],
    ['a failure', lost],
  ])('in WebKit %s of a worker that a new version waits to replace is given time to arrive', async (_, first) => {
    // Node has it, as Chromium does.
    const chromiums = Object.getOwnPropertyDescriptor(Request.prototype, 'isReloadNavigation') ?? {};
    Reflect.deleteProperty(Request.prototype, 'isReloadNavigation');
    onTestFinished(() => void Object.defineProperty(Request.prototype, 'isReloadNavigation', chromiums));
    listen({ defaults: { attempts: 2, backoff: constant(10) } });
    const before = dispatch();
    expect(await before.answer).toMatchObject({ status: 200 });
    expect(before.waits).toEqual([]);
    Object.assign((self as unknown as ServiceWorkerGlobalScope).registration, { waiting: {} });
    script = [first, first];
    const { answer, waits } = dispatch();
    await settle();
    await vi.advanceTimersByTimeAsync(20);
    await answer?.catch(() => {});
    expect(waits).not.toEqual([]);
    let over = false;
    void Promise.all(waits).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(79);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(21);
    expect(over).toBe(true);
  });

  test('elsewhere a worker that a new version waits to replace is kept no longer', async () => {
    listen();
    Object.assign((self as unknown as ServiceWorkerGlobalScope).registration, { waiting: {} });
    const { answer, waits } = dispatch();
    expect(await answer).toMatchObject({ status: 200 });
    expect(waits).toEqual([]);
  });

  test('the page gets the network’s own error', async () => {
    listen({ defaults: { attempts: 2, backoff: constant(10) } });
    const error = new TypeError('refused');
    script = [lost, () => Promise.reject(error)];
    const { answer } = dispatch();
    await settle();
    await vi.advanceTimersByTimeAsync(20);
    await expect(answer).rejects.toBe(error);
  });
});

describe('what the worker’s Content-Security-Policy forbids', () => {
  const OTHER = 'https://other.test/api';
  const blocked = () => {
    const violation = { blockedURI: OTHER, disposition: 'enforce', effectiveDirective: 'connect-src' };
    setTimeout(() => scope.dispatch('securitypolicyviolation', violation), 1);
    return lost();
  };

  test('is asked for anew by the browser, counts for no guard, and is left alone from then on', async () => {
    const layer = listen();
    script = [blocked];
    const { answer } = dispatch({ request: new Request(`${OTHER}#part`) });
    await vi.advanceTimersByTimeAsync(20);
    const given = await answer;
    expect([given?.status, given?.headers.get('Location')]).toEqual([307, `${OTHER}#part`]);
    expect(dispatch({ request: new Request(`${OTHER}#part`) }).answer).toBeUndefined();
    expect(fetched).toHaveLength(1);
    expect(layer.status()).toMatchObject({ origins: [], counters: { retries: 0, gaveUp: {} } });
    expect(warn.mock.calls.flat().filter((what: unknown) => String(what).includes('blocked-by-csp'))).toHaveLength(1);
  });

  test('and is told late is not retried', async () => {
    listen({ defaults: { backoff: constant(100) } });
    script = [lost];
    const { answer } = dispatch({ request: new Request(OTHER) });
    await vi.advanceTimersByTimeAsync(50);
    await blocked().catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
    expect((await answer)?.status).toBe(307);
    expect(fetched.filter(([request]) => (request as Request).url === OTHER)).toHaveLength(1);
  });

  test('fails inside the worker as it does without a layer', async () => {
    const layer = listen();
    script = [blocked];
    const answer = layer.fetch(new Request(OTHER));
    answer.catch(() => {});
    await vi.advanceTimersByTimeAsync(20);
    await expect(answer).rejects.toThrow('lost');
    expect(fetched).toHaveLength(1);
  });
});

describe('fetching inside the worker', () => {
  test('has retries', async () => {
    const layer = createRetryLayer({ defaults: { backoff: constant(10) } });
    script = [status(503), status(200)];
    const answer = layer.fetch(new Request('https://app.test/api'));
    await settle();
    await vi.advanceTimersByTimeAsync(10);
    expect((await answer).status).toBe(200);
    expect(fetched).toHaveLength(2);
  });

  test('ends with the reason of the request’s signal, also in a wait', async () => {
    const layer = createRetryLayer({ defaults: { backoff: constant(10_000) } });
    const controller = new AbortController();
    script = [status(503), status(200)];
    const answer = layer.fetch(new Request('https://app.test/api', { signal: controller.signal }));
    answer.catch(() => {});
    await settle();
    await vi.advanceTimersByTimeAsync(500);
    const reason = new Error('not needed');
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fetched).toHaveLength(1);
  });

  test('has none where there are none', async () => {
    const layer = createRetryLayer({ defaults: false });
    script = [status(503)];
    const request = new Request('https://app.test/api');
    expect((await layer.fetch(request)).status).toBe(503);
    expect(fetched).toEqual([[request]]);
  });

  test('fails open as well: a match that throws is a plain fetch', async () => {
    const layer = createRetryLayer({
      routes: [
        {
          match: () => {
            throw new Error('match');
          },
        },
      ],
    });
    const request = new Request('https://app.test/api');
    expect((await layer.fetch(request)).status).toBe(200);
    expect(fetched).toEqual([[request]]);
  });
});

describe('pages', () => {
  const hello = (client: object, answers: unknown[]) =>
    scope.dispatch('message', {
      data: toMessage({ kind: 'hello', version: '0.1.0' }),
      source: client,
      ports: [{ postMessage: (message: unknown) => answers.push(message) }],
      waitUntil: () => {},
    });

  test('see the retries of their own load', async () => {
    listen({ defaults: { backoff: constant(10) } });
    script = [status(503), status(200)];
    const { answer } = dispatch({ mode: 'navigate', clientId: '', resultingClientId: 'coming' });
    await settle();
    await vi.advanceTimersByTimeAsync(10);
    await answer;
    const page = scope.open('coming');
    const answers: unknown[] = [];
    hello(page, answers);
    await settle();
    expect(answers).toMatchObject([{ kind: 'welcome', version: '0.1.0' }]);
    expect(page.received).toMatchObject([{ event: { type: 'retry-scheduled' } }, { event: { type: 'recovered' } }]);
  });

  test('are told the status', async () => {
    listen({ defaults: { attempts: 2, backoff: constant(10) }, budget: { refillPerSecond: 0 } });
    await settle();
    script = [status(503), status(503)];
    const { answer } = dispatch();
    await settle();
    await vi.advanceTimersByTimeAsync(10);
    await answer;
    const answers: unknown[] = [];
    scope.dispatch('message', {
      data: toMessage({ kind: 'status' }),
      source: null,
      ports: [{ postMessage: (message: unknown) => answers.push(structuredClone(message)) }],
      waitUntil: () => {},
    });
    await settle();
    expect(answers).toMatchObject([
      {
        kind: 'status',
        status: {
          version: '0.1.0',
          storage: 'memory',
          counters: { requests: 1, attempts: 2, retries: 1, amplification: 2, recovered: 0, gaveUp: { attempts: 1 } },
          origins: [expect.objectContaining({ origin: 'https://app.test', group: 'data', tokens: 19, capacity: 20 })],
        },
      },
    ]);
  });

  test('that run dry one and the same budget hear of it, all of them', async () => {
    listen({ defaults: { attempts: 2, backoff: constant(10) }, budget: { capacity: 0 } });
    const pages = [scope.open('page'), scope.open('other')];
    script = [status(503)];
    await dispatch().answer;
    await settle();
    for (const { received } of pages) {
      expect(received.filter((message) => JSON.stringify(message).includes('budget-exhausted'))).toHaveLength(1);
    }
  });
});

describe('what pages want', () => {
  const say = async (message: PageMessage, client: object = scope.open('page')) => {
    const answers: unknown[] = [];
    scope.dispatch('message', {
      data: toMessage(message),
      source: client,
      ports: [{ postMessage: (answer: unknown) => answers.push(answer) }],
      waitUntil: () => {},
    });
    await settle();
    return answers;
  };
  const at = (path: string, init: RequestInit = {}) => new Request(`https://app.test${path}`, init);
  const hits = async (given: FetchOptions, attempts = 4) => {
    fetched.length = 0;
    script = Array.from({ length: 10 }, () => status(503));
    const { answer } = dispatch(given);
    for (let wait = 0; wait < attempts; wait += 1) {
      await vi.advanceTimersByTimeAsync(110);
      await settle();
    }
    await answer;
    return answer === undefined ? 'left alone' : fetched.length;
  };
  const quick = { defaults: { backoff: constant(100) }, circuit: { failures: 1e9, window: 1_000, attemptsDivisor: 1 } };

  test('a fragment asks for less, of script’s own fetches only', async () => {
    listen(quick);
    await settle();
    expect(await hits({ request: at('/x#~sf=x') })).toBe('left alone');
    expect(await hits({ request: at('/x#~sf=a1') })).toBe('left alone');
    expect(await hits({ request: at('/x#~sf=a2') })).toBe(2);
    expect(await hits({ request: at('/x#~sf=a2'), mode: 'navigate', resultingClientId: 'page' })).toBe(3);
    expect(await hits({ request: at('/x#~sf=nonsense') })).toBe(4);
  });

  test('what is announced counts for the next such request of that page', async () => {
    listen(quick);
    await settle();
    const call = { kind: 'call', id: '1', url: 'https://app.test/x', method: 'PUT', asked: '~sf=a3.u1' } as const;
    expect(await say(call)).toEqual([toMessage({ kind: 'done' })]);
    scope.open('other');
    expect(await hits({ request: at('/x', { method: 'PUT' }), clientId: 'other' })).toBe(4);
    expect(await hits({ request: at('/x#part', { method: 'PUT' }) })).toBe(3);
    expect(await hits({ request: at('/x', { method: 'PUT' }) })).toBe(4);
    // What anybody may take by accident makes nothing repeatable that is not.
    expect(await say({ ...call, method: 'POST' })).toEqual([toMessage({ kind: 'done' })]);
    expect(await hits({ request: at('/x', { method: 'POST' }) })).toBe('left alone');
  });

  test('the nonce of the handshake allows more, a guess does not', async () => {
    listen(quick);
    const [welcome] = (await say({ kind: 'hello', version: '0.1.0' })) as { nonce: string }[];
    const post = (nonce: string) => ({ request: at(`/x#~sf=u1.n${nonce}`, { method: 'POST' }) });
    expect(await hits(post(welcome?.nonce ?? ''))).toBe(4);
    expect(await hits(post('guess'))).toBe('left alone');
  });

  test('S07 a URL without a nonce is nobody’s, also before there is one', async () => {
    listen(quick);
    await vi.advanceTimersByTimeAsync(1_000);
    await settle();
    expect(await hits({ request: at('/x#~sf=u1', { method: 'POST' }) })).toBe('left alone');
    expect(await hits({ request: at('/x#~sf=u1.nundefined', { method: 'POST' }) })).toBe('left alone');
    expect(await hits({ request: at('/x#~sf=a9') }, 10)).toBe(4);
  });

  test('an abort ends the request with its id, of that page', async () => {
    listen({ defaults: { backoff: constant(10_000), throttledBackoff: constant(10_000) } });
    await settle();
    script = [status(503)];
    const { answer } = dispatch({ request: at('/x#~sf=iid-1') });
    await vi.advanceTimersByTimeAsync(20);
    await settle();
    await say({ kind: 'abort', id: 'id-1' }, scope.open('other'));
    expect(await Promise.race([answer, 'waits'])).toBe('waits');
    await say({ kind: 'abort', id: 'id-1' });
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(fetched).toHaveLength(1);
  });

  test('pause and resume', async () => {
    listen(quick);
    await settle();
    await say({ kind: 'pause' });
    expect(await hits({})).toBe('left alone');
    await say({ kind: 'resume' });
    expect(await hits({})).toBe(4);
  });

  test('retryNow and reset are told to the other workers, and what they tell is done', async () => {
    const sent: unknown[] = [];
    let hear: (event: { data: unknown }) => void = () => {};
    vi.stubGlobal(
      'BroadcastChannel',
      class {
        set onmessage(listener: typeof hear) {
          hear = listener;
        }
        postMessage = (data: unknown) => sent.push(data);
        close() {}
      },
    );
    const layer = listen({ defaults: { backoff: constant(10_000) }, budget: { refillPerSecond: 0 } });
    await settle();
    await say({ kind: 'retry-now' });
    await say({ kind: 'reset', origin: 'https://a.test' });
    expect(sent).toEqual([
      expect.objectContaining({ kind: 'retry-now' }),
      expect.objectContaining({ kind: 'reset', origin: 'https://a.test' }),
    ]);
    script = [lost, status(200)];
    const { answer } = dispatch();
    await vi.advanceTimersByTimeAsync(100);
    await settle();
    hear({ data: toGossip({ kind: 'retry-now' }) });
    await vi.advanceTimersByTimeAsync(100);
    await settle();
    expect((await answer)?.status).toBe(200);
    script = [status(503), status(503), status(503), status(503)];
    dispatch();
    await vi.advanceTimersByTimeAsync(100);
    await settle();
    expect(layer.status().origins).toHaveLength(1);
    hear({ data: toGossip({ kind: 'reset' }) });
    await settle();
    expect(layer.status().origins).toEqual([]);
  });

  test('observe sends once and counts; a page outside the sample is left alone', async () => {
    const observing = listen({ ...quick, mode: 'observe' });
    await settle();
    expect(await hits({})).toBe(1);
    expect(observing.status().counters).toMatchObject({ retries: 0, observed: { retry: 1 } });
    expect(scope.open('page').received).toEqual([]);
    scope = stubScope();
    listen({ ...quick, sample: 0 });
    expect(await hits({})).toBe('left alone');
  });
});
