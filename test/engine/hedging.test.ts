import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import type { HedgePolicy } from '../../src/policy/hedge.ts';
import { createWorld, NAVIGATION, URL_OF_ITEMS, type World, type WorldOptions } from '../support/engine-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

const hedge: HedgePolicy = { afterMs: 200, max: 1 };
const KEY = { origin: 'https://app.test', group: 'data' };

const hedging = ({ policy, ...rest }: WorldOptions = {}): World =>
  createWorld({ ...rest, policy: { hedge, ...policy } });
const slow = (afterMs: number, status = 200): Answer => ({ status, afterMs });
const tokens = (world: World): number => {
  const { origins } = world.book.status();
  return origins[0]?.tokens ?? 20;
};

describe('a hedge', () => {
  test('goes out beside a slow attempt, past the browser’s cache, and its answer wins', async () => {
    const world = hedging({ script: [slow(3_000), 200] });
    const response = await world.serve();
    expect(await response.text()).toBe('answer 2');
    expect(world.network.times()).toEqual([0, 200]);
    expect(world.network.sent[1]?.init).toMatchObject({ cache: 'reload' });
    expect(world.steps).toEqual([
      { at: 0, type: 'attempt' },
      { at: 200, type: 'hedge-launched', attempt: 2 },
      { at: 200, type: 'attempt', hedge: true },
      { at: 200, type: 'recovered', attempts: 2, status: 200 },
    ]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('is not sent where an answer comes in time, and leaves no timer', async () => {
    const world = hedging({ script: [slow(199)] });
    await world.serve();
    expect(world.network.sent).toHaveLength(1);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('row 34: that loses is called off at once', async () => {
    const world = hedging({ script: [slow(500), slow(5_000)] });
    expect(await (await world.serve()).text()).toBe('answer 1');
    expect(world.network.sent[1]?.abortedAt).toBe(500);
  });

  test('B087 that wins: the first is cancelled as soon as it has headers, or called off if the policy allows', async () => {
    const late = watchedBody(['late']);
    const plain = hedging({ script: [{ ...(slow(3_000) as object), body: late.open }, 200] });
    await plain.serve();
    await plain.time.advance(3_000);
    expect([late.opened(), late.cancelled()]).toEqual([1, 1]);

    const cutting = hedging({ script: [slow(3_000), 200], policy: { cancelTimedOut: true } });
    await cutting.serve();
    expect(cutting.network.sent[0]?.abortedAt).toBe(200);
  });

  test('row 34: never truncates the winner: only the others are called off', async () => {
    const world = hedging({ script: [slow(3_000), slow(100)], policy: { cancelTimedOut: true } });
    const response = await world.serve();
    await world.time.advance(60_000);
    expect(world.network.sent[1]?.abortedAt).toBeUndefined();
    expect(await response.text()).toBe('answer 2');
  });

  test('row 32: as many as the policy says, each after its own delay', async () => {
    const world = hedging({ script: [slow(3_000), slow(3_000), 200], policy: { hedge: { afterMs: 200, max: 2 } } });
    // The first request has one hedge to spend.
    for (let earlier = 0; earlier < 40; earlier += 1) world.engine.hedging.began(KEY);
    expect(await (await world.serve()).text()).toBe('answer 3');
    expect(world.network.times()).toEqual([0, 200, 400]);
  });

  test.each<{ name: string; request?: RequestInit; facts?: Partial<RequestFacts>; options?: WorldOptions }>([
    { name: 'a navigation', facts: NAVIGATION },
    { name: 'a write', request: { method: 'PUT', body: 'x' } },
    { name: 'a keyed POST', request: { method: 'POST', headers: { 'Idempotency-Key': '1' } } },
    { name: 'a DELETE', request: { method: 'DELETE' } },
    { name: 'OPTIONS', request: { method: 'OPTIONS' } },
    { name: 'long polling', facts: { polling: true } },
    { name: 'a worker script', facts: { destination: 'worker' } },
    { name: 'what would wait behind the first in the cache', facts: { cache: 'force-cache' } },
    { name: 'the only attempt', options: { policy: { attempts: 1 } } },
    { name: 'B086 without budget', options: { budget: { capacity: 0 } } },
    { name: 'while the user saves data', options: { savesData: () => true } },
    { name: 'while the device is offline', options: { isOnline: () => false } },
  ])('is not sent: $name', async ({ request = {}, facts = {}, options = {} }) => {
    const world = hedging({ script: [slow(1_000)], ...options });
    const response = await world.serve({ request: new Request(URL_OF_ITEMS, request), facts });
    expect(response.status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.time.elapsed()).toBe(1_000);
  });

  test('is not sent during a hold, nor while the circuit is not closed, nor by a probe', async () => {
    const held = hedging({
      script: [slow(1_000)],
      policy: { retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 100, overMax: 'give-up' } },
    });
    const asked = { kind: 'hold-asked', at: held.time.now(), status: 503, path: '/', scope: 'group' } as const;
    held.book.record(KEY, { ...asked, until: held.time.now() + 5_000 });
    await held.serve();
    expect(held.network.sent).toHaveLength(1);

    const opens = { failures: 1, window: 1_000, attemptsDivisor: 1 };
    const open = hedging({ script: [slow(1_000)], circuit: opens });
    const fail = () =>
      open.book.record(KEY, { kind: 'request-failed', at: open.time.now(), launchedAt: open.time.now() });
    fail();
    await open.serve();
    expect(open.network.sent).toHaveLength(1);
    fail();
    await open.time.advance(60_000);
    await open.serve({ policy: { circuit: 'reject' } });
    expect(open.network.sent).toHaveLength(2);
  });
});

test('a RateLimit that has nothing left is a hint: no hedges until there is more', async () => {
  const used = { headers: { RateLimit: '"default";r=0;t=30' } };
  const world = hedging({ script: [{ ...used }, slow(1_000), slow(1_000), 200] });
  await world.serve();
  await world.serve();
  expect(world.network.sent).toHaveLength(2);
  await world.time.advance(30_000);
  await world.serve();
  expect(world.network.sent).toHaveLength(4);
});

describe('hedges and retries are one series', () => {
  test('row 33: they share the attempts', async () => {
    const script: Answer[] = [slow(700, 503), slow(1_000, 503), 200];
    const world = hedging({ script, policy: { attempts: 2 } });
    expect((await world.serve()).status).toBe(503);
    expect(world.network.sent).toHaveLength(2);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', attempts: 2, reason: 'attempts' });
  });

  test('row 33: one that fails while another is under way is replaced at once', async () => {
    const world = hedging({ script: [slow(3_000), slow(100, 503), slow(50)] });
    expect(await (await world.serve()).text()).toBe('answer 3');
    expect(world.network.times()).toEqual([0, 200, 300]);
    expect(world.steps).toMatchObject([
      { type: 'attempt' },
      { type: 'hedge-launched' },
      { type: 'attempt', hedge: true },
      { at: 300, type: 'retry-scheduled', decision: { delayMs: 0 } },
      { at: 300, type: 'attempt' },
      { at: 350, type: 'recovered', attempts: 3, status: 200 },
    ]);
  });

  test('row 33: a wait is only for a request that has nothing under way, and the hedge timer starts anew after it', async () => {
    const script: Answer[] = [slow(100, 503), slow(3_000), 200];
    const world = hedging({ script });
    expect(await (await world.serve()).text()).toBe('answer 3');
    expect(world.network.times()).toEqual([0, 1_100, 1_300]);
  });

  test('B090 a 429 is not lost: it is learnt, the other leg’s answer is the page’s, and nothing takes its place', async () => {
    const script: Answer[] = [
      { status: 429, afterMs: 300, headers: { 'Retry-After': '5' } },
      { status: 200, afterMs: 400 },
    ];
    const world = hedging({ script });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect(world.network.times()).toEqual([0, 200]);
    const next = world.start();
    await world.time.until(next);
    expect(world.network.times()[2]).toBeGreaterThanOrEqual(5_300);
  });

  test('when both have failed, the wait is the server’s', async () => {
    const script: Answer[] = [
      { status: 503, afterMs: 300, headers: { 'Retry-After': '2' } },
      { status: 503, afterMs: 400 },
      200,
    ];
    const world = hedging({ script });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 200, 2_300]);
  });

  test('without budget for another, those under way are waited for', async () => {
    const world = hedging({ script: [slow(3_000), slow(100, 503)], budget: { capacity: 1, refillPerSecond: 0 } });
    expect(await (await world.serve()).text()).toBe('answer 1');
    expect(world.network.times()).toEqual([0, 200]);
  });

  test('both may become overdue, and then the next starts', async () => {
    const script: Answer[] = ['hang', 'hang', 200];
    const world = hedging({ script, policy: { attemptTimeoutMs: 1_000 } });
    expect(await (await world.serve()).text()).toBe('answer 3');
    expect(world.network.times()).toEqual([0, 200, 2_200]);
  });

  test('row 34: a final error of either is the answer', async () => {
    const world = hedging({ script: [slow(3_000), slow(10, 404)] });
    expect((await world.serve()).status).toBe(404);
    expect(world.time.elapsed()).toBe(210);
  });
});

describe('what was found to go wrong', () => {
  test('a hedge that fails and is not replaced costs no place in the races', async () => {
    const retryLater = { status: 503, headers: { 'Retry-After': '1' } };
    const world = hedging({ script: (_, earlier) => [slow(60_000), retryLater, 200][earlier % 3] as Answer });
    for (let request = 0; request < 3; request += 1) {
      await world.serve();
      await world.time.advance(120_000);
    }
    expect(world.engine.races.enter('https://app.test')).toBeDefined();
    expect(world.engine.races.enter('https://app.test')).toBeDefined();
  });

  test('an attempt that is cut off is an overdue one: a hedge does not end the first', async () => {
    const world = hedging({ script: [slow(900), 'hang'], policy: { cancelTimedOut: true } });
    expect(await (await world.serve()).text()).toBe('answer 1');
    expect(world.network.sent[0]?.abortedAt).toBeUndefined();
  });

  test('what lands while a connection is freed is the answer: nothing is sent beside it', async () => {
    const endless = watchedBody(['x']);
    const script: Answer[] = [{ status: 502, afterMs: 300, body: endless.open }, slow(20), 200];
    const world = hedging({ script });
    expect((await world.serve()).status).toBe(200);
    // At 300 ms another took the place of the one that failed, before anything was waited for.
    expect(world.network.times().every((at) => at <= 300)).toBe(true);
  });

  test('the time that a hold takes is not the server’s', async () => {
    const world = hedging({ script: [slow(50)], policy: { hedge: { afterMs: 'p95', max: 1 } } });
    const asked = { kind: 'hold-asked', at: world.time.now(), status: 503, path: '/', scope: 'group' } as const;
    world.book.record(KEY, { ...asked, until: world.time.now() + 5_000 });
    for (let request = 0; request < 20; request += 1) await world.serve();
    expect(world.engine.hedging.afterMs(KEY, { afterMs: 'p95', max: 1 })).toBe(50);
  });

  test('only answers that no hedge has changed are timed: a request that was retried is not', async () => {
    const world = hedging({
      script: (_, earlier) => (earlier % 2 === 0 ? 503 : slow(50)),
      policy: { hedge: { afterMs: 'p95', max: 1 } },
    });
    for (let request = 0; request < 20; request += 1) await world.serve();
    expect(world.engine.hedging.afterMs(KEY, { afterMs: 'p95', max: 1 })).toBeUndefined();
  });

  test('no server is believed for hours that it has nothing left', async () => {
    const world = hedging({ script: [{ headers: { RateLimit: '"a";r=0;t=999999999' } }, slow(1_000), 200] });
    await world.serve();
    await world.time.advance(61_000);
    await world.serve();
    expect(world.network.sent).toHaveLength(3);
  });

  test('a request whose allowed attempts are halved is not hedged past them', async () => {
    const world = hedging({ script: [slow(1_000)], circuit: { failures: 9, attemptsDivisor: 4, window: 1_000 } });
    world.book.record(KEY, { kind: 'request-failed', at: world.time.now(), launchedAt: world.time.now() });
    await world.serve();
    expect(world.network.sent).toHaveLength(1);
  });
});

describe('what a hedge costs', () => {
  test('a token, which comes back if it wins', async () => {
    const winning = hedging({ script: [slow(3_000), 200], budget: { refillPerSecond: 0 } });
    await winning.serve();
    expect(tokens(winning)).toBe(20);
    const losing = hedging({ script: [slow(300), slow(3_000)], budget: { refillPerSecond: 0 } });
    await losing.serve();
    expect(tokens(losing)).toBe(19);
  });

  test('one that fails and may not be replaced costs its own token, and no other', async () => {
    const script: Answer[] = [slow(700), { status: 429, headers: { 'Retry-After': '5' } }];
    const world = hedging({ script, budget: { refillPerSecond: 0 } });
    expect((await world.serve()).status).toBe(200);
    expect(tokens(world)).toBe(19);
  });

  test('one that fails during a hold is not replaced before its end', async () => {
    const world = hedging({ script: [slow(3_000), slow(100, 503), 200] });
    const answer = world.start();
    await world.time.advance(250);
    const asked = { kind: 'hold-asked', at: world.time.now(), status: 503, path: '/', scope: 'group' } as const;
    world.book.record(KEY, { ...asked, until: world.time.now() + 5_000 });
    expect(await (await world.time.until(answer)).text()).toBe('answer 1');
    expect(world.network.times()).toEqual([0, 200]);
  });

  test('B089 a loser that was called off says nothing about its server', async () => {
    const world = hedging({ script: () => slow(300), circuit: {} });
    for (let request = 0; request < 20; request += 1) await world.serve();
    await world.time.advance(10_000);
    expect(world.book.look(KEY).circuit).toMatchObject({ failures: 0, openUntil: 0 });
    expect(world.book.look(KEY).circuit.recent).not.toContain('0');
  });

  test('at most 5 % of the requests are hedged, and a burst of five after a calm time', async () => {
    const world = hedging({ script: () => slow(1_000), budget: { capacity: 1e6 } });
    for (let request = 0; request < 200; request += 1) await world.serve();
    expect(world.network.sent.length - 200).toBe(11);
    const calm = hedging({ script: (_, earlier) => slow(earlier < 1_000 ? 10 : 1_000), budget: { capacity: 1e6 } });
    for (let request = 0; request < 1_000; request += 1) await calm.serve();
    for (let request = 0; request < 10; request += 1) await calm.serve();
    expect(calm.network.sent.length - 1_010).toBe(5);
  });
});

describe('hedging after the slowest twentieth', () => {
  const p95 = { hedge: { afterMs: 'p95', max: 1 } } as const;

  test('not before enough is known; then what 95 % of the answers took', async () => {
    const script = (_: Request, earlier: number): Answer => slow(earlier < 20 ? 100 + earlier : 3_000);
    const world = hedging({ script, policy: p95 });
    for (let request = 0; request < 20; request += 1) await world.serve();
    expect(world.network.sent).toHaveLength(20);
    const from = world.time.elapsed();
    await world.serve();
    expect(world.network.times().slice(20)).toEqual([from, from + 119]);
  });

  test('an answer that a hedge has overtaken counts as slow: the bound does not creep down', async () => {
    const world = hedging({ script: () => slow(100), policy: p95 });
    for (let request = 0; request < 20; request += 1) world.engine.hedging.took(KEY, 100);
    // One in ten is slow: the slowest twentieth begins among them.
    const script = (earlier: number) => (earlier % 10 === 0 ? 400 : 100);
    for (let request = 0; request < 100; request += 1) world.engine.hedging.took(KEY, script(request));
    expect(world.engine.hedging.afterMs(KEY, p95.hedge)).toBe(400);
  });

  test('each origin and group has its own times', () => {
    const { engine } = hedging();
    for (let request = 0; request < 20; request += 1) engine.hedging.took(KEY, 50);
    expect(engine.hedging.afterMs(KEY, p95.hedge)).toBe(50);
    expect(engine.hedging.afterMs({ ...KEY, group: 'asset' }, p95.hedge)).toBeUndefined();
  });
});
