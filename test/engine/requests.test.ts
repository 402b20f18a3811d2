import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { createWorld, NAVIGATION, rejection } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const URL = 'https://app.test/api/items?q=1';

describe('which object an attempt fetches', () => {
  test('B033 without a body: the original first, clones later, each its own, and every header', async () => {
    const request = new Request(URL, { headers: { Authorization: 'token', 'X-A': '1', Accept: 'application/json' } });
    const world = createWorld({ script: [503] });
    await world.serve({ request });
    const objects = world.network.sent.map((sent) => sent.request);
    expect(objects.map((object) => object === request)).toEqual([true, false, false, false]);
    expect(new Set(objects).size).toBe(4);
    for (const object of objects) {
      expect([...object.headers]).toEqual([...request.headers]);
      expect([object.url, object.method, object.credentials, object.redirect]).toEqual([
        request.url,
        request.method,
        request.credentials,
        request.redirect,
      ]);
    }
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('with a body: clones, and the original at the policy’s absolute maximum', async () => {
    const request = new Request(URL, { method: 'PUT', body: 'body' });
    const world = createWorld({ script: [503] });
    await world.serve({ request });
    expect(world.network.sent.map((sent) => sent.request === request)).toEqual([false, false, false, true]);
  });

  test('with a body that is answered early the original is never touched', async () => {
    const request = new Request(URL, { method: 'PUT', body: 'body' });
    const world = createWorld({ script: [503, 200] });
    await world.serve({ request });
    expect(world.network.sent.map((sent) => sent.request === request)).toEqual([false, false]);
  });

  test('row 20: the first attempt costs no clone when there is no body', async () => {
    const request = new Request(URL);
    request.clone = () => {
      throw new Error('cloned');
    };
    const world = createWorld({
      script: [200],
      prepare: (response) => Object.assign(response, { clone: request.clone }),
    });
    expect(await (await world.serve({ request })).text()).toBe('answer 1');
    expect(world.faults).toEqual([]);
  });

  test('B036 the idempotency key is the same on each attempt', async () => {
    const request = new Request(URL, { method: 'POST', body: 'order', headers: { 'Idempotency-Key': 'k-1' } });
    const world = createWorld({ script: ['reset', 503, 200] });
    await world.serve({ request });
    expect(world.network.sent.map((sent) => sent.request.headers.get('Idempotency-Key'))).toEqual([
      'k-1',
      'k-1',
      'k-1',
    ]);
  });
});

describe('the browser’s cache', () => {
  const FRESH: Record<string, string> = { 'Cache-Control': 'public, max-age=60' };
  const fresh = (status: number): Answer => ({ status, headers: FRESH });
  const reload = (request: Request) => ({
    cache: 'reload',
    referrer: request.referrer,
    referrerPolicy: request.referrerPolicy,
    signal: expect.any(AbortSignal),
  });

  test.each<{ name: string; first: Answer; init: boolean }>([
    { name: 'max-age', first: fresh(503), init: true },
    { name: 'Expires', first: { status: 503, headers: { Expires: 'Fri, 01 Jan 2027 00:00:00 GMT' } }, init: true },
    { name: 'no freshness', first: 503, init: false },
    { name: 'max-age=0', first: { status: 503, headers: { 'Cache-Control': 'max-age=0' } }, init: false },
    { name: 'no-store', first: { status: 503, headers: { 'Cache-Control': 'no-store, max-age=60' } }, init: false },
    {
      name: 'Expires in the past',
      first: { status: 503, headers: { Expires: 'Thu, 01 Jan 2026 00:00:00 GMT' } },
      init: false,
    },
    { name: 'Expires: 0', first: { status: 503, headers: { Expires: '0' } }, init: false },
    { name: 'a network error', first: 'reset', init: false },
  ])('after an error with $name it is gone around: $init', async ({ first, init }) => {
    const request = new Request(URL, { referrerPolicy: 'no-referrer', referrer: 'about:client' });
    const world = createWorld({ script: [first, 503, 200] });
    expect((await world.serve({ request })).status).toBe(200);
    expect(world.network.sent.map((sent) => sent.init)).toEqual(
      init ? [undefined, reload(request), reload(request)] : [undefined, undefined, undefined],
    );
  });

  test('beside an attempt that has no headers yet it is gone around', async () => {
    const request = new Request(URL);
    const world = createWorld({ script: ['hang', 200] });
    await world.serve({ request });
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, reload(request)]);
  });

  test('after an attempt that has answered it is not', async () => {
    const world = createWorld({
      script: [{ status: 503, afterMs: 12_000 }, 'reset', 200],
      policy: { backoff: constant(1_000), throttledBackoff: constant(1_000) },
    });
    await world.serve();
    expect(world.network.times()).toEqual([0, 11_000, 12_000]);
    expect(world.network.sent[1]?.init).toBeDefined();
  });

  test('a rebuilt request takes no init but these three', async () => {
    const world = createWorld({ script: [fresh(503), 200] });
    await world.serve();
    expect(Object.keys(world.network.sent[1]?.init ?? {}).sort()).toEqual([
      'cache',
      'referrer',
      'referrerPolicy',
      'signal',
    ]);
  });

  test.each<{ name: string; facts: Partial<RequestFacts> }>([
    { name: 'a navigation', facts: NAVIGATION },
    { name: 'no-cors with Range', facts: { mode: 'no-cors', range: true } },
    { name: 'force-cache', facts: { cache: 'force-cache' } },
  ])('$name cannot be rebuilt: a fresh error is delivered', async ({ facts }) => {
    const world = createWorld({ script: [fresh(503), 200] });
    const response = await world.serve({ facts });
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable', status: 503 });
  });

  test.each(['no-store', 'no-cache', 'reload'])('a request with cache %s goes around by itself', async (cache) => {
    const world = createWorld({ script: [fresh(503), 200] });
    await world.serve({ facts: { cache } });
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, undefined]);
  });

  test('a write is never answered from it', async () => {
    const world = createWorld({ script: [fresh(503), 200] });
    await world.serve({ request: new Request(URL, { method: 'PUT', body: 'x' }) });
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, undefined]);
  });

  test('a navigation is never rebuilt', async () => {
    const world = createWorld({ script: ['reset', 503, 200] });
    await world.serve({ facts: NAVIGATION });
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, undefined, undefined]);
  });
});

