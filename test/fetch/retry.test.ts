import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { TaskOptions, TaskPolicy } from '../../src/fetch/options.ts';
import { retry, runTask, type Task } from '../../src/fetch/retry.ts';
import { additiveJitter, constant, exponential } from '../../src/policy/backoff.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { rejection } from '../support/engine-world.ts';
import { createVirtualTime, virtualPorts } from '../support/virtual-time.ts';

const SECOND: TaskPolicy = { backoff: constant(1_000) };
const nowhere = async () => new Response();

function start<T>(task: Task<T>, policy: TaskPolicy = SECOND, options: TaskOptions = {}, random = () => 0) {
  const time = createVirtualTime();
  const sleeper = time.sleeper();
  const calls: { attempt: number; at: number; signal: AbortSignal }[] = [];
  const work = runTask<T>(
    (given) => {
      calls.push({ ...given, at: time.elapsed() });
      return task(given);
    },
    policy,
    options,
    virtualPorts(time, sleeper, nowhere, { random }),
  );
  work.catch(() => {});
  return {
    time,
    sleeper,
    calls,
    work,
    times: () => calls.map(({ at }) => at),
    end: () => time.until(work),
    error: () => rejection(time.until(work)),
  };
}

/** Fails as often as it is told to. */
const failing =
  (times: number, error: unknown = new Error('no')): Task<string> =>
  ({ attempt }) => {
    if (attempt <= times) throw error;
    return `attempt ${attempt}`;
  };
const hanging: Task<never> = () => new Promise(() => {});

describe('row 13: a function of any kind is retried', () => {
  const ROW: TaskPolicy = {
    attempts: 4,
    backoff: additiveJitter(exponential({ baseMs: 1_000 }), 1),
    attemptTimeoutMs: 1_000,
  };

  test('4 attempts, 1 s × 2, and what the last one returns', async () => {
    const { end, times, sleeper } = start(failing(3), ROW);
    expect(await end()).toBe('attempt 4');
    expect(times()).toEqual([0, 1_000, 3_000, 7_000]);
    expect(sleeper.pending()).toBe(0);
  });

  test('1 ms of jitter at most', async () => {
    const { end, times } = start(failing(1), ROW, {}, () => 1 - 2 ** -53);
    await end();
    expect(times()[1]).toBeGreaterThanOrEqual(1_000);
    expect(times()[1]).toBeLessThanOrEqual(1_001);
  });

  test('a hung attempt leaves room for the one that succeeds, and its signal says why it is over', async () => {
    const { end, times, calls } = start(({ attempt }) => (attempt === 1 ? hanging({} as never) : 'fine'), ROW);
    expect(await end()).toBe('fine');
    expect(times()).toEqual([0, 2_000]);
    expect(calls[0]?.signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(calls[1]?.signal.aborted).toBe(false);
  });

  test('the last error is thrown itself, with the number of attempts', async () => {
    const last = new TypeError('lost');
    const { error, calls } = start(failing(9, last), ROW);
    expect(await error()).toBe(last);
    expect(last).toMatchObject({ attempts: 4 });
    expect(calls).toHaveLength(4);
  });

  test('a timeout of the last attempt is thrown, too', async () => {
    const { error, time } = start(hanging, { ...ROW, attempts: 2 });
    expect(await error()).toMatchObject({ name: 'TimeoutError', attempts: 2 });
    expect(time.elapsed()).toBe(3_000);
  });
});

test('what is thrown may be anything', async () => {
  for (const thrown of ['text', 0, null, Object.freeze(new Error('frozen'))]) {
    expect(await start(failing(9, thrown), { ...SECOND, attempts: 2 }).error()).toBe(thrown);
  }
  const sealed = Object.preventExtensions(new Error('closed'));
  expect(await start(failing(9, sealed)).error()).not.toHaveProperty('attempts');
  const own = Object.defineProperty(new Error('own'), 'attempts', { value: 'mine' });
  expect(await start(failing(9, own)).error()).toMatchObject({ attempts: 'mine' });
});

test('a promise that rejects has failed like a function that throws', async () => {
  const { end } = start(async ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('no')) : attempt));
  expect(await end()).toBe(2);
});

test('the defaults: 4 attempts, full jitter over 500 ms × 2, no limit for an attempt or the whole', async () => {
  const { end, times } = start(failing(3), {}, {}, () => 0.5);
  await end();
  expect(times()).toEqual([0, 250, 750, 1_750]);
  const patient = start(({ attempt, signal }) => ({ attempt, signal }), { attemptTimeoutMs: 0 });
  await patient.end();
  expect(patient.sleeper.asked).toEqual([]);
});

test.each([
  [{ retries: 1 }, 2],
  [{ maxAttempts: 2 }, 3],
  [{ attempts: 1 }, 1],
] as const)('%o makes %i attempts', async (policy, attempts) => {
  const { error, calls } = start(failing(9), { ...SECOND, ...policy });
  expect(await error()).toMatchObject({ attempts });
  expect(calls).toHaveLength(attempts);
});

describe('row 15: errors that no retry can fix', () => {
  test('shouldRetry is asked with the error and the attempt', async () => {
    const asked: unknown[] = [];
    const error = new Error('no');
    const task = start(failing(9, error), SECOND, {
      shouldRetry: (given, attempt) => {
        asked.push([given, attempt]);
        return attempt < 2;
      },
    });
    expect(await task.error()).toBe(error);
    expect(asked).toEqual([
      [error, 1],
      [error, 2],
    ]);
    expect(error).toMatchObject({ attempts: 2 });
  });

  test('an abort is not retried', async () => {
    const abort = new DOMException('not now', 'AbortError');
    const { error, calls } = start(failing(9, abort));
    expect(await error()).toBe(abort);
    expect(calls).toHaveLength(1);
  });
});

