import { describe, expect, test } from 'vitest';
import { createRaces } from '../../src/engine/races.ts';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { createWorld, NAVIGATION, rejection } from '../support/engine-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

/** A second between an attempt that is overdue and the next, which then starts at 11 s. */
const policy = { backoff: constant(1_000), throttledBackoff: constant(1_000) };

describe('an attempt that is overdue is overtaken, not given up', () => {
  test('the next attempt starts beside it, and the first good answer wins', async () => {
    const world = createWorld({ script: ['hang', { status: 200, afterMs: 450 }], policy });
    const response = await world.serve();
    expect(world.network.times()).toEqual([0, 11_000]);
    expect(await response.text()).toBe('answer 2');
    expect(world.time.elapsed()).toBe(11_450);
    expect(world.steps).toMatchObject([
      { at: 0, type: 'attempt' },
      { at: 10_000, type: 'retry-scheduled', attempt: 1, outcome: { kind: 'timeout', afterMs: 10_000 } },
      { at: 11_000, type: 'attempt' },
      { at: 11_450, type: 'recovered', attempts: 2, status: 200 },
    ]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('B023 each attempt has its whole time', async () => {
    const script: Answer[] = ['hang', { status: 200, afterMs: 450 }];
    const world = createWorld({ script, policy: { attemptTimeoutMs: 600, backoff: constant(100) } });
    await world.serve();
    expect(world.network.times()).toEqual([0, 700]);
    expect(world.time.elapsed()).toBe(1_150);
  });

  test('attempt 1 answers during the wait: nothing else is sent, and the price comes back', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 10_400 }], policy, budget: { refillPerSecond: 0 } });
    const response = await world.serve();
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.time.elapsed()).toBe(10_400);
    expect(world.network.sent).toHaveLength(1);
    expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, 20)).toBe(true);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('attempt 1 answers while attempt 2 flies: its answer wins, and the late one is called off', async () => {
    const script: Answer[] = [
      { status: 200, afterMs: 12_000 },
      { status: 200, afterMs: 5_000 },
    ];
    const world = createWorld({ script, policy });
    const response = await world.serve();
    expect(await response.text()).toBe('answer 1');
    expect(world.time.elapsed()).toBe(12_000);
    expect(world.network.sent[1]?.abortedAt).toBe(12_000);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('an endpoint that always takes 12 s works as it does without us', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 12_000 }] });
    for (const start of [0, 12_000, 24_000]) {
      const response = await world.serve();
      expect(world.time.elapsed()).toBe(start + 12_000);
      expect(response.status).toBe(200);
    }
    expect(world.network.sent).toHaveLength(6);
  });

  test('a slow error answer of the one that was overtaken is no end', async () => {
    const script: Answer[] = [
      { status: 503, afterMs: 11_500 },
      { status: 200, afterMs: 2_000 },
    ];
    const world = createWorld({ script, policy });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect(world.time.elapsed()).toBe(13_000);
  });

  test('a final error answer of the one that was overtaken is the answer', async () => {
    const world = createWorld({ script: [{ status: 404, afterMs: 11_500 }, 'hang'], policy });
    expect((await world.serve()).status).toBe(404);
    expect(world.time.elapsed()).toBe(11_500);
  });

  test('a newer attempt that fails is followed by the next, while the first is still waited for', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 14_000 }, 'reset', 'reset', 'reset'], policy });
    expect(await (await world.serve()).text()).toBe('answer 1');
    expect(world.network.times()).toEqual([0, 11_000, 12_000, 13_000]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'recovered', attempts: 4 });
  });

  test('when all have failed, the last answer is the page’s', async () => {
    const script: Answer[] = [{ status: 503, afterMs: 15_000, body: 'from 1' }, 'reset', 'reset', 'reset'];
    const world = createWorld({ script, policy });
    expect(await (await world.serve()).text()).toBe('from 1');
    expect(world.time.elapsed()).toBe(15_000);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', status: 503 });
  });

  test('the last attempt is not overtaken', async () => {
    const world = createWorld({
      script: ['reset', { status: 200, afterMs: 40_000 }],
      policy: { ...policy, attempts: 2 },
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 1_000]);
  });

  test('at the deadline what is in flight is waited for', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 30_000 }], policy: { ...policy, totalMs: 10_500 } });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.time.elapsed()).toBe(30_000);
  });

  test('without budget what is in flight is waited for', async () => {
    const world = createWorld({ script: [{ afterMs: 30_000, reset: true }], policy, budget: { capacity: 0 } });
    expect(await rejection(world.serve())).toBe(world.network.sent[0]?.error);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.filter(({ type }) => type === 'gave-up')).toMatchObject([{ at: 30_000, reason: 'budget' }]);
  });

  test('every loser’s body is cancelled, whether it lands before or after', async () => {
    const losers = [watchedBody(['1']), watchedBody(['2']), watchedBody(['3'])];
    const script: Answer[] = [
      { status: 503, afterMs: 35_000, body: losers[0]?.open ?? null },
      { status: 503, afterMs: 1_500, body: losers[1]?.open ?? null },
      { status: 200, afterMs: 9_000, body: losers[2]?.open ?? null },
      200,
    ];
    const world = createWorld({ script, policy: { ...policy, totalMs: 50_000, attemptTimeoutMs: 2_000 } });
    const response = await world.serve();
    expect(await response.text()).toBe('answer 4');
    await world.time.advance(60_000);
    // The third has no headers yet, and can be called off.
    expect(losers.map((body) => [body.opened(), body.cancelled()])).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    expect(world.network.sent[2]?.abortedAt).toBe(world.time.elapsed() - 60_000);
  });
});