describe('an answer that the browser has asked for already', () => {
  const response = (status: number) => new Response('preloaded', { status });

  test('is attempt 1', async () => {
    const first = response(200);
    const world = createWorld();
    expect(await world.serve({ facts: NAVIGATION, first: Promise.resolve(first) })).toBe(first);
    expect(world.network.sent).toHaveLength(0);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  });

  test('is retried as any other, by clones', async () => {
    const request = new Request(URL);
    const world = createWorld();
    const answer = await world.serve({ request, facts: NAVIGATION, first: Promise.resolve(response(503)) });
    expect(answer.status).toBe(200);
    expect(world.network.times()).toEqual([1_000]);
    expect(world.network.sent[0]?.request).not.toBe(request);
    expect(world.steps.at(-1)).toMatchObject({ type: 'recovered', attempts: 2 });
  });

  test('that is none after all: attempt 1 is sent', async () => {
    const request = new Request(URL);
    const world = createWorld({ script: [503, 200] });
    await world.serve({ request, facts: NAVIGATION, first: Promise.resolve(undefined) });
    expect(world.network.times()).toEqual([0, 1_000]);
    expect(world.network.sent[0]?.request).toBe(request);
  });

  test('that fails is a network error', async () => {
    const world = createWorld({ script: [200] });
    const answer = await world.serve({ facts: NAVIGATION, first: Promise.reject(new TypeError('lost')) });
    expect(answer.status).toBe(200);
    expect(world.network.times()).toEqual([500]);
  });

  test('that fails, and all after it: the last error', async () => {
    const world = createWorld({ script: ['reset'] });
    const error = await rejection(world.serve({ facts: NAVIGATION, first: Promise.reject(new TypeError('lost')) }));
    expect(error).toBe(world.network.sent[1]?.error);
    expect(world.network.sent).toHaveLength(2);
  });
});

test('what the worker may not fetch is no evidence: it earns nothing, closes nothing and is not retried', async () => {
  const key = { origin: 'https://app.test', group: 'data' };
  const world = createWorld({ budget: { refillPerSecond: 0 }, circuit: { failures: 1 } });
  const at = world.time.now();
  world.book.record(key, { kind: 'retry-reserved', at, cost: 5 });
  world.book.record(key, { kind: 'request-failed', at, launchedAt: at });
  const before = world.book.look(key);
  const engine = { ...world.engine, ports: { ...world.ports, fetch: async () => Response.error() } };
  const answer = await world.time.until(serve(world.call(), engine, (fault) => world.faults.push(fault)));
  expect(answer.type).toBe('error');
  expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  const { budget, circuit } = world.book.look(key);
  expect({ budget, circuit }).toEqual({ budget: before.budget, circuit: before.circuit });
});
