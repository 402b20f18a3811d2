import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { createWaker } from '../../src/engine/waker.ts';
import { constant } from '../../src/policy/backoff.ts';
import { createWorld, URL_OF_ITEMS, type World } from '../support/engine-world.ts';
import { watchedBody } from '../support/scripted-network.ts';

const policy = { backoff: constant(8_000), throttledBackoff: constant(8_000) };
const later = async (world: World, ms: number, work: () => void) => {
  await world.time.advance(ms);
  work();
};

describe('a wait of ours ends when it is woken', () => {
  test('backoff', async () => {
    const world = createWorld({ script: ['reset', 200], policy });
    const answer = world.start();
    await later(world, 1_000, () => world.engine.waker.wake());
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 1_000]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('offline', async () => {
    let online = false;
    const world = createWorld({ script: ['reset', 200], policy, isOnline: () => online });
    const answer = world.start();
    await world.time.advance(700);
    online = true;
    world.engine.waker.wake();
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 700]);
  });

  test('not one that the server asked for', async () => {
    const world = createWorld({
      script: [{ status: 503, headers: { 'Retry-After': '4' } }, 200],
      policy: { backoff: constant(1) },
    });
    const answer = world.start();
    await later(world, 1_000, () => world.engine.waker.wake());
    await world.time.until(answer);
    expect(world.network.times()[1]).toBeGreaterThanOrEqual(4_000);
  });

  test('nor one of another origin', async () => {
    const world = createWorld({ script: ['reset', 200], policy });
    const answer = world.start();
    await later(world, 1_000, () => world.engine.waker.wake('https://other.test'));
    await world.time.until(answer);
    expect(world.network.times()).toEqual([0, 8_000]);
  });

  test('many are spread over 50 ms each, and a second at most', async () => {
    const world = createWorld({ script: (_, earlier) => (earlier < 4 ? 'reset' : 200), policy });
    const answers = [1, 2, 3, 4].map(() => world.start());
    await later(world, 1_000, () => world.engine.waker.wake());
    await world.time.until(Promise.all(answers));
    expect(world.network.times().slice(4)).toEqual([1_000, 1_050, 1_100, 1_150]);

    const crowd = createWorld({
      script: (_, earlier) => (earlier < 100 ? 'reset' : 200),
      policy,
      budget: { capacity: 1e3 },
    });
    const all = Array.from({ length: 100 }, () => crowd.start());
    await later(crowd, 1_000, () => crowd.engine.waker.wake());
    await crowd.time.until(Promise.all(all));
    const late = crowd.network.times().slice(100);
    expect(Math.max(...late)).toBeLessThan(2_000);
    expect(new Set(late).size).toBeGreaterThan(50);
  });
});

describe('the waker', () => {
  test('wakes an origin at most once a second', async () => {
    let now = 0;
    const waker = createWaker(() => now);
    const woken: string[] = [];
    const sleep = (name: string) => void waker.enter('https://a.test').woken.then(() => woken.push(name));
    sleep('first');
    waker.wake();
    sleep('second');
    now = 999;
    waker.wake();
    await Promise.resolve();
    expect(woken).toEqual(['first']);
    now = 1_000;
    waker.wake();
    await Promise.resolve();
    expect(woken).toEqual(['first', 'second']);
  });

  test('who has left is not woken, and leaving twice is no trouble', () => {
    const waker = createWaker(() => 0);
    const nap = waker.enter('https://a.test');
    nap.leave();
    nap.leave();
    expect(() => waker.wake()).not.toThrow();
  });
});

describe('a wait that a page has to keep the worker alive for', () => {
  const long = {
    totalMs: 120_000,
    retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 90_000, overMax: 'give-up' },
  } as const;
  const script = [{ status: 503, headers: { 'Retry-After': '70' } }, 200];

  test('is waited for to its end as long as the page does', async () => {
    const world = createWorld({ script, policy: long });
    const call = { ...world.call(), ceilingMs: () => 240_000 };
    expect((await world.time.until(serve(call, world.engine, () => {}))).status).toBe(200);
    expect(world.time.elapsed()).toBeGreaterThanOrEqual(70_000);
  });

  test('ends in time, with the real answer, when the page stops', async () => {
    const world = createWorld({ script, policy: long, budget: { refillPerSecond: 0 } });
    const call = { ...world.call(), ceilingMs: () => (world.time.elapsed() < 25_000 ? 240_000 : 50_000) };
    expect((await world.time.until(serve(call, world.engine, () => {}))).status).toBe(503);
    expect(world.time.elapsed()).toBeLessThan(50_000);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline' });
    expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, 20)).toBe(true);
  });

  test('an abort that only the request itself tells of is no lost connection', async () => {
    const controller = new AbortController();
    const body = watchedBody(['x']);
    const world = createWorld({ script: [{ status: 200, afterMs: 5_000, body: body.open }] });
    const request = new Request(URL_OF_ITEMS, { signal: controller.signal });
    const answer = world.start({ request });
    await world.time.advance(1_000);
    controller.abort('mine');
    await expect(world.time.until(answer)).rejects.toBe('mine');
    expect(world.network.sent).toHaveLength(1);
  });
});

test('asking again and again tries what is open once in ten seconds, whoever asks', async () => {
  const key = { origin: 'https://app.test', group: 'data' };
  const world = createWorld({ circuit: { failures: 1, openMs: 60_000 } });
  const fail = () => {
    const at = world.time.now();
    world.book.record(key, { kind: 'request-failed', at, launchedAt: at });
  };
  const isOpen = () => world.book.look(key).circuit.openUntil > world.time.now();
  fail();
  await world.time.advance(1_000);
  world.engine.retryNow();
  expect(isOpen()).toBe(false);
  await world.time.advance(1);
  fail();
  world.book.record(key, { kind: 'attempt-failed', at: world.time.now(), launchedAt: world.time.now(), as: 'probe' });
  expect(isOpen()).toBe(true);
  await world.time.advance(9_000);
  world.engine.retryNow();
  expect(isOpen()).toBe(true);
  await world.time.advance(1_000);
  world.engine.retryNow();
  expect(isOpen()).toBe(false);
});
