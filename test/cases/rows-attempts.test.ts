import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { additiveJitter, constant, exponential } from '../../src/policy/backoff.ts';
import { createWorld, rejection, URL_OF_ITEMS, type World } from '../support/engine-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

const typesOf = (world: World) => world.steps.map(({ type }) => type);

/** A request whose maker may call it off. */
function abortable(world: World) {
  const controller = new AbortController();
  const request = new Request(URL_OF_ITEMS, { signal: controller.signal });
  const answer = serve({ ...world.call({ request }), signal: controller.signal }, world.engine, () => {});
  answer.catch(() => {});
  return { controller, answer };
}

describe('row 10: what is told of a retry', () => {
  test('the attempt from 1, the wait and the cause, once the body has been let go', async () => {
    const body = watchedBody(['x']);
    const world = createWorld({ script: [{ status: 503, body: body.open }, 'reset', 200] });
    const told: object[] = [];
    const call = world.call();
    const answer = serve(
      {
        ...call,
        tell: (step) => {
          if (step.type !== 'retry-scheduled') return;
          const { attempt, decision } = step;
          told.push({ attempt, delayMs: decision.delayMs, reason: decision.reason, cancelled: body.cancelled() });
        },
      },
      world.engine,
      () => {},
    );
    await world.time.until(answer);
    expect(told).toEqual([
      { attempt: 1, delayMs: 1_000, reason: 'status', cancelled: 1 },
      { attempt: 2, delayMs: 1_000, reason: 'network-error', cancelled: 1 },
    ]);
  });

  test('nothing when the request was called off before', async () => {
    const world = createWorld({ script: [{ status: 503, afterMs: 100 }, 200] });
    const { controller, answer } = abortable(world);
    await world.time.advance(50);
    controller.abort('over');
    expect(await rejection(world.time.until(answer))).toBe('over');
    await world.time.advance(60_000);
    expect(typesOf(world)).toEqual(['attempt']);
  });
});

describe('row 11: called off', () => {
  test.each([
    { name: 'a millisecond before the wait is over', ms: 999, most: 1 },
    // The wait was set first, so its end may come first: then one attempt starts, and is called off.
    { name: 'at the very moment', ms: 1_000, most: 2 },
  ])('$name: at most $most attempts', async ({ ms, most }) => {
    const world = createWorld({ script: [503, 'hang'] });
    const { controller, answer } = abortable(world);
    await world.time.settle();
    void world.time.after(ms).then(() => controller.abort('over'));
    expect(await rejection(world.time.until(answer))).toBe('over');
    expect(world.time.elapsed()).toBe(ms);
    await world.time.advance(60_000);
    expect(world.network.sent.length).toBeLessThanOrEqual(most);
    expect(world.sleeper.pending()).toBe(0);
  });
});

describe('row 13: the engine needs no worker', () => {
  // Any `fetch` will do; 4 attempts, 1 s × 2 without a cap, up to 1 ms of jitter, 1 s for each attempt.
  const backoff = additiveJitter(exponential({ baseMs: 1_000 }), 1);
  const policy = { attempts: 4, backoff, attemptTimeoutMs: 1_000, cancelTimedOut: true };

  test('each attempt has a signal of its own, and is called off by it', async () => {
    const script: Answer[] = ['hang', 'hang', 'hang', { status: 200, afterMs: 999 }];
    const world = createWorld({ script, policy });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 2_000, 5_000, 10_000]);
    expect(world.network.sent.map(({ abortedAt }) => abortedAt)).toEqual([2_000, 5_000, 10_000, undefined]);
    expect(new Set(world.network.sent.map(({ init }) => init?.signal)).size).toBe(4);
  });

  test('the caller’s own signal ends all of it', async () => {
    const world = createWorld({ script: ['hang'], policy });
    const { controller, answer } = abortable(world);
    await world.time.advance(2_500);
    controller.abort('enough');
    expect(await rejection(world.time.until(answer))).toBe('enough');
    expect(world.time.elapsed()).toBe(2_500);
    await world.time.advance(60_000);
    expect(world.network.times()).toEqual([0, 2_000]);
    expect(world.network.sent[1]?.abortedAt).toBe(2_500);
  });
});

describe('row 14 and row 25: two clocks', () => {
  const policy = { attemptTimeoutMs: 1_000, totalMs: 5_000, hardTotal: true, backoff: constant(500) };

  test.each([true, false])('an attempt that hangs leaves room for the retry (cut off: %s)', async (cancelTimedOut) => {
    const world = createWorld({
      script: ['hang', { status: 200, afterMs: 100 }],
      policy: { ...policy, cancelTimedOut },
    });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0, 1_500], 1_600]);
  });

  test('all of them together end at the outer one', async () => {
    const world = createWorld({ script: ['hang'], policy: { ...policy, attempts: 10, cancelTimedOut: true } });
    expect(await rejection(world.serve())).toMatchObject({ name: 'TimeoutError' });
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0, 1_500, 3_000, 4_500], 5_000]);
  });
});

describe('row 23 and row 42: giving up', () => {
  test.each<{ name: string; script: Answer[]; status?: number; body?: string }>([
    { name: 'the last answer, readable', script: [503, 502, 429, 503], status: 503, body: 'answer 4' },
    {
      name: 'the latest answer, where errors follow',
      script: ['reset', 503, 502, 'reset'],
      status: 502,
      body: 'answer 3',
    },
    { name: 'the first, where nothing else came', script: [503, 'reset'], status: 503, body: 'answer 1' },
    { name: 'the last error', script: ['reset'] },
  ])('$name, and the attempts made', async ({ script, status, body }) => {
    const world = createWorld({ script });
    const answer = world.serve();
    if (status === undefined) {
      expect(await rejection(answer)).toBe(world.network.sent[3]?.error);
    } else {
      const response = await answer;
      expect([response.status, response.bodyUsed, await response.text()]).toEqual([status, false, body]);
    }
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', attempts: 4, status });
  });

  test('a caller that calls it off gets its own reason, even where there is an answer', async () => {
    const world = createWorld({ script: [503] });
    const { controller, answer } = abortable(world);
    await world.time.advance(500);
    const reason = new Error('mine');
    controller.abort(reason);
    expect(await rejection(world.time.until(answer))).toBe(reason);
  });
});

describe('row 49: one total budget', () => {
  test('5 s and 3 retries of 2 s: fewer run', async () => {
    const policy = { attempts: 4, totalMs: 5_000, backoff: constant(2_000) };
    const world = createWorld({ script: [{ status: 502, afterMs: 500 }], policy });
    expect((await world.serve()).status).toBe(502);
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0, 2_500], 3_000]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline', attempts: 2 });
  });

  test('at its end what waits is woken, and ends', async () => {
    const script: Answer[] = ['reset', 'reset', 'reset', 'reset', 'hang'];
    const policy = { attempts: 2, totalMs: 5_000, hardTotal: true };
    const world = createWorld({ script, policy, circuit: { failures: 1, openMs: 4_000 } });
    await world.serve().catch(() => {});
    const from = world.time.elapsed();
    const answers = [world.start(), world.start(), world.start()];
    await world.time.until(Promise.allSettled(answers));
    expect(world.steps.some(({ type }) => type === 'waiting')).toBe(true);
    expect(world.time.elapsed() - from).toBeLessThanOrEqual(5_000);
    expect(world.sleeper.pending()).toBe(0);
  });
});
