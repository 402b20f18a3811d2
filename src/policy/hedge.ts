import type { RequestFacts } from './eligibility.js';
import { mayRace } from './replay.js';

/** A second attempt that is sent before the first has failed, because it is slow. Opt-in. */
export interface HedgePolicy {
  /** How long an attempt may take to its headers; `p95`: longer than 95 % of the last ones of its origin and group. */
  readonly afterMs: number | 'p95';
  /** Most hedges of a request that are under way at once. @defaultValue 1 */
  readonly max: number;
}

/** Hedges are at most this share of the requests that may have one. */
export const HEDGE_SHARE = 0.05;
/** What was not used is saved for a burst of this many. */
const BURST = 5;
/** The last so many times are looked back on; with fewer than this there is no p95 yet. */
const TIMES = 100;
const LEAST_TIMES = 20;

/** What is known of one origin and group where its requests are hedged. */
export interface HedgeStats {
  /** Hedges that may be sent now. */
  readonly allowance: number;
  /** Until then nothing is left of what the server allows (its `RateLimit` says so), so that nothing is hedged. */
  readonly pausedUntil: number;
  /** Milliseconds to the headers of the last requests; at least so many, where an answer came from elsewhere. */
  readonly times: readonly number[];
}

/** The first request may be hedged, so that whoever tries it out sees it work. */
export const NO_HEDGE_STATS: HedgeStats = /* @__PURE__ */ Object.freeze({
  allowance: 1,
  pausedUntil: 0,
  times: /* @__PURE__ */ Object.freeze([]),
});

/** A request that may be hedged has begun. */
export const hedgeEarned = (stats: HedgeStats): HedgeStats => ({
  ...stats,
  // Five hundredths twenty times are a little less than one.
  allowance: Math.min(BURST, Math.round((stats.allowance + HEDGE_SHARE) * 1_000) / 1_000),
});

export const mayBeHedged = ({ allowance, pausedUntil }: HedgeStats, now: number): boolean =>
  allowance >= 1 && now >= pausedUntil;

export const hedgeSpent = (stats: HedgeStats): HedgeStats => ({ ...stats, allowance: stats.allowance - 1 });

export const timed = (stats: HedgeStats, ms: number): HedgeStats => ({
  ...stats,
  times: [...stats.times, ms].slice(-TIMES),
});

/** When an attempt that has no headers is hedged; `undefined` while too little is known. */
export function hedgeAfterMs({ afterMs }: HedgePolicy, { times }: HedgeStats): number | undefined {
  if (afterMs !== 'p95') return afterMs;
  if (times.length < LEAST_TIMES) return undefined;
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)];
}

/** May this request be hedged? Only what is read, by scripts or for a page, and may be asked twice at once. */
export const mayHedge = (request: RequestFacts): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') && mayRace(request) && !WORKERS.includes(request.destination);

const WORKERS = ['worker', 'sharedworker', 'serviceworker'];