describe('what an overtaken attempt brings while the next one waits', () => {
  test('its body holds no connection through the wait', async () => {
    const body = watchedBody(['x']);
    const world = createWorld({
      script: [{ status: 503, afterMs: 10_200, body: body.open }, 200],
      policy: { ...policy, backoff: constant(5_000) },
    });
    const answer = world.start();
    await world.time.advance(10_400);
    expect([body.opened(), body.cancelled()]).toEqual([1, 1]);
    await world.time.until(answer);
    expect(world.network.times()).toEqual([0, 15_000]);
  });

  test('its Retry-After counts: never earlier than the server said', async () => {
    const world = createWorld({
      script: [{ status: 503, afterMs: 10_500, headers: { 'Retry-After': '5' } }, 200],
      policy,
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()[1]).toBeGreaterThanOrEqual(15_500);
  });

  test('a Retry-After over the cap ends the request with its answer', async () => {
    const world = createWorld({
      script: [{ status: 503, afterMs: 10_500, headers: { 'Retry-After': '3600' } }, 200],
      policy,
    });
    expect((await world.serve()).status).toBe(503);
    expect(world.network.sent).toHaveLength(1);
  });

  test('a shorter time does not replace a longer one', async () => {
    const script: Answer[] = [
      { status: 503, afterMs: 12_500, headers: { 'Retry-After': '2' } },
      { status: 503, afterMs: 1_000, headers: { 'Retry-After': '10' } },
      200,
    ];
    const world = createWorld({ script, policy: { ...policy, totalMs: 50_000 } });
    expect((await world.serve()).status).toBe(200);
    // At 12 s: not before 22 s; at 12.5 s: not before 14.5 s.
    expect(world.network.times()).toEqual([0, 11_000, 22_000]);
  });

  test('an answer that the cache would serve again is gone around', async () => {
    const world = createWorld({
      script: [{ status: 502, afterMs: 10_500, headers: { 'Cache-Control': 'max-age=60' } }, 200],
      policy,
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent[1]?.init?.cache).toBe('reload');
  });
});

describe('what an overtaken attempt brings while the next one flies', () => {
  const flying: Answer = { reset: true, afterMs: 3_000 };

  test('its Retry-After counts for the attempt after that', async () => {
    const world = createWorld({
      script: [{ status: 503, afterMs: 12_000, headers: { 'Retry-After': '10' } }, flying, 200],
      policy,
    });
    expect((await world.serve()).status).toBe(200);
    // The server said at 12 s: not before 22 s.
    expect(world.network.times()[2]).toBeGreaterThanOrEqual(22_000);
  });

  test('an answer that the cache would serve again is gone around by the attempt after that', async () => {
    const world = createWorld({
      script: [{ status: 502, afterMs: 12_000, headers: { 'Cache-Control': 'max-age=60' } }, flying, 200],
      policy,
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 11_000, 15_000]);
    expect(world.network.sent[2]?.init?.cache).toBe('reload');
  });

  test('it holds no connection meanwhile', async () => {
    const body = watchedBody(['x']);
    const world = createWorld({ script: [{ status: 503, afterMs: 12_000, body: body.open }, 'hang'], policy });
    void world.start();
    await world.time.advance(12_200);
    expect([body.opened(), body.cancelled()]).toEqual([1, 1]);
  });
});

describe('when no further attempt will start', () => {
  const BIG = 'x'.repeat(100_000);

  test.each([
    { name: 'a small answer', body: 'small' },
    { name: 'a large answer', body: BIG },
  ])('$name that comes at last is delivered as it is', async ({ body }) => {
    const world = createWorld({ script: [{ status: 503, afterMs: 12_000, body }], policy, budget: { capacity: 0 } });
    const response = await world.serve();
    expect(response).toBe(world.network.sent[0]?.response);
    expect(await response.text()).toBe(body);
    expect(world.time.elapsed()).toBe(12_000);
  });

  test('a large answer that comes before the last attempt is lost is delivered', async () => {
    const script: Answer[] = [
      { status: 503, afterMs: 12_000, body: BIG },
      { reset: true, afterMs: 5_000 },
    ];
    const world = createWorld({ script, policy: { ...policy, attempts: 2, totalMs: 11_500 } });
    expect((await world.serve()).status).toBe(503);
  });

  test('nobody ever gets an error that is none', async () => {
    const scripts: Answer[][] = [
      [{ status: 503, afterMs: 12_000, body: BIG }],
      [
        { status: 503, afterMs: 12_000, body: BIG },
        { status: 503, afterMs: 2_000, body: BIG },
      ],
      [{ status: 503, afterMs: 40_000, body: BIG }, 'reset'],
      [
        { reset: true, afterMs: 40_000 },
        { status: 503, body: BIG },
      ],
      [
        { status: 503, body: BIG },
        { status: 503, afterMs: 12_000, body: BIG },
      ],
    ];
    for (const script of scripts) {
      for (const budget of [{ capacity: 0 }, { capacity: 1 }, {}]) {
        const world = createWorld({ script, policy: { ...policy, attempts: 3 }, budget });
        const outcome = await world.serve().catch((error: unknown) => error);
        if (outcome instanceof Response) expect((await outcome.text()).length).toBe(100_000);
        else expect(world.network.given()).toContain(outcome);
      }
    }
  });
});

describe('at most two attempts per origin are overtaken', () => {
  test('the third is waited for, and may be overtaken by nobody', async () => {
    const world = createWorld({ script: () => ({ status: 200, afterMs: 20_000 }), policy });
    const answers = Promise.all([world.start(), world.start(), world.start()]);
    await world.time.until(answers);
    expect(world.network.times()).toEqual([0, 0, 0, 11_000, 11_000]);
    expect(world.time.elapsed()).toBe(20_000);
  });

  test('another origin has its own two', async () => {
    const world = createWorld({ script: () => ({ status: 200, afterMs: 20_000 }), policy });
    const other = () => world.start({ request: new Request('https://other.test/') });
    await world.time.until(Promise.all([world.start(), world.start(), other(), other()]));
    expect(world.network.times()).toEqual([0, 0, 0, 0, 11_000, 11_000, 11_000, 11_000]);
  });

  test('a place is free again when the overtaken one has answered', async () => {
    const world = createWorld({ script: () => ({ status: 200, afterMs: 12_000 }), policy });
    await world.time.until(Promise.all([world.start(), world.start()]));
    await world.time.advance(20_000);
    const before = world.network.sent.length;
    await world.time.until(Promise.all([world.start(), world.start()]));
    expect(world.network.sent.length - before).toBe(4);
  });

  test('a request that is not repeated takes no place', async () => {
    const world = createWorld({
      script: () => ({ status: 200, afterMs: 20_000 }),
      policy,
    });
    // These two cannot start another attempt before their deadline.
    const hopeless = () => world.start({ policy: { totalMs: 10_100 } });
    await world.time.until(Promise.all([hopeless(), hopeless(), world.start()]));
    expect(world.network.times()).toEqual([0, 0, 0, 11_000]);
  });

  test('a place is given back when our own machinery fails', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 20_000 }], policy });
    const engine = {
      ...world.engine,
      book: {
        ...world.book,
        affords: () => {
          throw new Error('affords');
        },
      },
    };
    for (let request = 0; request < 3; request += 1) {
      await world.time.until(serve(world.call(), engine, () => {}));
    }
    await world.serve();
    // Three that failed to overtake, and one that does.
    expect(world.network.sent).toHaveLength(5);
  });

  test('races: two places per origin, given back one by one', () => {
    const races = createRaces();
    const first = races.enter('https://a.test');
    const second = races.enter('https://a.test');
    expect([typeof first, typeof second]).toEqual(['function', 'function']);
    expect(races.enter('https://a.test')).toBeUndefined();
    expect(races.enter('https://b.test')).toBeTypeOf('function');
    first?.();
    expect(races.enter('https://a.test')).toBeTypeOf('function');
    expect(races.enter('https://a.test')).toBeUndefined();
    second?.();
    expect(races.enter('https://a.test')).toBeTypeOf('function');
  });
});

