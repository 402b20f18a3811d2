import { describe, expect, test, vi } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant, exponential } from '../../src/policy/backoff.ts';
import { createWorld, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const request = (method: string, body?: BodyInit, headers: Record<string, string> = {}) =>
  new Request(URL_OF_ITEMS, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    duplex: 'half',
  } as RequestInit);
const textOf = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

describe('ky-041 a body that is open when its only attempt is lost is cancelled, once', () => {
  /** A network that loses a connection has no use for the rest of an upload. */
  const fetch = async (sent: Request): Promise<Response> => {
    void sent.body?.cancel();
    throw new TypeError('lost');
  };
  const lose = async () => {
    const cancel = vi.fn();
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        to.enqueue(new Uint8Array(3));
      },
      cancel,
    });
    const world = createWorld({ policy: { attempts: 1 } });
    const engine = { ...world.engine, ports: { ...world.ports, fetch } };
    const call = world.call({ request: request('POST', body, { 'Idempotency-Key': '1' }) });
    await rejection(world.time.until(serve(call, engine, () => {})));
    await world.time.settle();
    return { cancel };
  };

  test('the source is told at once', async () => {
    const { cancel } = await lose();
    expect(cancel).toHaveBeenCalledTimes(1);
  });
});

test('got-102 an attempt after a timeout carries the same headers', async () => {
  const world = createWorld({ script: ['hang', 200], policy: { attempts: 2, attemptTimeoutMs: 100 } });
  await world.serve({ request: request('GET', undefined, { accept: 'application/json' }) });
  const accepts = world.network.sent.map((sent) => new Request(sent.request, sent.init).headers.get('accept'));
  expect(accepts).toEqual(['application/json', 'application/json']);
});

describe('a server that is down for 200 ms and fails for 200 more', () => {
  const form = () => {
    const data = new FormData();
    data.set('text', 'hello');
    return data;
  };
  test.each<{ id: string; body: () => BodyInit }>([
    { id: 'go-retryablehttp-178', body: () => new TextEncoder().encode('hello') },
    { id: 'go-retryablehttp-180', body: () => 'hello' },
    { id: 'go-retryablehttp-181', body: form },
    { id: 'go-retryablehttp-182', body: () => new URLSearchParams({ text: 'hello' }) },
  ])('$id each attempt has the body and the headers', async ({ body }) => {
    const world = createWorld({
      script: () => (world.time.elapsed() < 200 ? 'reset' : world.time.elapsed() < 400 ? 500 : 200),
      policy: { attempts: 51, statuses: [500], backoff: exponential({ baseMs: 10, maxMs: 50 }) },
      budget: { capacity: 1_000 },
    });
    const sent = request('PUT', body(), { foo: 'bar' });
    const whole = await sent.clone().text();
    expect((await world.serve({ request: sent })).status).toBe(200);
    expect(world.network.times().slice(0, 5)).toEqual([0, 10, 30, 70, 120]);
    for (const one of world.network.sent) {
      expect(one.request.headers.get('foo')).toBe('bar');
      expect(textOf(one.body)).toBe(whole);
      expect(whole).toContain('hello');
    }
  });
});

test('nurago-226 a body that cannot be had again: the answer there was, not an error in its place', async () => {
  const world = createWorld({ script: [503, 200], policy: { maxReplayBytes: 0 } });
  const response = await world.serve({ request: request('PUT', 'payload') });
  expect(response).toBe(world.network.sent[0]?.response);
  expect(world.network.sent).toHaveLength(1);
  expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable' });
});

test('nurago-227 a body is opened once for one replay', async () => {
  const world = createWorld({
    script: [500, 200],
    policy: { attempts: 3, statuses: [500], retryNonIdempotent: true, backoff: constant(100) },
  });
  const sent = request('POST', 'payload');
  const clone = vi.spyOn(sent, 'clone');
  const answer = world.start({ request: sent, facts: { hasBody: true } });
  await world.time.advance(99);
  const before = clone.mock.calls.length;
  expect((await world.time.until(answer)).status).toBe(200);
  expect(world.network.sent.map((one) => textOf(one.body))).toEqual(['payload', 'payload']);
  expect(clone.mock.calls.length - before).toBe(1);
});

test('grpc-416 a body above the buffer is sent once', async () => {
  const world = createWorld({ script: [503, 200], policy: { maxReplayBytes: 100, retryNonIdempotent: true } });
  expect((await world.serve({ request: request('POST', 'x'.repeat(500)) })).status).toBe(503);
  expect(world.network.sent.map(({ body }) => body?.length)).toEqual([500]);
});

test('grpc-438 a body in parts that fails in the middle begins anew, from its first part', async () => {
  const early: Answer = { status: 503, early: true };
  const world = createWorld({
    script: [early, early, 200],
    policy: { retryNonIdempotent: true, throttledBackoff: constant(10) },
  });
  const parts = ['1', '2', '3'];
  const body = new ReadableStream<Uint8Array>(
    {
      // The second part comes while the first answer is on its way, and the third later still.
      async pull(to) {
        const part = parts.shift();
        if (part === undefined) return to.close();
        if (part !== '1') await world.time.after(20);
        to.enqueue(new TextEncoder().encode(part));
      },
    },
    { highWaterMark: 0 },
  );
  expect((await world.serve({ request: request('POST', body) })).status).toBe(200);
  await world.time.advance(1_000);
  expect(world.network.sent.map((one) => textOf(one.body))).toEqual(['123', '123', '123']);
});
