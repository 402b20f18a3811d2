import { type Backoff, exponential, fullJitter } from './backoff.js';
import { IDEMPOTENT_METHODS } from './eligibility.js';
import type { HedgePolicy } from './hedge.js';
import type { HoldScope } from './hold.js';

/** A policy as the engine uses it: every field present, checked, and plain data. Made by {@link resolvePolicy}. */
export interface RetryPolicy {
  /** Most attempts, the first included. @defaultValue 4, navigations 3 */
  readonly attempts: number;
  /** Methods that may be repeated without an idempotency key. @defaultValue GET HEAD OPTIONS PUT DELETE QUERY TRACE */
  readonly methods: readonly string[];
  /** Repeats POST, PATCH and custom methods without a key, too. @defaultValue false */
  readonly retryNonIdempotent: boolean;
  /** Statuses that are retried. @defaultValue 408 425 429 500 502 503 504 521–524, and 409 and 413 under conditions */
  readonly statuses: readonly StatusRule[];
  /** How long to wait before each retry. @defaultValue full jitter over 500 ms × 2, at most 10 s */
  readonly backoff: Backoff;
  /** How long to wait after a 429 or 503 that names no time. @defaultValue the same from 1 s; your `backoff` if set */
  readonly throttledBackoff: Backoff;
  readonly retryAfter: RetryAfterPolicy;
  /** Time to the headers after which the next attempt starts; bodies and uploads are never cut. @defaultValue 10 000, navigations 8 000 */
  readonly attemptTimeoutMs: number;
  /**
   * Cuts an overdue attempt off when the next one starts, also of writes, instead of letting the two race; and one that
   * lost a race at once. Such requests are sent without `sec-ch-ua` headers. Never of navigations. @defaultValue false
   */
  readonly cancelTimedOut: boolean;
  /**
   * No attempt or wait starts that cannot end before this. At most 240 000; more than 50 000 counts only where a page
   * keeps the worker alive, as `connect()` does. @defaultValue 25 000, navigations 12 000
   */
  readonly totalMs: number;
  /** Ends the request at `totalMs` instead of waiting for the attempt that is in flight then. @defaultValue false */
  readonly hardTotal: boolean;
  /** Sends a second attempt beside one that is slow: GET and HEAD, at most 5 % of them. @defaultValue false */
  readonly hedge: false | HedgePolicy;
  /**
   * Origins that have the same files: GET and HEAD of scripts and assets rotate over them, and `attempts` rises to their
   * number (at most 10). @defaultValue none
   */
  readonly mirrors: readonly string[];
  /** After these the next mirror is asked (`retried`: every one that is retried), as it is after network errors and timeouts. @defaultValue every retried one */
  readonly mirrorStatuses: 'retried' | readonly number[];
  /** Lets mirrors see cookies and headers such as `Authorization`. @defaultValue false */
  readonly mirrorCredentials: boolean;
  /** Adds `Retry-Attempt: n` to same-origin retries (as Fetch Retry does), which costs them `sec-ch-ua`. @defaultValue false */
  readonly retryAttemptHeader: boolean;
  /** A larger body is sent once, whole, and never repeated. @defaultValue 1 048 576 */
  readonly maxReplayBytes: number;
  /**
   * What a `Retry-After` speaks for: `auto` is the path on 429 and the whole group otherwise, and the group once two
   * paths are limited within 10 s. @defaultValue 'auto'
   */
  readonly holdScope: HoldScope;
  /**
   * What an open circuit means for new requests. `suppress`: they go out once, and nobody retries alone; `reject`: they
   * are answered at once with 503 as `application/problem+json`, and one in a while goes out to see. @defaultValue 'suppress'
   */
  readonly circuit: 'suppress' | 'reject';
  /** Takes `Range` requests of audio and video, too. @defaultValue false */
  readonly mediaRanges: boolean;
  /**
   * Asks for the rest of a download that breaks off, so that the page gets it whole. Of GETs by scripts whose server has
   * byte ranges and a strong `ETag` or date, without `Content-Encoding`. The answer that the page gets is then made by us:
   * it has no `url` in a worker. Not in Firefox's workers, which cut such answers short. @defaultValue false
   */
  readonly resume: boolean;
  /**
   * Reads an answer whole before the page gets it, so that one that is cut short is retried as a lost connection is. Only
   * one that declares at most `maxBytes`; others go through as they come. @defaultValue false
   */
  readonly holdBody: false | HoldBodyPolicy;
}