describe('never two at once', () => {
  const put = (body: string | null) => new Request('https://app.test/api/items', { method: 'PUT', body });
  test.each([
    { name: 'PUT', request: () => put('body') },
    { name: 'PUT without a body', request: () => put(null) },
    { name: 'DELETE', request: () => new Request('https://app.test/api/items', { method: 'DELETE' }) },
    {
      name: 'keyed POST',
      request: () => new Request('https://app.test/', { method: 'POST', headers: { 'Idempotency-Key': '1' } }),
    },
    { name: 'a navigation', request: () => new Request('https://app.test/'), facts: NAVIGATION },
    { name: 'QUERY with a body', request: () => new Request('https://app.test/', { method: 'QUERY', body: 'q' }) },
  ])('$name', async ({ request, facts = {} }) => {
    const world = createWorld({ script: [{ status: 200, afterMs: 40_000 }] });
    expect(await (await world.serve({ request: request(), facts })).text()).toBe('answer 1');
    expect(world.network.sent).toHaveLength(1);
    expect(world.time.elapsed()).toBe(40_000);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  });

  test('a write that fails late is repeated after its failure', async () => {
    const world = createWorld({ script: [{ reset: true, afterMs: 15_000 }, 200] });
    expect((await world.serve({ request: put('body') })).status).toBe(200);
    expect(world.network.times()).toEqual([0, 15_500]);
  });
});

