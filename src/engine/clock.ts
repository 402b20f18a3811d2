import type { Ports } from './ports.js';

type Clocks = Pick<Ports, 'now' | 'monotonic'>;

/** An instant, by both clocks. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export const momentOf = ({ now, monotonic }: Clocks): Moment => ({ wall: now(), monotonic: monotonic() });

/**
 * The time of one request: neither a clock that is set back nor a machine that sleeps, through which a monotonic clock
 * may stand still, makes a wait or a deadline longer.
 */
export function steadyClock(ports: Clocks, since = momentOf(ports)): () => number {
  const { now, monotonic } = ports;
  let latest = since.wall;
  const offset = latest - since.monotonic;
  return () => {
    latest = Math.max(latest, now(), monotonic() + offset);
    return latest;
  };
}

/** The clock of one run, and what its instants are in the wall clock that is shared with others. */
export interface RunClock {
  now(): number;
  toWall(at: number): number;
  fromWall(at: number): number;
}

export function runClock(ports: Clocks, since?: Moment): RunClock {
  const now = steadyClock(ports, since);
  return { now, toWall: (at) => at - now() + ports.now(), fromWall: (at) => at - ports.now() + now() };
}
