import { describe, expect, test } from 'vitest';
import { checkRetryOptions } from '../../src/policy/check.ts';
import type { HedgePolicy } from '../../src/policy/hedge.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { createWorld, rejection, URL_OF_ITEMS, type World } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

/** 4 attempts, the next 500 ms after the last, as many at once as there are; 500 and 503 are not final. */
function hedging(
  script: readonly Answer[],
  hedge: Partial<HedgePolicy> = {},
  policy: Partial<RetryPolicy> = {},
): World {
  const world = createWorld({
    script,
    policy: { hedge: { afterMs: 500, max: 3, ...hedge }, cancelTimedOut: true, statuses: [429, 500, 503], ...policy },
  });
  // As many as there may be: a share of 5 % is saved up for a burst of five.
  for (let earlier = 0; earlier < 100; earlier += 1)
    world.engine.hedging.began({ origin: 'https://app.test', group: 'data' });
  return world;
}
const cancelledOf = ({ network }: World) => network.sent.map(({ abortedAt }) => abortedAt);

describe('hedges', () => {
  test.each<{ id: string; script: Answer[]; sentAt: number[]; status: number; cancelledAt: (number | undefined)[] }>([
    {
      id: 'grpc-391',
      script: [{ afterMs: 1_600 }, 'hang'],
      sentAt: [0, 500, 1_000, 1_500],
      status: 200,
      cancelledAt: [undefined, 1_600, 1_600, 1_600],
    },
    {
      id: 'grpc-393',
      script: [{ afterMs: 700 }, 'hang'],
      sentAt: [0, 500],
      status: 200,
      cancelledAt: [undefined, 700],
    },
    {
      id: 'grpc-394',
      script: ['hang', { afterMs: 100 }],
      sentAt: [0, 500],
      status: 200,
      cancelledAt: [600, undefined],
    },
    {
      id: 'grpc-396',
      script: [{ status: 400, afterMs: 600 }, 'hang'],
      sentAt: [0, 500],
      status: 400,
      cancelledAt: [undefined, 600],
    },
  ])('$id sent at $sentAt, $status', async ({ script, sentAt, status, cancelledAt }) => {
    const world = hedging(script);
    expect((await world.serve()).status).toBe(status);
    expect(world.network.times()).toEqual(sentAt);
    expect(cancelledOf(world)).toEqual(cancelledAt);
  });

  test('grpc-397 every attempt fails: hedges and retries share the attempts, and nothing comes after them', async () => {
    const world = hedging([503]);
    expect((await world.serve()).status).toBe(503);
    expect(world.network.sent).toHaveLength(4);
    await world.time.advance(60_000);
    expect(world.network.sent).toHaveLength(4);
  });

  test('grpc-398 a server that does not want to be asked again: here a time above the maximum says so', async () => {
    const world = hedging([{ status: 503, afterMs: 100, headers: { 'Retry-After': '86400' } }, 200]);
    expect((await world.serve()).status).toBe(503);
    expect(world.network.sent).toHaveLength(1);
  });

  test('grpc-392 a hedge without any delay is refused; after 1 ms is the least', async () => {
    const refused = () => checkRetryOptions({ hedge: { afterMs: 0, max: 3 } }, 'retry');
    expect(refused).toThrow(/retry\.hedge\.afterMs must be a number from 1/);
    const world = hedging([{ afterMs: 10 }], { afterMs: 1 });
    await world.serve();
    expect(world.network.times()).toEqual([0, 1, 2, 3]);
  });

  test('grpc-446 no delay given, an answer at once', async () => {
    const world = hedging([200], { afterMs: 1 }, { attempts: 3 });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
  });

  test('grpc-448 no delay given, 429 each time', async () => {
    const world = hedging([429], { afterMs: 1 }, { attempts: 3 });
    expect((await world.serve()).status).toBe(429);
    expect(world.network.sent).toHaveLength(3);
  });
});

describe('timeouts', () => {
  const within = (ms: number): Partial<RetryPolicy> => ({ totalMs: ms, hardTotal: true, cancelTimedOut: true });

  test('cockatiel-343 ends in time, with the attempt’s own signal', async () => {
    const world = createWorld({ script: [{ afterMs: 10 }], policy: within(5) });
    expect(await rejection(world.serve())).toMatchObject({ name: 'TimeoutError' });
    expect([world.time.elapsed(), world.network.sent.length]).toEqual([5, 1]);
    expect(world.network.sent[0]?.init?.signal?.aborted).toBe(true);
  });

  test('cockatiel-344 ends in time also where the caller has a signal, which is left alone', async () => {
    const world = createWorld({ script: [{ afterMs: 3 }], policy: within(1) });
    const { signal } = new AbortController();
    await rejection(world.serve({ request: new Request(URL_OF_ITEMS, { signal }) }));
    expect([world.time.elapsed(), world.network.sent[0]?.init?.signal?.aborted, signal.aborted]).toEqual([
      1,
      true,
      false,
    ]);
  });
});