describe('row 49: one time for all attempts and waits', () => {
  test.each(['totalMs', 'maxAge'] as const)('no wait starts that does not end before %s', async (name) => {
    const { error, time } = start(failing(9), { ...SECOND, attempts: 9, [name]: 2_500 });
    expect(await error()).toMatchObject({ attempts: 3 });
    expect(time.elapsed()).toBe(2_000);
  });
});

describe('row 11: called off', () => {
  const reason = new Error('enough');

  test('before it began: the task is not called', async () => {
    const { error, calls } = start(failing(0), SECOND, { signal: AbortSignal.abort(reason) });
    expect(await error()).toBe(reason);
    expect(calls).toEqual([]);
  });

  test('in a wait: at once, with the reason as it is', async () => {
    const controller = new AbortController();
    const { time, work, calls, sleeper } = start(failing(9), SECOND, { signal: controller.signal });
    await time.advance(500);
    controller.abort(reason);
    expect(await rejection(work)).toBe(reason);
    expect(reason).not.toHaveProperty('attempts');
    expect([calls.length, time.elapsed(), sleeper.pending()]).toEqual([1, 500, 0]);
  });

  test('during an attempt: it is told, and not waited for', async () => {
    const controller = new AbortController();
    const { time, work, calls, sleeper } = start(hanging, { attemptTimeoutMs: 9_000 }, { signal: controller.signal });
    await time.advance(500);
    controller.abort(reason);
    expect(await rejection(work)).toBe(reason);
    expect([calls[0]?.signal.reason, sleeper.pending()]).toEqual([reason, 0]);
  });

  test('an attempt that throws because of it is not retried', async () => {
    const controller = new AbortController();
    const { error, calls } = start(
      () => {
        controller.abort(reason);
        throw new Error('something else');
      },
      SECOND,
      { signal: controller.signal },
    );
    expect(await error()).toBe(reason);
    expect(calls).toHaveLength(1);
  });
});

test('a machine that slept past the end starts no further attempt', async () => {
  const { time, work, calls } = start(failing(9), { ...SECOND, totalMs: 5_000 });
  await time.advance(500);
  time.suspend(60_000);
  await time.advance(0);
  expect(await rejection(work)).toMatchObject({ attempts: 1 });
  expect(calls).toHaveLength(1);
});

describe('what is wrong is said before anything is done', () => {
  test.each([
    [{ attempts: 0 }, {}, 'policy.attempts'],
    [{ attemptTimeoutMs: -1 }, {}, 'policy.attemptTimeoutMs'],
    [{ totalMs: 0 }, {}, 'policy.totalMs'],
    [{ totalMs: 5, maxAge: 6 }, {}, 'policy.maxAge'],
    [{ retires: 1 }, {}, 'policy.retires'],
    [[], {}, 'policy'],
    [null, {}, 'policy'],
    [{}, { signal: {} }, 'options.signal'],
    [{}, { shouldRetry: true }, 'options.shouldRetry'],
    [{}, { onRetry: () => {} }, 'options.onRetry'],
  ])('%j %j', async (policy, options, option) => {
    let called = false;
    const error = await rejection(
      retry(
        () => {
          called = true;
        },
        policy as TaskPolicy,
        options as TaskOptions,
      ),
    );
    expect(error).toBeInstanceOf(RetryLayerError);
    expect(error).toMatchObject({ option });
    expect(called).toBe(false);
  });

  test('a task that is no function', async () => {
    expect(await rejection(retry('task' as never))).toMatchObject({ option: 'task' });
  });

  test('a whole policy of a fetch will do, and hours are allowed', async () => {
    expect(await retry(() => 7, { statuses: [503], totalMs: 7_200_000 } as TaskPolicy)).toBe(7);
  });
});

test('in real time', async () => {
  const startedAt = Date.now();
  expect(await retry(failing(2), { backoff: constant(20) })).toBe('attempt 3');
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(40);
});

test.each<{ name: string; task: Task<string>; abortAtMs?: number; ends: unknown }>([
  { name: 'success', task: failing(5), ends: 'attempt 6' },
  { name: 'failure', task: failing(9), ends: expect.any(Error) },
  { name: 'attempts that take too long', task: () => new Promise(() => {}), ends: expect.any(DOMException) },
  { name: 'an abort in a wait', task: failing(9), abortAtMs: 1_500, ends: 'off' },
  { name: 'an abort of an attempt', task: () => new Promise(() => {}), abortAtMs: 2_700, ends: 'off' },
])('B061 leaves no timer and no listener: $name', async ({ task, abortAtMs, ends }) => {
  const controller = new AbortController();
  const policy = { ...SECOND, attempts: 6, attemptTimeoutMs: 500 };
  const { time, work, sleeper } = start(task, policy, { signal: controller.signal });
  await time.settle();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  if (abortAtMs !== undefined) {
    await time.advance(abortAtMs);
    controller.abort('off');
  }
  expect(await time.until(work.catch((error: unknown) => error))).toEqual(ends);
  expect([sleeper.pending(), getEventListeners(controller.signal, 'abort')]).toEqual([0, []]);
});
