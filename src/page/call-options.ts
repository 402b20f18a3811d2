import { flag, number, object, refuse } from '../policy/check.js';
import type { CallOverride } from '../policy/override.js';
import { MAX_KEPT_ALIVE_MS } from '../policy/policy.js';
import type { Override } from '../protocol/index.js';

/**
 * What one call asks for, otherwise than its route says: `false` leaves it alone, `hedge: false` hedges nothing. What is
 * absent is inherited.
 */
export type CallOptions = false | (CallOverride & { readonly retries?: number });

const check = object({
  attempts: number(1, 10_000, { whole: true, remedy: 'to switch retries off, use `retry: false`' }),
  retries: number(0, 9_999, { whole: true }),
  attemptTimeoutMs: number(1, 2_147_483_647),
  totalMs: number(1, MAX_KEPT_ALIVE_MS),
  hedge: (value, path) => {
    if (value !== false) refuse(value, path, 'must be false', 'hedges are set up by a route');
  },
  retryNonIdempotent: flag,
});

/** What the Fetch Retry proposal has for one call; `maxAttempts` counts retries. Its waits are those of the route here. */
export interface FetchRetryOptions {
  readonly maxAttempts?: number;
  readonly maxAge?: number;
  readonly retryNonIdempotent?: boolean;
}

/** In our words. What else it has is passed over, as the proposal is by browsers that do not know it. */
export const inOurWords = ({ maxAttempts, maxAge, retryNonIdempotent }: FetchRetryOptions): CallOptions => ({
  ...(maxAttempts === undefined ? {} : { retries: maxAttempts }),
  ...(maxAge === undefined ? {} : { totalMs: maxAge }),
  ...(retryNonIdempotent === undefined ? {} : { retryNonIdempotent }),
});

/**
 * @throws {@link RetryLayerError} that names the option, the value and the remedy
 */
export function toOverride(options: CallOptions): Override {
  if (options === false) return { off: true };
  check(options, 'retry');
  const { retries, ...asked } = options;
  return { ...asked, ...(retries === undefined ? {} : { attempts: retries + 1 }) };
}
