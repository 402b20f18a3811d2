import '../support/worker-scope.ts';

import type { NetworkFirst as SerwistNetworkFirst } from 'serwist';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import type { PrecacheStrategy } from 'workbox-precaching';
import type { NetworkFirst } from 'workbox-strategies';
import { constant } from '../../src/policy/backoff.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { toMessage } from '../../src/protocol/messages.ts';
import { createRetries, type Retries } from '../../src/workbox/retries.ts';
import type { Handler, Strategy } from '../../src/workbox/strategy.ts';
import { type FakeScope, settle, stubScope } from '../support/worker-scope.ts';

let scope: FakeScope;
let warn: ReturnType<typeof vi.spyOn>;
let retries: Retries;
let script: (() => Response | Promise<Response>)[];
let sent: Request[];

const status = (code: number) => () => new Response(`answer ${code}`, { status: code });
const lost = () => Promise.reject(new TypeError('lost'));
const NOW = { backoff: constant(0), throttledBackoff: constant(0) };

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  scope = stubScope();
  scope.open('page');
  script = [];
  sent = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    sent.push(request);
    return (script.shift() ?? status(200))();
  });
  vi.stubGlobal('indexedDB', undefined);
  retries = createRetries();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const URL_ = 'https://app.test/api';
const fetchEvent = (request = new Request(URL_)) =>
  ({ type: 'fetch', request, clientId: 'page', resultingClientId: '', waitUntil: () => {} }) as unknown as FetchEvent;

type Plugin = Partial<Record<string, (about: never) => unknown>>;

/** What a strategy is as far as it is used; `Alone` marks what it fetches without retries. */
function createStrategy({ plugins = [], fails = false }: { plugins?: Plugin[]; fails?: boolean } = {}) {
  const waits: Promise<unknown>[] = [];
  const strategy = {
    plugins,
    async _handle(request: Request, handler: Handler) {
      if (fails) throw new Error('failed');
      return handler.fetch(request);
    },
    handle({ request, event }: { request: Request; event: ExtendableEvent }): Promise<Response> {
      const handler: Handler = {
        event,
        fetch: async () => new Response('alone', { headers: { Alone: 'yes' } }),
        hasCallback: (name) => plugins.some((plugin) => name in plugin),
        iterateCallbacks: (name) => plugins.flatMap((plugin) => (plugin[name] ?? []) as never),
        waitUntil: (work) => waits.push(work),
      };
      return (strategy as Strategy)._handle(request, handler) as Promise<Response>;
    },
  };
  return { strategy, waits };
}

