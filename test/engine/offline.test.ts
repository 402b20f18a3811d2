import { describe, expect, test } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { createWorld, rejection, type World } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

/** A device that is offline from `from` until `until`. */
const offline = (
  from: number,
  until: number,
  script: Answer[],
  more: Parameters<typeof createWorld>[0] = {},
): World => {
  const world: World = createWorld({
    script,
    budget: { refillPerSecond: 0 },
    ...more,
    isOnline: () => world.time.elapsed() < from || world.time.elapsed() >= until,
  });
  return world;
};
const full = (world: World) => world.book.affords({ origin: 'https://app.test', group: 'data' }, 20);

describe('while the device is offline', () => {
  test('a failed request waits for the network and is sent again', async () => {
    const world = offline(0, 3_000, ['reset', 200]);
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 3_000]);
    expect(world.steps).toEqual([
      { at: 0, type: 'attempt' },
      { at: 0, type: 'waiting', cause: 'offline' },
      { at: 3_000, type: 'released', cause: 'offline' },
      { at: 3_000, type: 'attempt' },
      { at: 3_000, type: 'recovered', attempts: 1, status: 200 },
    ]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('it notices within half a second, and spreads over one more', async () => {
    for (const [chance, at] of [
      [0, 3_500],
      [0.5, 4_000],
      [0.999, 4_499],
    ] as const) {
      const world = offline(0, 3_001, ['reset', 200], { random: () => chance });
      await world.serve();
      expect(world.network.times()).toEqual([0, at]);
    }
  });

  test('no attempt and no token is spent', async () => {
    const world = offline(0, 2_000, ['reset', 'reset', 'reset', 'reset', 200]);
    expect((await world.serve()).status).toBe(200);
    // The first costs nothing; then come the four that the policy allows.
    expect(world.network.times()).toEqual([0, 2_000, 2_500, 3_500, 5_500]);
    const only = offline(0, 2_000, ['reset', 200], { policy: { attempts: 2 }, budget: { capacity: 0 } });
    expect((await only.serve()).status).toBe(200);
  });

  test('and none is given that was never paid', async () => {
    const world = offline(0, 2_000, ['reset', 200]);
    const key = { origin: 'https://app.test', group: 'data' };
    world.book.record(key, { kind: 'retry-reserved', at: world.time.now(), cost: 15 });
    await world.serve();
    expect([world.book.affords(key, 5), world.book.affords(key, 5.1)]).toEqual([true, false]);
  });

  test('the wait does not touch the budget', async () => {
    const world = offline(0, 2_000, ['reset', 200]);
    await world.serve();
    expect(full(world)).toBe(true);
    expect(world.kept).toEqual([]);
  });

  test('the deadline ends the wait with the error', async () => {
    const world = offline(0, 60_000, ['reset']);
    expect(await rejection(world.serve())).toBe(world.network.sent[0]?.error);
    expect(world.time.elapsed()).toBe(25_000);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.at(-1)).toEqual({
      at: 25_000,
      type: 'gave-up',
      attempts: 0,
      status: undefined,
      reason: 'offline',
    });
    expect(world.sleeper.pending()).toBe(0);
  });

  test('the deadline does not move with a clock that is set back', async () => {
    const world = offline(0, 10_000_000, ['reset']);
    const answer = world.start();
    await world.time.advance(1_000);
    world.time.setClock(-3_600_000);
    expect(await rejection(world.time.until(answer))).toBe(world.network.sent[0]?.error);
    expect(world.time.elapsed()).toBeLessThanOrEqual(25_500);
  });

  test('the deadline ends the wait with the last answer, if there was one', async () => {
    const world = offline(500, 60_000, [503, 'reset']);
    const response = await world.serve();
    expect([response.status, await response.text()]).toEqual([503, 'answer 1']);
    expect(world.time.elapsed()).toBe(25_000);
  });

  test('the spread after it keeps within the deadline', async () => {
    const world = offline(0, 24_400, ['reset', 200], { random: () => 0.9 });
    await world.serve().catch(() => {});
    expect(world.time.elapsed()).toBeLessThanOrEqual(25_000);
  });

  test('an answer is an answer', async () => {
    const world = offline(0, 60_000, [503, 200]);
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()).toEqual([0, 1_000]);
  });

  test('offline again: waits again', async () => {
    const lost: Answer = { reset: true, afterMs: 200 };
    const online = (ms: number) => (ms >= 1_000 && ms < 1_100) || ms >= 6_000;
    const world: World = createWorld({ script: [lost, 200], isOnline: () => online(world.time.elapsed()) });
    await world.serve();
    // Asked at 200, 700, 1 200 (too late for the gap) and so on.
    expect(world.network.times()).toEqual([0, 6_200]);
    const patient: World = createWorld({
      script: ['reset', lost, 200],
      isOnline: () => online(patient.time.elapsed()),
    });
    await patient.serve();
    expect(patient.network.times()).toEqual([0, 1_000, 6_200]);
    expect(patient.steps.filter(({ type }) => type === 'waiting')).toHaveLength(2);
  });

  test('a write with a body waits as well, and is sent whole', async () => {
    const world = offline(0, 3_000, ['reset', 'reset', 200]);
    const request = new Request('https://app.test/', { method: 'PUT', body: 'body' });
    expect((await world.serve({ request })).status).toBe(200);
    expect(world.network.sent.map(({ body }) => new TextDecoder().decode(body))).toEqual(['body', 'body', 'body']);
  });

  test('the last attempt of a write with a body is not spent either', async () => {
    const world = offline(400, 3_000, [502, 'reset', 200], { policy: { attempts: 2 } });
    const request = new Request('https://app.test/', { method: 'PUT', body: 'body' });
    // Attempt 2 of 2 fails at 500 because the device is offline: that spends nothing.
    expect((await world.serve({ request })).status).toBe(200);
    expect(world.network.times()).toEqual([0, 500, 3_000]);
    expect(new TextDecoder().decode(world.network.sent[2]?.body)).toBe('body');
  });

  test('an earlier attempt that answers meanwhile is delivered at once', async () => {
    const world = offline(10_000, 60_000, [{ status: 200, afterMs: 12_000 }, 'reset', 200], {
      policy: { backoff: constant(500) },
    });
    expect(await (await world.serve()).text()).toBe('answer 1');
    expect(world.time.elapsed()).toBe(12_000);
  });

  test('an attempt that was not spent is not counted in those that fail afterwards', async () => {
    const world = offline(0, 2_000, ['reset']);
    await world.serve().catch(() => {});
    const numbers = world.steps.flatMap((step) => (step.type === 'retry-scheduled' ? step.attempt : []));
    // Never "attempt 4 of 4 failed, again in 2 s".
    expect(numbers).toEqual([1, 2, 3]);
  });

  test('an attempt that was not spent is not one of the few that an `integrity` allows', async () => {
    const world = offline(0, 2_000, ['reset', 'reset', 200]);
    expect((await world.serve({ facts: { choosy: true } })).status).toBe(200);
    expect(world.network.times()).toEqual([0, 2_000, 2_500]);
  });

  test('what an earlier attempt’s answer says about the time holds when the device is back', async () => {
    const world = offline(
      10_400,
      13_000,
      [{ status: 503, afterMs: 12_000, headers: { 'Retry-After': '2' } }, 'reset', 200],
      {
        policy: { attempts: 2, backoff: constant(500) },
      },
    );
    // Asked at 10.5 s by the second attempt, which is lost; at 12 s the first says: not before 14 s.
    expect((await world.serve()).status).toBe(200);
    expect(world.network.times()[2]).toBeGreaterThanOrEqual(14_000);
  });
});
