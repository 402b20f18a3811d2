import { describe, expect, test } from 'vitest';
import type { Classify } from '../../src/engine/classify.ts';
import { serve } from '../../src/engine/serve.ts';
import { constant, exponential } from '../../src/policy/backoff.ts';
import { checkRetryOptions } from '../../src/policy/check.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { createWorld, rejection, type World } from '../support/engine-world.ts';
import { judged } from '../support/judged-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const fails = (outcome: Parameters<Classify>[0]) => outcome.kind !== 'response' || outcome.status >= 400;
const of = (world: World, type: string) => world.steps.filter((step) => step.type === type);

/** 4 attempts, 300 ms × 2; what is retried. */
const KY: Partial<RetryPolicy> = {
  statuses: [408, 413, 429, 500, 502, 503, 504],
  backoff: exponential({ baseMs: 300 }),
  throttledBackoff: exponential({ baseMs: 300 }),
};

describe('a function of the user’s decides', () => {
  const oncePer400: Classify = (outcome, attempt) => {
    if (outcome.kind !== 'response' || outcome.status < 400 || outcome.status >= 500) return undefined;
    return outcome.status === 400 && attempt === 1 ? 'retry' : 'deliver';
  };
  const always: Classify = (outcome) => (fails(outcome) ? 'retry' : undefined);

  test.each<{ id: string; classify: Classify; script: Answer[]; times: number[]; status: number }>([
    { id: 'ky-066', classify: () => undefined, script: [500, 500, 200], times: [0, 300, 900], status: 200 },
    { id: 'ky-068', classify: oncePer400, script: [400, 500, 200], times: [0, 300, 900], status: 200 },
    { id: 'ky-073', classify: always, script: [400, 400, 200], times: [0, 300, 900], status: 200 },
    { id: 'go-retryablehttp-172', classify: () => 'deliver', script: [500], times: [0], status: 500 },
  ])('$id sent at $times, $status', async ({ classify, script, times, status }) => {
    const world = judged(classify, { script, policy: KY });
    expect((await world.serve()).status).toBe(status);
    expect([world.network.times(), world.problemsOfClassify]).toEqual([times, []]);
  });

  // There an error of the function’s is the answer. Here the rules decide then, and no request is harmed by it.
  test.each<{ id: string; classify: () => unknown; script: Answer[]; times: number[]; status: number }>([
    {
      id: 'ky-070',
      classify: () => Promise.reject(new Error('the hook’s own')),
      script: [500, 200],
      times: [0, 300],
      status: 200,
    },
    { id: 'ky-074', classify: () => Promise.resolve('retry'), script: [400, 200], times: [0], status: 400 },
    { id: 'ky-075', classify: () => 42, script: [500, 500, 200], times: [0, 300, 900], status: 200 },
  ])('$id what is no verdict is none: the rules decide, and it is told', async (row) => {
    const { classify, script, times, status } = row;
    const world = judged(classify as Classify, { script, policy: KY });
    expect((await world.serve()).status).toBe(status);
    expect(world.network.times()).toEqual(times);
    expect(world.problemsOfClassify).toHaveLength(times.length);
    expect(world.faults).toEqual([]);
  });

  test('go-retryablehttp-173 one that throws at the second failure leaves that to the rules', async () => {
    const mine = new Error('mine');
    const classify: Classify = (_, attempt) => {
      if (attempt === 2) throw mine;
      return undefined;
    };
    const world = judged(classify, { script: [500, 500, 200], policy: KY });
    expect((await world.serve()).status).toBe(200);
    expect([world.network.times(), world.problemsOfClassify]).toEqual([[0, 300, 900], [mine]]);
  });

  const retryTimeouts: Classify = ({ kind }) => (kind === 'timeout' ? 'retry' : undefined);

  // The fourth attempt would be waited for, so the time for all of them ends where its own would.
  const hanging = () =>
    judged(retryTimeouts, {
      script: ['hang'],
      policy: { ...KY, attemptTimeoutMs: 500, cancelTimedOut: true, hardTotal: true, totalMs: 4_100 },
    });

  test('ky-071 timeouts are retried where it says so', async () => {
    const world = hanging();
    expect(await rejection(world.serve())).toMatchObject({ name: 'TimeoutError' });
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0, 800, 1_900, 3_600], 4_100]);
    const timeouts = world.seen.filter(({ outcome }) => outcome.kind === 'timeout');
    expect(timeouts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  // What the engine itself has called off is no news of the network, and nothing is left to decide about it.
  test('ky-071 it is asked about each timeout, and not again about what was called off because of it', async () => {
    const world = hanging();
    await rejection(world.serve());
    expect(world.seen.map(({ outcome }) => outcome.kind)).toEqual(['timeout', 'timeout', 'timeout']);
  });

  test('ky-071 where it differs here: one that answers during the wait after it is an answer', async () => {
    const policy = { ...KY, attemptTimeoutMs: 500, cancelTimedOut: true };
    const world = judged(retryTimeouts, { script: [{ afterMs: 1_000 }], policy });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0, 800], 1_800]);
  });

  test('ky-072 and not where it says no: what is in flight is waited for', async () => {
    const world = judged(({ kind }) => (kind === 'timeout' ? 'deliver' : undefined), {
      script: [{ afterMs: 1_000 }],
      policy: { ...KY, attemptTimeoutMs: 500 },
    });
    expect((await world.serve()).status).toBe(200);
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0], 1_000]);
  });

  test('got-093 an error that it says is final is', async () => {
    const world = judged(({ kind }) => (kind === 'network-error' ? 'deliver' : undefined), { script: ['reset', 200] });
    expect(await rejection(world.serve())).toBe(world.network.sent[0]?.error);
    expect(world.network.sent).toHaveLength(1);
  });

  test('got-092 waits are no function that could throw, and one is refused before anything is sent', () => {
    const backoff = (() => {
      throw new Error('the hook’s own');
    }) as never;
    expect(() => checkRetryOptions({ backoff }, 'retry')).toThrow(
      expect.objectContaining({ code: 'bad-option', option: 'retry.backoff' }),
    );
  });
});

