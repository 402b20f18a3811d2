import type { LayerEvent } from '../protocol/index.js';

/** The requests that wait or retry, and when each was last heard of. */
export type Tally = ReadonlyMap<string, number>;

/** Which events change it. */
export const TELLING = ['retry-scheduled', 'waiting', 'released', 'recovered', 'resumed', 'gave-up'] as const;

/** What becomes of a request is told within a few minutes, unless its worker was stopped. */
export const FORGOTTEN_MS = 300_000;

/** Without an event it only forgets. */
export function tallied(tally: Tally, now: number, event?: LayerEvent): Tally {
  const after = new Map([...tally].filter(([, heardAt]) => now - heardAt < FORGOTTEN_MS));
  if (!event || !('elapsedMs' in event)) return after;
  // What has ended is told to be; whatever else is told of a request, it goes on. A download that goes on waits no more.
  const waitsNoMore = ['recovered', 'resumed', 'gave-up'].includes(event.type);
  if (waitsNoMore) after.delete(event.id);
  else after.set(event.id, now);
  return after;
}
