import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { CLOSED } from '../../src/policy/circuit.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { createWorld, NAVIGATION, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { recordOf } from '../support/records.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';
import { createVirtualTime, START } from '../support/virtual-time.ts';

const put = (body: string) => new Request(URL_OF_ITEMS, { method: 'PUT', body });

describe('cancelTimedOut', () => {
  const policy = { cancelTimedOut: true, attemptTimeoutMs: 1_000, backoff: constant(500) };

  test('a write that is overdue is cut off when the next one starts: never two at once', async () => {
    const world = createWorld({ script: ['hang', 200], policy });
    expect((await world.serve({ request: put('body') })).status).toBe(200);
    expect(world.network.times()).toEqual([0, 1_500]);
    expect(world.network.sent[0]?.abortedAt).toBe(1_500);
    expect(world.network.sent.map(({ body }) => new TextDecoder().decode(body))).toEqual(['body', 'body']);
  });

  test('what answers during the wait is the answer, and nothing is sent twice', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 1_400 }], policy });
    expect((await world.serve({ request: put('body') })).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.network.sent[0]?.abortedAt).toBeUndefined();
  });

  test('the last attempt is waited for', async () => {
    const world = createWorld({
      script: ['hang', { status: 200, afterMs: 20_000 }],
      policy: { ...policy, attempts: 2 },
    });
    expect((await world.serve({ request: put('x') })).status).toBe(200);
    expect(world.time.elapsed()).toBe(21_500);
  });

  test('an upload’s time does not count: a body is given time by its size', async () => {
    const body = 'x'.repeat(160_000);
    const world = createWorld({ script: ['hang', 200], policy });
    await world.serve({ request: put(body) });
    expect(world.network.times()).toEqual([0, 11_500]);
  });

  test('a body that is not kept is not cut off', async () => {
    const script: Answer[] = [{ status: 200, afterMs: 15_000 }];
    const world = createWorld({ script, policy: { ...policy, maxReplayBytes: 3 } });
    expect((await world.serve({ request: put('four') })).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
  });

  test('reads are cut off as well, and need not go around the cache then', async () => {
    const world = createWorld({ script: ['hang', 200], policy });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent[0]?.abortedAt).toBe(1_500);
    expect(world.network.sent[1]?.init?.cache).toBeUndefined();
  });

  test('every attempt can be called off, and keeps its referrer', async () => {
    const world = createWorld({ policy });
    const request = new Request(URL_OF_ITEMS, { referrerPolicy: 'origin' });
    await world.serve({ request });
    expect(world.network.sent[0]?.init).toEqual({
      referrer: request.referrer,
      referrerPolicy: 'origin',
      signal: expect.any(AbortSignal),
    });
  });

  test.each([
    { name: 'a navigation', facts: NAVIGATION },
    { name: 'long polling', facts: { polling: true } },
    { name: 'a foreign referrer', facts: { sameReferrer: false, method: 'PUT' } },
  ])('does nothing to $name', async ({ facts }) => {
    const world = createWorld({ script: [{ status: 200, afterMs: 5_000 }], policy });
    await world.serve({ facts });
    expect(world.network.sent).toHaveLength(1);
    expect(world.network.sent[0]?.init).toBeUndefined();
  });

  test('five that are overdue at once: each is cut off, none waits for a place', async () => {
    const world = createWorld({ script: (_, earlier) => (earlier < 5 ? 'hang' : 200), policy });
    const answers = [1, 2, 3, 4, 5].map(() => world.start());
    for (const answer of answers) expect((await world.time.until(answer)).status).toBe(200);
    expect(world.time.elapsed()).toBe(1_500);
  });
});

