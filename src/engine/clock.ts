import type { Ports } from './ports.js';

/**
 * The time of one request: neither a clock that is set back nor a machine that sleeps, through which a monotonic clock
 * may stand still, makes a wait or a deadline longer.
 */
export function steadyClock({ now, monotonic }: Pick<Ports, 'now' | 'monotonic'>): () => number {
  let latest = now();
  const offset = latest - monotonic();
  return () => {
    latest = Math.max(latest, now(), monotonic() + offset);
    return latest;
  };
}