describe('what is told', () => {
  test('cockatiel-340 each retry once, under the attempt that failed', async () => {
    const world = createWorld({ script: ['reset'] });
    await rejection(world.serve());
    expect(of(world, 'retry-scheduled').map((step) => 'attempt' in step && step.attempt)).toEqual([1, 2, 3]);
  });

  test.each([
    { id: 'cockatiel-345', afterMs: 3, timeouts: 1 },
    { id: 'cockatiel-346', afterMs: 0, timeouts: 0 },
  ])('$id an attempt of $afterMs ms where 2 are allowed: $timeouts timeouts', async ({ afterMs, timeouts }) => {
    const policy = { attemptTimeoutMs: 2, backoff: constant(10) };
    const world = createWorld({ script: [{ afterMs }, 200], policy });
    expect((await world.serve()).status).toBe(200);
    expect(of(world, 'retry-scheduled')).toHaveLength(timeouts);
    for (const step of of(world, 'retry-scheduled'))
      expect(step).toMatchObject({ outcome: { kind: 'timeout' }, at: 2 });
  });

  test('nurago-232 of a request that is called off while it is under way no retry', async () => {
    const world = createWorld({ script: [{ status: 500, afterMs: 200 }, 200], policy: { attempts: 3 } });
    const controller = new AbortController();
    const work = serve({ ...world.call(), signal: controller.signal }, world.engine, () => {});
    work.catch(() => {});
    await world.time.advance(100);
    controller.abort('off');
    expect(await rejection(world.time.until(work))).toBe('off');
    await world.time.advance(60_000);
    expect(of(world, 'retry-scheduled')).toEqual([]);
  });

  test('smithy-501 why it was given up: attempts', async () => {
    const world = createWorld({ script: [500], policy: { attempts: 3 } });
    expect((await world.serve()).status).toBe(500);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', attempts: 3 });
  });
});

describe('what a retry says of itself', () => {
  // There a function may change a retry; here the one thing that is put on it is its number.
  test.each<{ id: string; script: Answer[]; numbers: (string | undefined)[] }>([
    { id: 'grpc-417', script: [503, 503, 200], numbers: [undefined, '1', '2'] },
    { id: 'go-retryablehttp-184', script: [503], numbers: [undefined, '1', '2'] },
    { id: 'go-retryablehttp-185', script: [503, 200], numbers: [undefined, '1'] },
  ])('$id $numbers', async ({ script, numbers }) => {
    const world = createWorld({ script, policy: { attempts: 3, backoff: constant(10), retryAttemptHeader: true } });
    await world.serve();
    const told = world.network.sent.map(({ init }) => new Headers(init?.headers).get('Retry-Attempt') ?? undefined);
    expect(told).toEqual(numbers);
  });
});