function refusal(work: () => unknown): RetryLayerError {
  try {
    work();
  } catch (error) {
    if (error instanceof RetryLayerError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('options', () => {
  test.each<{ name: string; work: (retries: Retries) => unknown; says: RegExp }>([
    {
      name: 'a policy of its own words',
      work: ({ withRetry }) => withRetry(createStrategy().strategy, { attempts: 0 }),
      says: /^policy\.attempts must be .*got 0.*retry: false/,
    },
    {
      name: 'of a handler, too',
      work: ({ retryHandler }) => retryHandler({ atempts: 2 } as never),
      says: /^policy\.atempts is not an option/,
    },
    {
      name: 'no strategy',
      work: ({ withRetry }) => withRetry((() => {}) as never),
      says: /^strategy must be a strategy of Workbox or Serwist.*retryHandler\(policy\)/,
    },
    {
      name: 'a budget without sense',
      work: ({ configureRetries }) => configureRetries({ budget: { capacity: -1 } }),
      says: /^budget\.capacity must be .*got -1/,
    },
    {
      name: 'a policy where it is shared',
      work: ({ configureRetries }) => configureRetries({ attempts: 2 } as never),
      says: /^attempts is not an option.*into the policy of `withRetry`/,
    },
  ])('refused: $name', ({ work, says }) => {
    const { message } = refusal(() => work(retries));
    expect(message).toMatch(says);
  });

  test('what is refused sets nothing going', async () => {
    refusal(() => retries.retryHandler({ attempts: 0 }));
    refusal(() => retries.configureRetries({ onEvent: 1 } as never));
    await settle();
    expect(scope.listening).toEqual([]);
  });

  test('a strategy has retries once', () => {
    const { strategy } = createStrategy();
    retries.withRetry(strategy);
    expect(refusal(() => retries.withRetry(strategy)).message).toMatch(/once/);
  });

  test('what is shared is said once, in any order, while the script runs', async () => {
    const onEvent = vi.fn();
    const handler = retries.retryHandler(NOW);
    retries.configureRetries({ onEvent });
    expect(refusal(() => retries.configureRetries({})).message).toMatch(/twice/);
    await settle();
    script = [status(503)];
    await handler({ request: new Request(URL_), event: fetchEvent() });
    expect(onEvent).toHaveBeenCalledWith(expect.objectContaining({ type: 'recovered' }));
  });

  test('afterwards it is refused', async () => {
    retries.retryHandler();
    await settle();
    expect(refusal(() => retries.configureRetries({}))).toMatchObject({ code: 'already-listening' });
  });
});

test('the strategy comes back as what it was', () => {
  const { strategy } = createStrategy();
  expect(retries.withRetry(strategy)).toBe(strategy);
  const { withRetry } = retries;
  expectTypeOf(withRetry<NetworkFirst>).returns.toEqualTypeOf<NetworkFirst>();
  expectTypeOf(withRetry<PrecacheStrategy>).returns.toEqualTypeOf<PrecacheStrategy>();
  expectTypeOf(withRetry<SerwistNetworkFirst>).returns.toEqualTypeOf<SerwistNetworkFirst>();
});

test('pages are heard as soon as the script has run, and events come from one engine', async () => {
  const first = retries.retryHandler(NOW);
  const second = retries.retryHandler(NOW);
  await settle();
  expect(scope.listening.filter((type) => type === 'message')).toHaveLength(1);
  script = [status(503), status(200), status(503), status(200)];
  await first({ request: new Request(URL_), event: fetchEvent() });
  await second({ request: new Request(URL_), event: fetchEvent() });
  const posted: unknown[] = [];
  scope.dispatch('message', {
    data: toMessage({ kind: 'status' }),
    source: { id: 'page', postMessage: () => {} },
    ports: [{ postMessage: (message: unknown) => posted.push(message) }],
    waitUntil: () => {},
  });
  await settle();
  expect(posted).toMatchObject([{ kind: 'status', status: { counters: { requests: 2, recovered: 2 } } }]);
});

describe('a strategy', () => {
  const handled = (made: ReturnType<typeof createStrategy>, request = new Request(URL_), event = fetchEvent(request)) =>
    retries.withRetry(made.strategy, NOW).handle({ request, event });

  test('retries, and keeps its worker alive meanwhile', async () => {
    script = [status(503), lost, status(200)];
    const made = createStrategy();
    const response = await handled(made);
    expect(await response.text()).toBe('answer 200');
    expect(sent).toHaveLength(3);
    expect(made.waits.length).toBeGreaterThan(0);
    // As it is, so that the browser can give it what it has asked for already.
    expect(sent[0]?.url).toBe(URL_);
  });

  test('what may not be sent twice is fetched by itself', async () => {
    const response = await handled(createStrategy(), new Request(URL_, { method: 'POST', body: 'x' }));
    expect(response.headers.get('Alone')).toBe('yes');
    expect(sent).toHaveLength(0);
  });

  test('so is everything if something of ours fails', async () => {
    vi.stubGlobal('self', { location: new URL('https://app.test/sw.js') });
    retries = createRetries();
    const response = await handled(createStrategy());
    expect(response.headers.get('Alone')).toBe('yes');
    expect(warn).toHaveBeenCalledTimes(1);
    script = [status(404)];
    const event = fetchEvent();
    expect(await retries.retryHandler()({ request: event.request, event })).toMatchObject({ status: 404 });
  });

  test('without an event of a page it retries as well', async () => {
    script = [status(503), status(200)];
    const event = { type: 'message', waitUntil: () => {} } as unknown as ExtendableEvent;
    const response = await handled(createStrategy(), new Request(URL_), event as FetchEvent);
    expect(response.status).toBe(200);
  });

  test('a file that is being installed has ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    script = [status(503), status(503), status(503), status(200)];
    const wait = constant(6_000);
    const { strategy } = createStrategy();
    const event = { type: 'install', waitUntil: () => {} } as unknown as ExtendableEvent;
    const policy = { backoff: wait };
    const answer = retries.withRetry(strategy, policy).handle({ request: new Request(URL_), event });
    await vi.advanceTimersByTimeAsync(9_000);
    expect([(await answer).status, sent.length]).toEqual([503, 2]);
    vi.useRealTimers();
  });

  test('what the page has called off is not told as a failure', async () => {
    const fetchDidFail = vi.fn();
    script = [status(503)];
    await settle();
    const waiting = createStrategy({ plugins: [{ fetchDidFail }] });
    const say = (message: Parameters<typeof toMessage>[0]) =>
      scope.dispatch('message', {
        data: toMessage(message),
        source: { id: 'page', postMessage: () => {} },
        ports: [],
        waitUntil: () => {},
      });
    retries.withRetry(waiting.strategy, { backoff: constant(20_000) });
    await settle();
    say({ kind: 'call', id: 'a', url: URL_, method: 'GET', asked: '#~sf=ia' });
    const request = new Request(URL_);
    const answer = waiting.strategy.handle({ request, event: fetchEvent(request) });
    await settle();
    say({ kind: 'abort', id: 'a' });
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect([fetchDidFail.mock.calls.length, sent.length]).toEqual([0, 1]);
  });

  test('plugins hear of the last failure only', async () => {
    const told: string[] = [];
    const plugins = [
      {
        fetchDidFail: async ({ error, request }: { error: Error; request: Request }) => {
          told.push(`${error.message} ${await request.text()}`);
        },
      },
    ];
    script = [lost, lost, lost, lost];
    const request = new Request(URL_, { method: 'PUT', body: 'x' });
    await expect(handled(createStrategy({ plugins: plugins as Plugin[] }), request)).rejects.toThrow('lost');
    expect(sent).toHaveLength(4);
    expect(told).toEqual(['lost x']);
  });

  test('a plugin that throws before anything is sent fails the attempt, and nothing is queued', async () => {
    const requestWillFetch = vi.fn(async () => {
      throw new Error('no token');
    });
    const fetchDidFail = vi.fn();
    await expect(handled(createStrategy({ plugins: [{ requestWillFetch, fetchDidFail }] }))).rejects.toThrow(
      'no token',
    );
    expect([requestWillFetch.mock.calls.length, sent.length, fetchDidFail.mock.calls.length]).toEqual([4, 0, 0]);
  });

  test('the last real answer is given, whatever plugins do to a later attempt', async () => {
    const requestWillFetch = vi.fn(async (): Promise<Request> => {
      throw new Error('no token');
    });
    requestWillFetch.mockImplementationOnce(async () => new Request(URL_));
    script = [status(503)];
    expect((await handled(createStrategy({ plugins: [{ requestWillFetch }] }))).status).toBe(503);
  });
});

describe('a handler', () => {
  test('answers what is left alone, too', async () => {
    script = [status(503)];
    const request = new Request(URL_, { method: 'POST', body: 'x' });
    const response = await retries.retryHandler(NOW)({ request, event: fetchEvent(request) });
    expect(response.status).toBe(503);
    expect(sent).toHaveLength(1);
  });

  test('gives up with the last answer', async () => {
    script = [status(503), status(502), status(503), status(502)];
    const response = await retries.retryHandler(NOW)({ request: new Request(URL_), event: fetchEvent() });
    expect([response.status, await response.text(), sent.length]).toEqual([502, 'answer 502', 4]);
  });
});

test('nothing is warned of by all that', () => {
  retries.retryHandler();
  expect(warn).not.toHaveBeenCalled();
});
