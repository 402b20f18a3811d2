import { MAX_KEPT_ALIVE_MS, type RetryPolicy } from './policy.js';

/** What one call may say about its retries. */
export type CallOverride = Partial<
  Pick<RetryPolicy, 'attempts' | 'attemptTimeoutMs' | 'totalMs' | 'retryNonIdempotent'>
> & { readonly hedge?: false };

/**
 * The policy for one call. Whoever is not trusted may only ask for less: fewer attempts, less time, no hedges, no
 * repeating. What the page itself asks for counts both ways.
 */
export function overridden(policy: RetryPolicy, asked: CallOverride, trusted: boolean): RetryPolicy {
  const least = (ours: number, theirs = ours): number => (trusted ? theirs : Math.min(ours, theirs));
  return {
    ...policy,
    attempts: least(policy.attempts, asked.attempts),
    // A shorter one means more attempts, not fewer.
    attemptTimeoutMs: (trusted ? asked.attemptTimeoutMs : undefined) ?? policy.attemptTimeoutMs,
    totalMs: Math.min(least(policy.totalMs, asked.totalMs), MAX_KEPT_ALIVE_MS),
    hedge: asked.hedge === false ? false : policy.hedge,
    retryNonIdempotent: trusted
      ? (asked.retryNonIdempotent ?? policy.retryNonIdempotent)
      : policy.retryNonIdempotent && asked.retryNonIdempotent !== false,
  };
}