describe('what the browser has raced', () => {
  const raced = (world: ReturnType<typeof createWorld>) =>
    world.time.until(serve({ ...world.call(), raced: true }, world.engine, (fault) => world.faults.push(fault)));

  test('an answer that is ok is with the page already, whatever the rules say of it', async () => {
    const world = createWorld({ script: [200], policy: { statuses: [200] }, classify: async () => 'retry' });
    expect((await raced(world)).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  });

  test('any other is the first attempt’s', async () => {
    const world = createWorld({ script: [503, 200] });
    expect((await raced(world)).status).toBe(200);
    expect(world.network.sent).toHaveLength(2);
  });
});

test('an overdue attempt that brings a time costs no second token', async () => {
  const late = { status: 503, headers: { 'Retry-After': '2' }, afterMs: 10_500 };
  const world = createWorld({
    script: [late, 503],
    policy: { ...policy, attempts: 2 },
    budget: { refillPerSecond: 0 },
  });
  expect((await world.serve()).status).toBe(503);
  expect(world.network.times()).toEqual([0, 12_500]);
  expect(world.book.look({ origin: 'https://app.test', group: 'data' }).budget.tokens).toBe(19);
});

describe('a budget by windows', () => {
  const KEY = { origin: 'https://app.test', group: 'data' };
  /** Two retries in ten seconds. */
  const budget = { kind: 'windowed', ratio: 0, perSecond: 0.2, windowMs: 10_000 } as const;

  test('gives nothing back for a retry that was sent', async () => {
    const world = createWorld({ script: [500, 200], policy, budget });
    expect((await world.serve()).status).toBe(200);
    expect([1, 2].map((cost) => world.book.affords(KEY, cost))).toEqual([true, false]);
  });

  test('gives back where it was taken what was not sent after all', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 10_500 }], policy, budget });
    expect((await world.serve()).status).toBe(200);
    expect(world.steps.map(({ type }) => type)).toContain('retry-scheduled');
    expect(world.network.sent).toHaveLength(1);
    await world.time.advance(2_000);
    expect(world.book.affords(KEY, 2)).toBe(true);
  });
});
