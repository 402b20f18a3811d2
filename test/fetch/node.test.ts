import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { constant, createRetryFetch } from '../../src/fetch/index.ts';
import { rejection } from '../support/engine-world.ts';
import { openWire, type Wire } from '../support/wire.ts';

// A machine under load is slow, not wrong.
vi.setConfig({ testTimeout: 30_000 });

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire.close());

/** Of its own for each test: what one server does to one test is nothing to the next. */
const quick = (more: Parameters<typeof createRetryFetch>[0] = {}) =>
  createRetryFetch(
    { backoff: constant(20), ...more },
    { circuit: { failures: 1e9, window: 1_000, attemptsDivisor: 1 } },
  );

const closed = (hit: () => { readonly closedAt?: number } | undefined) =>
  vi.waitFor(() => {
    const at = hit()?.closedAt;
    if (at === undefined) throw new Error('still open');
    return at;
  });

test('503, 503, 200', async () => {
  const { url, hits } = wire.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
  const answer = await quick()(url);
  expect([answer.status, await answer.text(), hits().length]).toEqual([200, 'fine', 3]);
});

test('a connection that is reset', async () => {
  const { url, hits } = wire.plan([{ reset: 'headers' }, { body: 'fine' }]);
  expect(await (await quick()(url)).text()).toBe('fine');
  expect(hits()).toHaveLength(2);
});

test('resets without end: the error of the last one, with attempts', async () => {
  const { url, hits } = wire.plan([{ reset: 'headers' }]);
  expect(await rejection(quick({ attempts: 3 })(url))).toMatchObject({ name: 'TypeError', attempts: 3 });
  expect(hits()).toHaveLength(3);
});

test('nobody listens there', async () => {
  expect(await rejection(quick({ attempts: 2 })('http://127.0.0.1:1/'))).toMatchObject({ attempts: 2 });
});

test('an attempt that stalls is left for the next, and its socket closes', async () => {
  const { url, hits } = wire.plan([{ stall: 'headers' }, { body: 'fine' }]);
  const answer = await quick({ attemptTimeoutMs: 300 })(url);
  expect(await answer.text()).toBe('fine');
  const [first, second] = hits();
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(300);
  const at = await closed(() => hits()[0]);
  expect(at - (second?.at ?? 0)).toBeLessThan(500);
});

/** Everything that nobody holds is gone afterwards. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await pause(10);
  }
}

describe('row 11: called off', () => {
  const reason = new Error('enough');

  test('before: nothing is sent', async () => {
    const { url, hits } = wire.plan([{}]);
    expect(await rejection(quick()(url, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(hits()).toEqual([]);
  });

  test('in a wait', async () => {
    const { url, hits } = wire.plan([{ status: 503 }]);
    const controller = new AbortController();
    const answer = quick({ backoff: constant(10_000) })(url, { signal: controller.signal });
    await vi.waitFor(() => expect(hits()).toHaveLength(1));
    await pause(50);
    const startedAt = Date.now();
    controller.abort(reason);
    expect(await rejection(answer)).toBe(reason);
    expect(Date.now() - startedAt).toBeLessThan(500);
    expect(hits()).toHaveLength(1);
  });

  test.each([
    ['first', [{ stall: 'headers' as const }]],
    ['second', [{ status: 503 }, { stall: 'headers' as const }]],
  ])('while the %s attempt is in flight: its socket closes', async (_, steps) => {
    const { url, hits } = wire.plan(steps);
    const controller = new AbortController();
    const answer = quick()(url, { signal: controller.signal });
    await vi.waitFor(() => expect(hits()).toHaveLength(steps.length));
    const startedAt = Date.now();
    controller.abort(reason);
    expect(await rejection(answer)).toBe(reason);
    expect((await closed(() => hits().at(-1))) - startedAt).toBeLessThan(500);
  });

  test('while the body comes: the body breaks off with the reason, and the socket closes', async () => {
    const { url, hits } = wire.plan([{ status: 503 }, { stall: 'body', bytes: 10_000 }]);
    const controller = new AbortController();
    const answer = await quick()(url, { signal: controller.signal });
    const body = answer.text();
    body.catch(() => {});
    await pause(50);
    const startedAt = Date.now();
    controller.abort(reason);
    expect(await rejection(body)).toBe(reason);
    expect((await closed(() => hits().at(-1))) - startedAt).toBeLessThan(500);
  });

  test('while the body comes, and everything else has been collected', async () => {
    const { url } = wire.plan([{ stall: 'body', bytes: 10_000 }]);
    const controller = new AbortController();
    const reader = (await quick()(url, { signal: controller.signal })).body?.getReader();
    await reader?.read();
    await collectGarbage();
    const rest = reader?.read() as Promise<unknown>;
    controller.abort(reason);
    expect(await rejection(rest)).toBe(reason);
  }, 5_000);

  test('a signal for many requests keeps nothing of those that are over', async () => {
    const { signal } = new AbortController();
    const { url } = wire.plan([{ body: 'fine' }]);
    const retryFetch = quick();
    for (let call = 0; call < 30; call += 1) await (await retryFetch(url, { signal })).text();
    await collectGarbage();
    await collectGarbage();
    expect(getEventListeners(signal, 'abort').length).toBeLessThan(10);
  }, 10_000);

  test('by a timeout: its own error', async () => {
    const { url } = wire.plan([{ stall: 'headers' }]);
    expect(await rejection(quick()(url, { signal: AbortSignal.timeout(100) }))).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a POST with a key sends the same bytes each time', () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 251);
  const form = new FormData();
  form.set('file', new Blob([bytes]), 'bytes.bin');
  test.each([
    ['bytes', () => bytes],
    ['text', () => 'grüße'],
    ['a form', () => form],
    ['parameters', () => new URLSearchParams({ a: '1', b: 'ü' })],
    ['a stream', () => new Blob([bytes]).stream()],
  ])('%s', async (_, body) => {
    const { url, hits } = wire.plan([{ status: 503 }, { reset: 'body' }, { status: 502 }, { body: 'done' }]);
    const headers = { 'Idempotency-Key': 'k' };
    const answer = await quick()(url, { method: 'POST', headers, body: body(), duplex: 'half' } as RequestInit);
    // Half an answer is an answer: it is given as it is.
    expect(answer.status).toBe(200);
    answer.body?.cancel().catch(() => {});
    const sent = hits();
    expect(sent).toHaveLength(2);
    expect(sent[0]?.body.length).toBeGreaterThan(3);
    expect(sent[1]?.body.equals(sent[0]?.body as Buffer)).toBe(true);
    const type = (hit: (typeof sent)[number] | undefined) =>
      hit?.headers.find(([name]) => name.toLowerCase() === 'content-type');
    expect(type(sent[1])).toEqual(type(sent[0]));
  });
});

test('a dispatcher that the call names gets every attempt', async () => {
  let calls = 0;
  const dispatcher = {
    dispatch() {
      calls += 1;
      throw new Error('no way through');
    },
  };
  const { url, hits } = wire.plan([{}]);
  expect(await rejection(quick({ attempts: 3 })(url, { dispatcher } as RequestInit))).toMatchObject({ attempts: 3 });
  expect([calls, hits()]).toEqual([3, []]);
});

test('what is not repeated goes out as it is, once', async () => {
  const { url, hits } = wire.plan([{ status: 503, body: 'no' }]);
  const answer = await quick()(url, { method: 'POST', body: 'order' });
  expect([answer.status, await answer.text(), hits().length]).toEqual([503, 'no', 1]);
  expect(await (await quick()('data:text/plain,hello')).text()).toBe('hello');
});
