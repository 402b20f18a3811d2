import { afterEach, describe, expect, test, vi } from 'vitest';
import { createRetryFetch, type RetryFetch } from '../../src/fetch/retry-fetch.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { rangesOf } from '../support/broken-bodies.ts';
import { rejection } from '../support/engine-world.ts';
import { createFetchWorld, type FetchWorldOptions } from '../support/fetch-world.ts';
import { createMemoryStore } from '../support/memory-store.ts';

const ITEMS = 'https://app.test/api/items';

/** A world, and what a call in it comes to. */
function world(options: FetchWorldOptions = {}) {
  const all = createFetchWorld(options);
  const start = (...args: Parameters<RetryFetch>) => {
    const answer = all.retryFetch(...args);
    answer.catch(() => {});
    return answer;
  };
  const bodies = () => all.network.sent.map(({ body }) => body && new TextDecoder().decode(body));
  return { ...all, start, bodies, call: (...args: Parameters<RetryFetch>) => all.time.until(start(...args)) };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a download that breaks off', () => {
  const digits = rangesOf('0123456789');

  test('goes on, and is told of', async () => {
    const { call, time, network, events, retryFetch } = world({
      script: [digits.all(4), digits.from(4)],
      isControlled: () => true,
    });
    const response = await call(ITEMS, { retry: { resume: true } });
    expect(await time.until(response.text())).toBe('0123456789');
    expect(events).toMatchObject([
      { type: 'retry-scheduled' },
      { type: 'resumed', resumptions: 1, fromByte: 4, url: ITEMS },
    ]);
    expect(retryFetch.status().counters).toMatchObject({
      requests: 1,
      attempts: 2,
      retries: 1,
      recovered: 0,
      resumed: 1,
    });
    // The worker leaves the rest alone, too.
    expect(network.sent.map(({ request }) => new URL(request.url).hash)).toEqual(['#~sf=x', '#~sf=x']);
  });

  test('ends with its signal, during a wait and while the rest is on its way', async () => {
    for (const afterMs of [100, 600]) {
      const controller = new AbortController();
      const { call, time, network } = world({ script: [digits.all(4), { ...digits.from(4), afterMs: 1_000 }] });
      const response = await call(ITEMS, { signal: controller.signal, retry: { resume: true } });
      const reading = rejection(response.text());
      await time.advance(afterMs);
      controller.abort('enough');
      expect(await time.until(reading)).toBe('enough');
      await time.advance(10_000);
      expect(network.sent).toHaveLength(afterMs > 500 ? 2 : 1);
    }
  });
});