export interface HoldBodyPolicy {
  /** A longer answer is not held. @defaultValue 1 048 576 */
  readonly maxBytes: number;
}

/** A status, or a status under a condition. */
export type StatusRule =
  | number
  | {
      readonly status: number;
      /** Only for GET, only for safe methods, only with an idempotency key, only if the answer has a `Retry-After`. */
      readonly only?: 'get' | 'safe-method' | 'idempotency-key' | 'retry-after';
      /** Most retries because of this status. */
      readonly retries?: number;
    };

export interface RetryAfterPolicy {
  /**
   * `extend`: never earlier than the server said, and never earlier than the backoff; `replace`: the server's time
   * instead of the backoff; `ignore`. @defaultValue 'extend'
   */
  readonly mode: 'extend' | 'replace' | 'ignore';
  /** Statuses whose `Retry-After` counts; `retried`: that of every one that is retried. @defaultValue every retried one */
  readonly statuses: 'retried' | readonly number[];
  /** The longest time the server may ask for, in milliseconds. @defaultValue 15 000, navigations 5 000 */
  readonly maxMs: number;
  /** What to do when it asks for more: return its answer at once, or wait `maxMs`. @defaultValue 'give-up' */
  readonly overMax: 'give-up' | 'truncate';
}

/**
 * What a user may say about retries; whatever is absent is inherited. Plain data that survives `structuredClone`.
 * Some things can be said in other words, too, those of the Fetch Retry proposal (WICG) among them; what is said twice
 * has to agree.
 */
export type RetryOptions = Partial<Omit<RetryPolicy, 'retryAfter' | 'hedge' | 'holdBody'>> & {
  readonly hedge?: false | (Pick<HedgePolicy, 'afterMs'> & Partial<HedgePolicy>);
  readonly retryAfter?: Partial<RetryAfterPolicy>;
  /** `true`: up to 1 MiB. */
  readonly holdBody?: boolean | Partial<HoldBodyPolicy>;
  /** `attempts` without the first. */
  readonly retries?: number;
  /** The same as `retries`: Fetch Retry does not count the first attempt. */
  readonly maxAttempts?: number;
  /** The first wait of a `backoff` with full jitter, in milliseconds. @defaultValue that of the backoff it replaces, or 500 */
  readonly initialDelay?: number;
  /** How much longer each further wait is. @defaultValue that of the backoff it replaces, or 2 */
  readonly backoffFactor?: number;
  /** The same as `totalMs`. */
  readonly maxAge?: number;
};

/** The most upward jitter that is put on a server's own time: a quarter of it, and this much. */
export const RETRY_AFTER_JITTER = /* @__PURE__ */ Object.freeze({ ratio: 0.25, maxMs: 5_000 });

/** Above this a browser may stop the worker in the middle of a wait (Firefox: 60 s after the last event), */
export const MAX_TOTAL_MS = 50_000;
/** unless a page keeps it alive; and at this much it is stopped all the same (Chromium: 5 min). */
export const MAX_KEPT_ALIVE_MS = 240_000;

const HELD: HoldBodyPolicy = { maxBytes: 1_048_576 };
const GROWING = { baseMs: 500, factor: 2, maxMs: 10_000 };

