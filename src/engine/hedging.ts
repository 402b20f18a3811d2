import {
  type HedgePolicy,
  type HedgeStats,
  hedgeAfterMs,
  hedgeEarned,
  hedgeSpent,
  mayBeHedged,
  NO_HEDGE_STATS,
  timed,
} from '../policy/hedge.js';
import { setBounded } from './bounded.js';
import { idOf, type OriginKey } from './origin-book.js';

/** Knows how long each origin and group takes, and how many of its requests may be hedged. In memory only. */
export interface Hedging {
  /** A request that may be hedged begins. */
  began(key: OriginKey): void;
  /** Its first attempt has taken so long to its headers, or at least so long. */
  took(key: OriginKey, ms: number): void;
  /** How long an attempt may take before it is hedged; `undefined` while too little is known. */
  afterMs(key: OriginKey, policy: HedgePolicy): number | undefined;
  /** Its server says that nothing is left until then (epoch milliseconds). */
  pause(key: OriginKey, until: number): void;
  /** Takes one of the hedges that there are, if there may be any now. */
  take(key: OriginKey, now: number): boolean;
}

export function createHedging(): Hedging {
  const known = new Map<string, HedgeStats>();
  const look = (key: OriginKey): HedgeStats => known.get(idOf(key)) ?? NO_HEDGE_STATS;
  const change = (key: OriginKey, stats: HedgeStats): void => setBounded(known, idOf(key), stats);
  return {
    began: (key) => change(key, hedgeEarned(look(key))),
    took: (key, ms) => change(key, timed(look(key), ms)),
    afterMs: (key, policy) => hedgeAfterMs(policy, look(key)),
    pause: (key, until) => change(key, { ...look(key), pausedUntil: until }),
    take(key, now) {
      const stats = look(key);
      if (!mayBeHedged(stats, now)) return false;
      change(key, hedgeSpent(stats));
      return true;
    },
  };
}