describe('hardTotal', () => {
  const policy = { hardTotal: true, totalMs: 5_000 };

  test('row 49: ends at the deadline, and what is in flight is let go', async () => {
    const late = watchedBody(['late']);
    const world = createWorld({ script: [{ status: 200, afterMs: 7_000, body: late.open }], policy });
    const error = await rejection(world.serve());
    expect(world.time.elapsed()).toBe(5_000);
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(String(error)).toContain('5000 ms');
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', attempts: 1, reason: 'deadline' });
    await world.time.advance(5_000);
    expect([late.opened(), late.cancelled()]).toEqual([1, 1]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('with the last answer there was, if there was one', async () => {
    const world = createWorld({ script: [{ status: 503, body: 'first' }, 'hang'], policy });
    const response = await world.serve();
    expect([response.status, await response.text(), world.time.elapsed()]).toEqual([503, 'first', 5_000]);
  });

  test('with the network’s own error, if that was all', async () => {
    const world = createWorld({ script: ['reset', 'hang'], policy });
    expect(await rejection(world.serve())).toBe(world.network.sent[0]?.error);
    expect(world.time.elapsed()).toBe(5_000);
  });

  test('without it what is in flight is waited for', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 7_000 }], policy: { totalMs: 5_000 } });
    expect((await world.serve()).status).toBe(200);
    expect(world.time.elapsed()).toBe(7_000);
  });

  test('an answer in time is delivered, and no timer is left', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 4_999 }], policy });
    expect((await world.serve()).status).toBe(200);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('ends a wait for the network and for a circuit, too', async () => {
    const offline = createWorld({ script: ['reset'], policy, isOnline: () => false });
    await rejection(offline.serve());
    expect(offline.time.elapsed()).toBe(5_000);
  });

  const key = { origin: 'https://app.test', group: 'data' };

  test('a request that was cut short has failed, like any other: a hanging server is found out', async () => {
    const world = createWorld({ script: ['hang'], policy, circuit: {} });
    await rejection(world.serve());
    expect(world.book.look(key).circuit).toMatchObject({ failures: 1, recent: '0' });
    await rejection(world.serve());
    expect(world.book.look(key).circuit.openUntil).toBeGreaterThan(0);
  });

  test('a probe that hangs opens the circuit again', async () => {
    const world = createWorld({ script: ['hang'], policy: { ...policy, circuit: 'reject' }, circuit: { failures: 1 } });
    const at = world.time.now();
    world.book.record(key, { kind: 'request-failed', at, launchedAt: at });
    const { openUntil } = world.book.look(key).circuit;
    await world.time.advance(2_000);
    await rejection(world.serve());
    expect(world.book.look(key).circuit.openUntil).toBeGreaterThan(openUntil);
  });

  test('what ends while the device is offline is nobody’s fault', async () => {
    const world = createWorld({ script: ['reset'], policy, isOnline: () => false, circuit: { failures: 1 } });
    await rejection(world.serve());
    expect(world.book.look(key).circuit.openUntil).toBe(0);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'offline' });
  });

  test('it is hard while the store is slow, too', async () => {
    const store = createMemoryStore(() => new Promise(() => {}));
    const world = createWorld({ script: [503], policy: { ...policy, totalMs: 500 }, store, cold: true });
    expect((await world.serve()).status).toBe(503);
    expect(world.time.elapsed()).toBeLessThanOrEqual(600);
  });

  test('what was called for a wait that ends with it is left to the next', async () => {
    const world = createWorld({
      script: ['reset', 'hang'],
      policy: { ...policy, totalMs: 3_000 },
      circuit: { failures: 1 },
    });
    const at = world.time.now();
    world.book.record(key, { kind: 'request-failed', at, launchedAt: at });
    // Parked, and probing when its time is over: the place is free again.
    await rejection(world.serve());
    expect(world.book.look(key).circuit.probes).toEqual([]);
  });

  test('a budget token that was reserved for a wait comes back', async () => {
    const world = createWorld({
      script: [{ status: 503, headers: { 'Retry-After': '4' } }, 'hang'],
      policy: { ...policy, totalMs: 3_000 },
      budget: { refillPerSecond: 0 },
    });
    await world.serve();
    expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, 20)).toBe(true);
  });
});

describe('Retry-Attempt', () => {
  test('counts retries of same-origin requests, where it is asked for', async () => {
    const world = createWorld({ script: [503, 503, 200], policy: { retryAttemptHeader: true } });
    await world.serve({ request: new Request(URL_OF_ITEMS, { headers: { 'X-A': '1' } }) });
    const headers = world.network.sent.map(({ init }) => init?.headers as Headers | undefined);
    expect(world.network.sent[0]?.init).toBeUndefined();
    expect(headers.map((sent) => sent?.get('Retry-Attempt'))).toEqual([undefined, '1', '2']);
    expect(headers[1]?.get('X-A')).toBe('1');
  });

  test.each([
    { name: 'across origins', facts: { sameOrigin: false } },
    { name: 'navigations', facts: NAVIGATION },
    { name: 'where the browser would drop it', facts: { mode: 'no-cors' } },
    { name: 'by default', policy: { retryAttemptHeader: false } },
  ])('S27 not $name', async ({ facts = {}, policy = {} }) => {
    const world = createWorld({ script: [503, 200], policy: { retryAttemptHeader: true, ...policy } });
    await world.serve({ facts });
    expect(world.network.sent.map(({ init }) => init)).toEqual([undefined, undefined]);
  });
});

test('where a request may be refused, what is stored is waited for up to 200 ms', async () => {
  const openUntil = START + 60_000;
  const record = {
    ...recordOf(20, START, { origin: 'https://app.test', group: 'data' }),
    circuit: { ...CLOSED, openUntil, openMs: 60_000, changedAt: START },
  };
  const ask = async (loadMs: number, circuit: RetryPolicy['circuit']) => {
    const time = createVirtualTime();
    const store = createMemoryStore(() => time.after(loadMs), new Map([['one', record]]));
    const world = createWorld({ script: [404], policy: { circuit }, time, store, cold: true });
    return [(await world.serve()).status, world.network.sent.length];
  };
  expect(await ask(190, 'reject')).toEqual([503, 0]);
  expect(await ask(210, 'reject')).toEqual([404, 1]);
  expect(await ask(190, 'suppress')).toEqual([404, 1]);
});

test('what the browser is asking for already waits for no store', async () => {
  const store = createMemoryStore(() => new Promise(() => {}));
  const world = createWorld({ store, cold: true });
  void serve({ ...world.call(), raced: true }, world.engine, () => {});
  await world.time.settle();
  expect(world.network.sent).toHaveLength(1);
});