/** The defaults for everything but navigations. */
export const DEFAULTS: RetryPolicy = frozen<RetryPolicy>({
  attempts: 4,
  methods: IDEMPOTENT_METHODS,
  retryNonIdempotent: false,
  statuses: [
    408,
    { status: 409, only: 'idempotency-key' },
    { status: 413, only: 'retry-after' },
    { status: 425, retries: 1 },
    429,
    { status: 500, only: 'safe-method' },
    502,
    503,
    504,
    521,
    522,
    523,
    524,
  ],
  backoff: fullJitter(exponential(GROWING)),
  throttledBackoff: fullJitter(exponential({ baseMs: 1_000, maxMs: 10_000 })),
  retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 15_000, overMax: 'give-up' },
  attemptTimeoutMs: 10_000,
  cancelTimedOut: false,
  totalMs: 25_000,
  hardTotal: false,
  hedge: false,
  mirrors: [],
  mirrorStatuses: 'retried',
  mirrorCredentials: false,
  retryAttemptHeader: false,
  maxReplayBytes: 1_048_576,
  holdScope: 'auto',
  circuit: 'suppress',
  mediaRanges: false,
  resume: false,
  holdBody: false,
});

/** The defaults for navigations: somebody looks at a blank tab meanwhile. */
export const NAVIGATION_DEFAULTS: RetryPolicy = /* @__PURE__ */ forNavigations();

/**
 * `base` with what `options` say put over it, as a frozen copy: what the user does to the options afterwards changes no
 * policy. The options have been checked (see `checkRetryOptions`).
 */
export function resolvePolicy(options: RetryOptions, base: RetryPolicy): RetryPolicy {
  // Most calls and layers say nothing.
  if (Object.keys(options).length === 0 && Object.isFrozen(base)) return base;
  const { retryAfter, hedge, holdBody, ...given } = inOneWord(present(options), base);
  const policy: RetryPolicy = {
    ...base,
    ...given,
    retryAfter: { ...base.retryAfter, ...present(retryAfter ?? {}) },
    hedge: hedge ? { max: 1, ...present(hedge) } : (hedge ?? base.hedge),
    holdBody: holdBody ? { ...HELD, ...present(Object(holdBody)) } : (holdBody ?? base.holdBody),
  };
  // Somebody who sets the backoff means every wait; the gentler start after a 429 or 503 belongs to ours.
  const ownBackoff = given.backoff !== undefined && given.throttledBackoff === undefined;
  return frozen(ownBackoff ? { ...policy, throttledBackoff: policy.backoff } : policy);
}

type Canonical = Omit<RetryOptions, 'retries' | 'maxAttempts' | 'initialDelay' | 'backoffFactor' | 'maxAge'>;

/** The same options in the words of a policy. */
function inOneWord(options: RetryOptions, base: RetryPolicy): Canonical {
  const { retries, maxAttempts = retries, initialDelay, backoffFactor, maxAge, ...given } = options;
  const grows = initialDelay !== undefined || backoffFactor !== undefined;
  return {
    ...given,
    ...(maxAttempts === undefined ? {} : { attempts: maxAttempts + 1 }),
    ...(maxAge === undefined ? {} : { totalMs: maxAge }),
    ...(grows ? { backoff: growing(initialDelay, backoffFactor, base.backoff) } : {}),
  };
}

/** Full jitter over an exponential backoff; what is not given is that of `base`, if it is of this kind, or ours. */
function growing(initialDelay: number | undefined, backoffFactor: number | undefined, base: Backoff): Backoff {
  const known = base.kind === 'full-jitter' && base.of.kind === 'exponential' ? base.of : GROWING;
  const baseMs = initialDelay ?? known.baseMs;
  // Whoever asks for a first wait above the cap means it.
  return fullJitter(
    exponential({ baseMs, factor: backoffFactor ?? known.factor, maxMs: Math.max(known.maxMs, baseMs) }),
  );
}

/** What is undefined is inherited, as if it were absent. */
const present = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

/** A deep copy that nobody can change. Plain, even where a framework watches the original. */
/* @__NO_SIDE_EFFECTS__ */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, frozen(inner)]));
  return Object.freeze(copy) as T;
}

// A bundler that does not need them can leave out a call, but not an object that takes over what another has.
function forNavigations(): RetryPolicy {
  return frozen({
    ...DEFAULTS,
    attempts: 3,
    attemptTimeoutMs: 8_000,
    totalMs: 12_000,
    retryAfter: { ...DEFAULTS.retryAfter, maxMs: 5_000 },
  });
}
