import { exponential, fullJitter } from './backoff.js';
import { frozen, type RetryOptions, type StatusRule } from './policy.js';

/**
 * Ready-made {@link RetryOptions} to spread into your own: `retry: { ...presets.reads, attempts: 3 }`. Plain data. One
 * that lists statuses replaces the list whole, and none makes a method retry that would not: what is not idempotent
 * still needs its key or `retryNonIdempotent`.
 */
export interface Presets {
  /** For what only reads: 404 408 409 423 425 429 500 502 503 504 507. A 404 may be a replica that lags behind. */
  readonly reads: RetryOptions;
  /** For what writes: 429 502 503, which say that the request was turned away. */
  readonly writes: RetryOptions;
  /** `reads` for GET, `writes` for every other method. */
  readonly byMethod: RetryOptions;
  /** Only where no answer came: no status is retried. */
  readonly networkOnly: RetryOptions;
  /** 3 retries, up to 1 s and then twice as long each time. */
  readonly api: RetryOptions;
  /** 2 retries, up to 500 ms and then twice as long. */
  readonly quick: RetryOptions;
  /** 5 retries, up to 2 s and then twice as long each time, in as much time as a browser leaves a worker; resumed. */
  readonly download: RetryOptions;
}

const WRITES = [429, 502, 503];
const READS = [404, 408, 409, 423, 425, 429, 500, 502, 503, 504, 507];

const forGetOnly = (status: number): StatusRule => (WRITES.includes(status) ? status : { status, only: 'get' });

const doubling = (baseMs: number) => fullJitter(exponential({ baseMs, maxMs: 10_000 }));

const make = (): Presets =>
  frozen<Presets>({
    reads: { statuses: READS },
    writes: { statuses: WRITES },
    byMethod: { statuses: READS.map(forGetOnly) },
    networkOnly: { statuses: [] },
    api: { attempts: 4, backoff: doubling(1_000) },
    quick: { attempts: 3, backoff: doubling(500) },
    // Its waits are up to 34 s: within the ordinary deadline the last retries would never start.
    download: { attempts: 6, backoff: doubling(2_000), totalMs: 50_000, resume: true },
  });

// Marked, so that a bundler leaves out what nobody uses.
export const presets: Presets = /* @__PURE__ */ make();