describe('as the worker does', () => {
  test('503, 503, 200: the exact schedule, and the network’s own answer', async () => {
    const { call, network, sleeper, warnings } = world({ script: [503, 503, 200] });
    const answer = await call(ITEMS);
    expect(answer).toBe(network.sent[2]?.response);
    expect(network.times()).toEqual([0, 1_000, 3_000]);
    expect([sleeper.pending(), warnings]).toEqual([0, []]);
  });

  test('what it tells, and its counters', async () => {
    const { call, events, retryFetch } = world({ script: [503, 'reset', 200] });
    await call(`${ITEMS}?secret=1`);
    expect(events).toMatchObject([
      { type: 'retry-scheduled', url: ITEMS, method: 'GET', group: 'data', attempt: 1, status: 503, delayMs: 1_000 },
      { type: 'retry-scheduled', attempt: 2, cause: 'network-error' },
      { type: 'recovered', attempts: 3, status: 200 },
    ]);
    expect(retryFetch.status()).toMatchObject({
      storage: 'memory',
      counters: { requests: 1, attempts: 3, retries: 2, recovered: 1 },
    });
  });

  test('listeners hear their own type, until they have had enough; one that throws harms nobody', async () => {
    const { call, retryFetch, warnings } = world({ script: [503, 200, 503, 200] });
    const heard: number[] = [];
    retryFetch.on('recovered', () => {
      throw new Error('mine');
    });
    const stop = retryFetch.on('recovered', ({ attempts }) => heard.push(attempts));
    expect((await call(ITEMS)).status).toBe(200);
    stop();
    await call(ITEMS);
    expect(heard).toEqual([2]);
    expect(warnings).toHaveLength(2);
  });

  test('a POST goes out once; one with a key is repeated byte for byte', async () => {
    const plain = world({ script: [503, 200] });
    expect((await plain.call(ITEMS, { method: 'POST', body: 'order' })).status).toBe(503);
    const keyed = world({ script: [503, 503, 200] });
    const headers = { 'Idempotency-Key': 'k' };
    expect((await keyed.call(ITEMS, { method: 'POST', body: 'order', headers })).status).toBe(200);
    expect([plain.bodies(), keyed.bodies()]).toEqual([['order'], ['order', 'order', 'order']]);
  });

  test('a body that streams is kept as far as it may be, and goes out whole in any case', async () => {
    const stream = () => new Blob(['streamed']).stream();
    const put = (body: BodyInit) => ({ method: 'PUT', body, duplex: 'half' }) as RequestInit;
    const kept = world({ script: [503, 200] });
    expect((await kept.call(ITEMS, put(stream()))).status).toBe(200);
    expect(kept.bodies()).toEqual(['streamed', 'streamed']);
    const large = world({ script: [503, 200], policy: { maxReplayBytes: 4 } });
    expect((await large.call(ITEMS, put(stream()))).status).toBe(503);
    expect(large.bodies()).toEqual(['streamed']);
    expect(large.events).toMatchObject([{ type: 'gave-up', reason: 'not-replayable' }]);
  });

  test('classify decides first', async () => {
    const classify = vi.fn(() => 'retry' as const);
    const { call, network } = world({ script: [404, 404], policy: { attempts: 2 }, classify });
    await call(ITEMS);
    expect(network.sent).toHaveLength(2);
    expect(classify).toHaveBeenCalledWith(expect.objectContaining({ kind: 'response', status: 404 }), 1);
  });

  test('waits for the network, and goes on when it is back', async () => {
    let online = false;
    const { start, time, network, goOnline, events } = world({ script: ['reset', 200], isOnline: () => online });
    const answer = start(ITEMS);
    await time.advance(3_000);
    expect(network.sent).toHaveLength(1);
    online = true;
    goOnline();
    expect((await time.until(answer)).status).toBe(200);
    expect(events).toMatchObject([{ type: 'waiting', cause: 'offline' }, { type: 'released' }, { type: 'recovered' }]);
  });

  test('row 12: 600 at once', async () => {
    const { start, time, network } = world({
      script: (_, earlier) => (earlier < 600 ? 503 : 200),
      budget: { capacity: 1e6 },
    });
    const answers = Array.from({ length: 600 }, (_, n) => start(`${ITEMS}/${n}`));
    const statuses = (await time.until(Promise.all(answers))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(new Set(network.sent.map(({ request }) => request.url)).size).toBe(600);
    expect(network.sent).toHaveLength(1_200);
  });
});

describe('row 11: the signal', () => {
  const reason = new Error('enough');

  test('aborted already: nothing is sent', async () => {
    const { call, network } = world();
    expect(await rejection(call(ITEMS, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(network.sent).toEqual([]);
  });

  test('in a wait: at once, with its reason as it is', async () => {
    const controller = new AbortController();
    const { start, time, network, sleeper, events } = world({ script: [503] });
    const answer = start(ITEMS, { signal: controller.signal });
    await time.advance(500);
    controller.abort(reason);
    expect(await rejection(answer)).toBe(reason);
    await time.advance(0);
    expect([network.sent.length, time.elapsed(), sleeper.pending()]).toEqual([1, 500, 0]);
    expect(reason).not.toHaveProperty('attempts');
    expect(events.at(-1)).toMatchObject({ type: 'gave-up', reason: 'aborted' });
  });

  test('while a discarded answer is read: at once, too', async () => {
    const controller = new AbortController();
    const body = () => new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(new Uint8Array(1)) });
    const { start, time, warnings } = world({ script: [{ status: 503, body }] });
    const answer = start(ITEMS, { signal: controller.signal });
    await time.advance(50);
    controller.abort(reason);
    expect(await rejection(answer)).toBe(reason);
    expect([time.elapsed(), warnings]).toEqual([50, []]);
  });

  test.each([
    ['the first', ['hang' as const]],
    ['a later', [503, 'hang' as const]],
  ])('in flight: %s attempt is aborted, too', async (_, script) => {
    const controller = new AbortController();
    const { start, time, network } = world({ script });
    const answer = start(new Request(ITEMS, { signal: controller.signal }));
    await time.advance(1_200);
    controller.abort(reason);
    expect(await rejection(answer)).toBe(reason);
    await time.advance(0);
    expect(network.sent.at(-1)?.abortedAt).toBe(1_200);
  });

  test('the signal of the init goes before that of the request', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { start, time } = world({ script: ['hang'] });
    const answer = start(new Request(ITEMS, { signal: first.signal }), { signal: second.signal });
    await time.advance(10);
    first.abort();
    await time.advance(10);
    second.abort(reason);
    expect(await rejection(answer)).toBe(reason);
  });
});

describe('row 14: an attempt that takes too long', () => {
  test('is aborted when the next one starts', async () => {
    const { call, network } = world({ script: ['hang', 200], policy: { attemptTimeoutMs: 300 } });
    expect((await call(ITEMS)).status).toBe(200);
    expect(network.times()).toEqual([0, 800]);
    expect(network.sent[0]?.abortedAt).toBe(800);
    expect(network.sent[1]?.abortedAt).toBeUndefined();
  });
});

describe('what a call says otherwise', () => {
  const calls = async (init: object, policy: FetchWorldOptions['policy'] = {}, method = 'GET') => {
    const { call, network } = world({ script: ['reset'], policy: { totalMs: 50_000, ...policy } });
    await rejection(call(ITEMS, { method, ...init }));
    return network.sent.length;
  };

  test('row 47: retries, 5 instead of 3; 0', async () => {
    expect(await calls({})).toBe(4);
    expect(await calls({ retry: { retries: 5 } })).toBe(6);
    expect(await calls({ retry: { retries: 0 } })).toBe(1);
    expect(await calls({ retryOptions: { maxAttempts: 2 } })).toBe(3);
    expect(await calls({ retry: false })).toBe(1);
  });

  test('row 36: what is zero or absent is inherited', async () => {
    expect(await calls({ retry: {} }, { attempts: 2 })).toBe(2);
    expect(await calls({ retry: { attempts: 0, totalMs: 0, attemptTimeoutMs: 0, backoff: undefined } })).toBe(4);
    expect(await calls({ retry: { hedge: false } }, { hedge: { afterMs: 1, max: 3 } })).toBe(4);
  });

  test('row 50: whether what is not idempotent is repeated, both ways', async () => {
    expect(await calls({}, {}, 'POST')).toBe(1);
    expect(await calls({ retry: { retryNonIdempotent: true } }, {}, 'POST')).toBe(4);
    expect(await calls({ retry: { retryNonIdempotent: false } }, { retryNonIdempotent: true }, 'POST')).toBe(1);
  });

  test.each([
    [{ retry: { attempts: -1 } }, 'retry.attempts'],
    [{ retry: { atempts: 1 } }, 'retry.atempts'],
    [{ retry: true }, 'retry'],
    [{ retry: null }, 'retry'],
    [{ retryOptions: { maxAttempts: 1.5 } }, 'retryOptions.maxAttempts'],
    [{ retryOptions: false }, 'retryOptions'],
    [{ retry: {}, retryOptions: {} }, 'retryOptions'],
  ])('%j is refused, and nothing is sent', async (init, option) => {
    const { call, network } = world();
    const error = await rejection(call(ITEMS, init as never));
    expect(error).toBeInstanceOf(RetryLayerError);
    expect(error).toMatchObject({ option });
    expect(network.sent).toEqual([]);
  });
});

describe('row 42: the network’s own error says how often was tried', () => {
  test('the same object, with attempts', async () => {
    const { call, network } = world({ script: ['reset'] });
    const error = await rejection(call(ITEMS));
    expect(error).toBe(network.sent[3]?.error);
    expect(error).toMatchObject({ name: 'TypeError', attempts: 4 });
  });

  test('an answer of the server goes before an error', async () => {
    const { call } = world({ script: [503, 'reset', 'reset', 'reset'] });
    expect((await call(ITEMS)).status).toBe(503);
  });
});

describe('row 20: what the caller has is left as it is', () => {
  test('init and headers', async () => {
    const init = Object.freeze({
      method: 'PUT',
      headers: Object.freeze({ a: 'b' }),
      body: 'x',
      retry: Object.freeze({}),
    });
    const { call } = world({ script: [503, 200] });
    expect((await call(ITEMS, init)).status).toBe(200);
  });

  test('a request without a body can be used again; one with a body is used up, as by fetch', async () => {
    const { call } = world({ script: [503, 200] });
    const get = new Request(ITEMS);
    await call(get);
    expect((await call(get)).status).toBe(200);
    const put = new Request(ITEMS, { method: 'PUT', body: 'x' });
    await call(put);
    expect(put.bodyUsed).toBe(true);
    const [ours, theirs] = [await rejection(call(put)), await rejection(fetch(put))];
    expect(ours).toBeInstanceOf(TypeError);
    expect(String(ours)).toBe(String(theirs));
  });

  test('a URL that is none', async () => {
    const { call } = world();
    for (const url of ['/relative', 'no url', '']) expect(await rejection(call(url))).toBeInstanceOf(TypeError);
  });
});

test('what no standard knows is told with every attempt', async () => {
  const { call, network } = world({ script: [503, 200, 503] });
  const dispatcher = {};
  await call(ITEMS, { dispatcher, retry: { backoff: { kind: 'constant', delayMs: 5 } } } as RequestInit);
  await call(ITEMS, { method: 'POST', dispatcher, priority: 'high' } as RequestInit);
  expect(network.sent.map(({ init }) => init)).toEqual([
    expect.objectContaining({ dispatcher, signal: expect.any(AbortSignal) }),
    expect.objectContaining({ dispatcher, signal: expect.any(AbortSignal) }),
    { dispatcher, priority: 'high', referrer: 'about:client', referrerPolicy: '' },
  ]);
  expect(network.sent[0]?.init).not.toHaveProperty('retry');
});

describe('beneath a service worker', () => {
  const marks = ({ network }: ReturnType<typeof world>) => network.sent.map(({ request }) => new URL(request.url).hash);

  test('every attempt asks to be left alone; nobody else sees it', async () => {
    const all = world({ script: [503, 'reset', 200], isControlled: () => true });
    await all.call(`${ITEMS}#part`);
    expect(marks(all)).toEqual(['#part~sf=x', '#part~sf=x', '#part~sf=x']);
    expect(all.events.every((event) => !('url' in event) || event.url === ITEMS)).toBe(true);
  });

  test.each([
    ['a URL', () => [new URL(ITEMS), { method: 'PUT', body: 'bytes' }]],
    ['a request', () => [new Request(ITEMS, { method: 'PUT', body: 'bytes', headers: { a: 'b' } })]],
    ['a stream', () => [ITEMS, { method: 'PUT', body: new Blob(['bytes']).stream(), duplex: 'half' }]],
  ])('also with a body: %s', async (_, args) => {
    const all = world({ script: [503, 200], isControlled: () => true });
    expect((await all.call(...(args() as Parameters<RetryFetch>))).status).toBe(200);
    expect([marks(all), all.bodies()]).toEqual([
      ['#~sf=x', '#~sf=x'],
      ['bytes', 'bytes'],
    ]);
  });

  test('a page that the worker takes over in the middle', async () => {
    let controlled = false;
    const all = world({ script: [503, 200], isControlled: () => controlled });
    const answer = all.start(ITEMS);
    await all.time.advance(500);
    controlled = true;
    await all.time.until(answer);
    expect(marks(all)).toEqual(['', '#~sf=x']);
  });

  test('whoever wants no retries wants none of the worker', async () => {
    const all = world({ script: [503], isControlled: () => true });
    await all.call(ITEMS, { retry: false });
    await all.call(new Request(ITEMS), { retry: { retries: 0 } });
    expect(marks(all)).toEqual(['#~sf=x', '#~sf=x']);
  });

  test.each([
    ['a URL', () => [ITEMS, { method: 'POST', body: 'order' }]],
    ['a request', () => [new Request(ITEMS, { method: 'POST', body: 'order' })]],
  ])('what is not retried here is the worker’s: %s', async (_, args) => {
    const all = world({ script: [503], isControlled: () => true });
    await all.call(...(args() as Parameters<RetryFetch>));
    expect([marks(all), all.bodies()]).toEqual([[''], ['order']]);
  });

  test('also at a mirror', async () => {
    const mirrors = ['https://mirror.test'];
    const all = world({ script: ['reset', 200], policy: { mirrors }, isControlled: () => true });
    await all.call(ITEMS);
    expect(all.network.sent.map(({ request }) => request.url)).toEqual([
      `${ITEMS}#~sf=x`,
      'https://mirror.test/api/items#~sf=x',
    ]);
  });
});

test('a fault of ours costs the retries, not the answer', async () => {
  const { call, network, warnings } = world({ script: [503, 200] });
  class Odd extends Request {
    override get headers(): Headers {
      throw new Error('not here');
    }
  }
  vi.stubGlobal('Request', Odd);
  expect((await call(ITEMS)).status).toBe(503);
  expect(network.sent).toHaveLength(1);
  expect(warnings).toEqual([[expect.stringContaining('because of a fault'), new Error('not here')]]);
});

describe('one state', () => {
  test('is shared through a store', async () => {
    const store = createMemoryStore();
    const first = world({ script: [{ status: 503, headers: { 'Retry-After': '60' } }], store });
    expect((await first.call(ITEMS)).status).toBe(503);
    await first.time.advance(1_000);
    const second = world({ store });
    await second.time.advance(0);
    expect(second.retryFetch.status()).toMatchObject({
      storage: 'indexeddb',
      origins: [{ origin: 'https://app.test' }],
    });
  });

  test('without one it is kept in memory, and nobody is warned', async () => {
    const { call, retryFetch, time, warnings, network } = world({
      script: [{ status: 503, headers: { 'Retry-After': '60' } }],
    });
    await call(ITEMS);
    await time.advance(20_000);
    const held = retryFetch.status().origins[0]?.heldUntil;
    expect(held).toBeGreaterThan(time.now());
    await call(ITEMS);
    expect([network.sent.length, warnings]).toEqual([2, []]);
  });
});

describe('what is wrong is said when it is made', () => {
  test.each([
    [{ attempts: 0 }, {}, 'policy.attempts'],
    [false, {}, 'policy'],
    [{ onEvent: () => {} }, {}, 'policy.onEvent'],
    [{}, { attempts: 3 }, 'options.attempts'],
    [{}, { fetch: 'fetch' }, 'options.fetch'],
    [{}, { circuit: { failures: 0 } }, 'options.circuit.failures'],
    [{}, { budget: { kind: 'windowed' } }, 'options.budget.ratio'],
    [{}, { onEvents: () => {} }, 'options.onEvents'],
  ])('%j %j', (policy, options, option) => {
    expect(() => createRetryFetch(policy as never, options as never)).toThrow(
      expect.objectContaining({ name: 'RetryLayerError', option }),
    );
  });

  test('no fetch anywhere', () => {
    vi.stubGlobal('fetch', undefined);
    expect(() => createRetryFetch()).toThrow(expect.objectContaining({ option: 'options.fetch' }));
  });
});

describe('the global fetch', () => {
  test('may be replaced by it', async () => {
    const native = vi.fn(async (_: Request) => new Response('native'));
    vi.stubGlobal('fetch', native);
    globalThis.fetch = createRetryFetch();
    expect(await (await fetch(ITEMS)).text()).toBe('native');
    expect(native).toHaveBeenCalledTimes(1);
  });
});
