import '../support/worker-scope.ts';

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import type { RetryOptions } from '../../src/policy/policy.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import type { RetryLayerOptions } from '../../src/worker/options.ts';
import { createRetryLayer } from '../../src/worker/retry-layer.ts';
import { stubScope } from '../support/worker-scope.ts';

const AT_ONCE = { backoff: constant(0), throttledBackoff: constant(0) };
const URL_OF_ITEMS = 'https://app.test/api/items';

beforeEach(() => {
  stubScope();
  vi.stubGlobal('indexedDB', undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

/** Asks once through a layer of its own, whose server answers so; the last answer goes on. */
async function ask(
  options: RetryLayerOptions,
  request: Request,
  script: readonly (number | 'reset')[] = [503],
): Promise<{ sent: number; status: number | undefined; told: LayerEvent[] }> {
  let sent = 0;
  vi.stubGlobal('fetch', async () => {
    const answer = script[Math.min(sent, script.length - 1)] ?? 200;
    sent += 1;
    if (answer === 'reset') throw new TypeError('lost');
    return new Response('busy', { status: answer });
  });
  const told: LayerEvent[] = [];
  const { defaults, onEvent } = options;
  const layer = createRetryLayer({
    ...options,
    defaults: defaults === false ? false : { ...AT_ONCE, ...defaults },
    onEvent: (event) => {
      told.push(event);
      onEvent?.(event);
    },
  });
  const response = await layer.fetch(request).catch(() => undefined);
  return { sent, status: response?.status, told };
}

const get = () => new Request(URL_OF_ITEMS);
const post = (headers = {}) => new Request(URL_OF_ITEMS, { method: 'POST', body: 'order', headers });
const route = (retry: RetryOptions | false) => ({ routes: [{ match: '/api', retry }] });

describe('row 24: what is told of a request', () => {
  test('attempt, status and endpoint, and neither body nor tokens', async () => {
    const request = new Request(`${URL_OF_ITEMS}?token=secret-1`, {
      method: 'PUT',
      body: 'secret-2',
      headers: { Authorization: 'secret-3', Cookie: 'secret-4' },
    });
    const { told } = await ask({}, request, [503, 'reset', 200]);
    expect(told).toMatchObject([
      { type: 'retry-scheduled', attempt: 1, status: 503, url: URL_OF_ITEMS, method: 'PUT' },
      { type: 'retry-scheduled', attempt: 2, cause: 'network-error', url: URL_OF_ITEMS },
      { type: 'recovered', attempts: 3, status: 200, url: URL_OF_ITEMS },
    ]);
    expect(JSON.stringify(told)).not.toContain('secret');
    expect(JSON.stringify(told)).not.toContain('busy');
  });
});

describe('row 36: a policy by request', () => {
  test('what is absent or undefined is inherited', async () => {
    const { sent } = await ask({ defaults: { attempts: 3 }, ...route({ attempts: undefined as never }) }, get());
    expect(sent).toBe(3);
    expect((await ask({ defaults: { attempts: 3 }, ...route({}) }, get())).sent).toBe(3);
  });

  test('none at all for a route', async () => {
    const { sent, told } = await ask({ defaults: { attempts: 3 }, ...route(false) }, get());
    expect([sent, told]).toEqual([1, []]);
  });

  test.each(['budget', 'circuit', 'onEvent'])('%s is the layer’s, and no route’s', (option) => {
    const routes = [{ match: '/api', [option]: {} }];
    expect(() => createRetryLayer({ routes } as RetryLayerOptions)).toThrow(RetryLayerError);
  });
});

describe('row 41: hooks', () => {
  test('a retry: attempt, wait, status or error, and whose time it is; a circuit: from and to', async () => {
    const { told } = await ask({ circuit: { failures: 1, attemptsDivisor: 1 }, defaults: { attempts: 3 } }, get(), [
      503,
      'reset',
      503,
    ]);
    expect(told).toMatchObject([
      { type: 'retry-scheduled', attempt: 1, delayMs: 0, status: 503, cause: 'status', by: 'backoff' },
      { type: 'retry-scheduled', attempt: 2, delayMs: 0, cause: 'network-error', by: 'backoff' },
      { type: 'circuit-changed', from: 'closed', to: 'open' },
      { type: 'gave-up', attempts: 3, lastStatus: 503 },
    ]);
  });

  test('a hedge: the number of its attempt', async () => {
    const told: LayerEvent[] = [];
    let sent = 0;
    vi.stubGlobal('fetch', (request: Request) => {
      sent += 1;
      return sent === 1 ? new Promise(() => {}) : Promise.resolve(new Response(request.url));
    });
    const layer = createRetryLayer({ defaults: { hedge: { afterMs: 5 } }, onEvent: (event) => told.push(event) });
    expect((await layer.fetch(get())).status).toBe(200);
    expect(told).toMatchObject([
      { type: 'hedge-launched', attempt: 2, url: URL_OF_ITEMS },
      { type: 'recovered', attempts: 2 },
    ]);
  });

  test('one that throws harms nothing', async () => {
    const onEvent = () => {
      throw new Error('mine');
    };
    expect(await ask({ onEvent }, get(), [503, 503, 200])).toMatchObject({ sent: 3, status: 200 });
  });
});

describe('row 46: a user’s own rule', () => {
  test.each([
    { name: 'GET', request: get(), sent: 4 },
    { name: 'POST, of which it is never asked', request: post(), sent: 1 },
    { name: 'POST with a key', request: post({ 'Idempotency-Key': '1' }), sent: 4 },
  ])('cannot make a method repeatable: $name', async ({ request, sent }) => {
    const asked: number[] = [];
    const classify = (_: unknown, attempt: number) => {
      asked.push(attempt);
      return 'retry' as const;
    };
    expect((await ask({ classify }, request, [404])).sent).toBe(sent);
    expect(asked).toHaveLength(sent === 1 ? 0 : sent);
  });
});

describe('row 47: retries by request', () => {
  test.each([
    { retries: 5, sent: 6 },
    { retries: 0, sent: 1 },
  ])('$retries instead of 3', async ({ retries, sent }) => {
    expect((await ask({ defaults: { retries: 3 } }, get())).sent).toBe(4);
    expect((await ask({ defaults: { retries: 3 }, ...route({ retries }) }, get())).sent).toBe(sent);
  });
});

describe('row 50 and row 21: methods that are not idempotent run once', () => {
  test.each<{ name: string; options: RetryLayerOptions; headers?: Record<string, string>; sent: number }>([
    { name: 'by default', options: {}, sent: 1 },
    { name: 'with a key', options: {}, headers: { 'Idempotency-Key': 'k' }, sent: 4 },
    { name: 'with a key by its other name', options: {}, headers: { 'X-Idempotency-Key': 'k' }, sent: 4 },
    { name: 'with a key that is empty', options: {}, headers: { 'Idempotency-Key': '' }, sent: 1 },
    { name: 'where the layer says so', options: { defaults: { retryNonIdempotent: true } }, sent: 4 },
    { name: 'where the route says so', options: route({ retryNonIdempotent: true }), sent: 4 },
    {
      name: 'where the route says no and the layer yes',
      options: { defaults: { retryNonIdempotent: true }, ...route({ retryNonIdempotent: false }) },
      sent: 1,
    },
    {
      name: 'where the route says yes and the layer no',
      options: { defaults: { retryNonIdempotent: false }, ...route({ retryNonIdempotent: true }) },
      sent: 4,
    },
  ])('$name: $sent', async ({ options, headers, sent }) => {
    expect((await ask(options, post(headers), ['reset'])).sent).toBe(sent);
  });
});
