/// <reference lib="webworker" />
import '../support/worker-scope.ts';
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { type PageMessage, toMessage, type WorkerMessage } from '../../src/protocol/messages.ts';
import type { Route } from '../../src/worker/options.ts';
import { createRetryLayer } from '../../src/worker/retry-layer.ts';
import { type FakeScope, settle, stubScope } from '../support/worker-scope.ts';

const API = 'https://app.test/api/orders';

let scope: FakeScope;
let online: boolean;
let answers: ((request: Request) => Response | Promise<Response>)[];
let hits: string[];
let events: LayerEvent[];

const status = (code: number) => () => new Response('answer', { status: code });
const lost = () => Promise.reject(new TypeError('lost'));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.stubGlobal('indexedDB', new IDBFactory());
  scope = stubScope();
  online = true;
  vi.stubGlobal('navigator', {
    get onLine() {
      return online;
    },
  });
  answers = [];
  hits = [];
  events = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    hits.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`);
    return (answers.shift() ?? status(200))(request);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const listen = (route: Partial<Route> = {}, more: object = {}) => {
  const layer = createRetryLayer({
    routes: [{ match: '/api', outbox: true, retry: { attempts: 1 }, ...route }],
    onEvent: (event) => events.push(event),
    ...more,
  });
  layer.listen();
  return layer;
};
const pass = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn += 1) {
    await settle();
    await vi.advanceTimersByTimeAsync(10);
  }
};
function send(init: RequestInit & { navigates?: boolean; url?: string } = {}) {
  const { navigates, url = API, ...rest } = init;
  const plain = new Request(url, { method: 'POST', body: rest.method === 'GET' ? null : 'x', ...rest });
  const request = navigates
    ? new Proxy(plain, {
        get: (target, key) => {
          if (key === 'mode') return 'navigate';
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      })
    : plain;
  let answer: Promise<Response> | undefined;
  scope.dispatch('fetch', {
    request,
    clientId: '',
    resultingClientId: '',
    respondWith: (given: Promise<Response>) => {
      answer = given;
      given.catch(() => {});
    },
    waitUntil: () => {},
  });
  return answer;
}
type Said = WorkerMessage & { readonly items?: readonly { readonly id: string }[] };
async function say(message: PageMessage): Promise<Said | undefined> {
  let said: Said | undefined;
  const port = { postMessage: (answer: Said) => (said = answer) };
  scope.dispatch('message', { data: toMessage(message), source: null, ports: [port], waitUntil: () => {} });
  await pass();
  return said;
}
const types = () => events.map(({ type }) => type).filter((type) => type.startsWith('queue'));

describe('row 56 a route with an outbox', () => {
  test('keeps an order while the device is offline, and delivers it once it is back', async () => {
    const layer = listen();
    online = false;
    const answer = send({ body: 'two apples' });
    await pass();
    expect((await answer)?.status).toBe(202);
    expect([await layer.outbox.depth(), hits]).toEqual([1, []]);
    online = true;
    await say({ kind: 'online' });
    expect(hits).toEqual(['POST /api/orders two apples']);
    expect(types()).toEqual(['queued', 'queue-sent']);
    expect((await layer.outbox.list())[0]).toMatchObject({ state: 'sent', status: 200, answer: 'answer' });
    expect(await layer.outbox.depth()).toBe(0);
  });

  test('workbox-358 B106 a worker that is started later delivers it with whatever comes first', async () => {
    listen();
    online = false;
    send();
    await pass();
    online = true;
    scope = stubScope();
    listen();
    send({ url: 'https://app.test/other', method: 'GET' });
    await pass();
    expect(hits).toContain('POST /api/orders x');
  });

  test.each<{ name: string; init: Parameters<typeof send>[0]; route?: Partial<Route>; taken: boolean }>([
    { name: 'a POST', init: {}, taken: true },
    { name: 'a PATCH', init: { method: 'PATCH' }, taken: true },
    { name: 'a method that the route does not name', init: { method: 'PURGE' }, taken: false },
    { name: 'one that it names', init: { method: 'PURGE' }, route: { methods: ['PURGE'] }, taken: true },
    { name: 'a POST elsewhere', init: { url: 'https://app.test/other' }, taken: false },
    { name: 'a form', init: { navigates: true }, taken: false },
    { name: 'a form with somewhere to go', init: { navigates: true }, route: { outbox: { page: '/q' } }, taken: true },
    { name: 'a POST without an outbox', init: {}, route: { outbox: false }, taken: false },
  ])('takes $name: $taken', ({ init, route, taken }) => {
    listen(route);
    expect(send(init) !== undefined).toBe(taken);
  });

  test('keeps nothing where retries are only observed', async () => {
    const layer = listen({}, { mode: 'observe' });
    expect(send()).toBeUndefined();
    expect([await layer.outbox.list(), await layer.outbox.depth()]).toEqual([[], 0]);
  });
});

test('B034 what is sent later has the credentials of the page’s request', async () => {
  const seen: string[] = [];
  listen();
  online = false;
  for (const credentials of ['include', 'omit'] as const) {
    send({ credentials });
    await pass();
  }
  online = true;
  answers = [1, 2].map(() => (request) => {
    seen.push(request.credentials);
    return new Response();
  });
  await say({ kind: 'online' });
  expect(seen).toEqual(['include', 'omit']);
});

describe('a page', () => {
  test('that says hello is told how many entries wait', async () => {
    listen();
    online = false;
    send();
    await pass();
    expect(await say({ kind: 'hello', version: '0.1.0' })).toMatchObject({ kind: 'welcome', waiting: 1 });
  });

  test('lists, sends, cancels and becomes somebody else', async () => {
    listen();
    answers = [lost];
    send({ headers: { 'Idempotency-Key': 'k' } });
    await pass();
    online = false;
    const [item] = (await say({ kind: 'outbox', wish: { do: 'list' } }))?.items ?? [];
    expect(item).toMatchObject({ state: 'waiting', url: API });
    expect(await say({ kind: 'outbox', wish: { do: 'owner', owner: 'ann' } })).toMatchObject({ waiting: 0 });
    expect(await say({ kind: 'outbox', wish: { do: 'list' } })).toMatchObject({ items: [] });
    expect(await say({ kind: 'outbox', wish: { do: 'owner' } })).toMatchObject({ waiting: 1 });
    expect(await say({ kind: 'outbox', wish: { do: 'cancel', id: item?.id } })).toMatchObject({ waiting: 0 });
    expect(types()).toEqual(['queued', 'queue-failed']);
  });

  test('that retires the worker takes the outbox with it; what comes then is not kept', async () => {
    const { registration } = self as unknown as ServiceWorkerGlobalScope;
    Object.assign(registration, { unregister: async () => true });
    listen();
    online = false;
    send();
    await pass();
    await say({ kind: 'retire' });
    expect((await indexedDB.databases()).map(({ name }) => name)).toEqual([]);
    expect(send()).toBeUndefined();
  });
});

test('the worker’s own code has the same', async () => {
  const layer = listen({ outbox: { name: 'orders' } });
  online = false;
  await layer.outbox.setOwner('ann');
  const kept = layer.fetch(new Request(API, { method: 'POST', body: 'x' }));
  await pass();
  expect((await kept).status).toBe(202);
  const [item] = await layer.outbox.list('orders');
  expect(await layer.outbox.list('others')).toEqual([]);
  expect(await layer.outbox.retry(item?.id)).toMatchObject([{ id: item?.id }]);
  // Of the last owner's entries nobody would ever hear again, and of all of them none would be left.
  await expect(layer.outbox.setOwner(42 as never)).rejects.toThrow('owner must be a text, got 42');
  expect(await layer.outbox.cancel(undefined as never)).toEqual([]);
  expect(await layer.outbox.cancel(item?.id ?? '')).toMatchObject([{ id: item?.id }]);
  expect(await layer.outbox.clear()).toEqual([]);
});
