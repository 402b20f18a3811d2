import { onAbort, type Ports, platformPorts, steadyClock, unlessAborted } from '../engine/index.js';
import { startsInTime } from '../policy/deadline.js';
import { DEFAULTS, delayMs, resolvePolicy } from '../policy/index.js';
import { withAttempts } from './attempts.js';
import { checkTask, type TaskOptions, type TaskPolicy } from './options.js';

/** Does something once. `signal` says when this attempt is over: its time is up, or nobody wants it any more. */
export type Task<T> = (attempt: { readonly attempt: number; readonly signal: AbortSignal }) => T | PromiseLike<T>;

/**
 * Repeats anything that may fail: calls `task` until it does not throw, and returns what it returns.
 *
 * It waits between attempts as the policy's `backoff` says. An attempt that takes longer than `attemptTimeoutMs` has
 * failed with a `TimeoutError`, whether or not it heeds its signal; 0 or absent: it has all the time it wants. No wait
 * starts that does not end before `totalMs`; absent: there is no such limit.
 *
 * @throws the last error, with `attempts`; or the reason of `signal`, as it is
 * @throws {@link RetryLayerError} if the policy or an option is wrong; the task is not called then
 */
export const retry = async <T>(task: Task<T>, policy: TaskPolicy = {}, options: TaskOptions = {}): Promise<T> => {
  checkTask(task, policy, options);
  return runTask(task, policy, options, platformPorts);
};

/** {@link retry} with its clock, chance and timers from elsewhere; nothing is checked. */
export async function runTask<T>(
  task: Task<T>,
  { attemptTimeoutMs = 0, totalMs, maxAge, ...how }: TaskPolicy,
  { signal, shouldRetry = isNoAbort }: TaskOptions,
  ports: Pick<Ports, 'sleep' | 'now' | 'monotonic' | 'random'>,
): Promise<T> {
  const { sleep, random } = ports;
  const now = steadyClock(ports);
  const { attempts, backoff } = resolvePolicy(how, DEFAULTS);
  const deadline = now() + (totalMs ?? maxAge ?? Number.POSITIVE_INFINITY);
  let waitMs: number | undefined;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await once(task, attempt, { attemptTimeoutMs, signal, sleep });
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt >= attempts || !shouldRetry(error, attempt)) throw withAttempts(error, attempt);
      waitMs = delayMs(backoff, attempt, random, waitMs);
      if (!startsInTime(now() + waitMs, deadline)) throw withAttempts(error, attempt);
      const wait = sleep(waitMs);
      try {
        await unlessAborted(wait.done, signal);
      } finally {
        wait.cancel();
      }
      // The machine may have slept meanwhile.
      if (!startsInTime(now(), deadline)) throw withAttempts(error, attempt);
    }
  }
}

async function once<T>(
  task: Task<T>,
  attempt: number,
  {
    attemptTimeoutMs,
    signal,
    sleep,
  }: {
    readonly attemptTimeoutMs: number;
    readonly signal: AbortSignal | undefined;
    readonly sleep: Ports['sleep'];
  },
): Promise<T> {
  const own = new AbortController();
  const limit = attemptTimeoutMs > 0 ? sleep(attemptTimeoutMs) : undefined;
  void limit?.done.then(() =>
    own.abort(new DOMException(`attempt ${attempt} took longer than ${attemptTimeoutMs} ms`, 'TimeoutError')),
  );
  const unlink = onAbort(signal, (reason) => own.abort(reason));
  try {
    // A task that throws at once has failed like any other; one that does not heed its signal is not waited for.
    return await unlessAborted((async () => task({ attempt, signal: own.signal }))(), own.signal);
  } finally {
    limit?.cancel();
    unlink();
  }
}

/** Whoever has called something off does not want it again. */
const isNoAbort = (error: unknown): boolean => (error as { name?: unknown } | null)?.name !== 'AbortError';
