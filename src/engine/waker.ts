import { setBounded } from './bounded.js';

/** Ends waits that are only ours, because the device is back or the user has asked for it. */
export interface Waker {
  /** A request of this origin waits. */
  enter(origin: string): Nap;
  /** Wakes everybody who waits for this origin, or for any; not all at the same moment. */
  wake(origin?: string): void;
}

export interface Nap {
  /** Resolves when it is woken, to how long it still waits so that not all go at once. */
  readonly woken: Promise<number>;
  leave(): void;
}

/** How far those that are woken are spread: this much for each, */
const EACH_MS = 50;
/** and no more than this in all. An origin is woken no more often either. */
const MOST_MS = 1_000;

export function createWaker(now: () => number): Waker {
  const naps = new Map<string, Set<(delayMs: number) => void>>();
  const wokenAt = new Map<string, number>();
  const wakeOne = (origin: string): void => {
    const sleepers = [...(naps.get(origin) ?? [])];
    const at = now();
    if (sleepers.length === 0 || Math.abs(at - (wokenAt.get(origin) ?? Number.NEGATIVE_INFINITY)) < MOST_MS) return;
    setBounded(wokenAt, origin, at);
    const apartMs = Math.min(EACH_MS, MOST_MS / sleepers.length);
    for (const [index, wake] of sleepers.entries()) wake(Math.round(index * apartMs));
  };
  return {
    enter(origin) {
      let wake: (delayMs: number) => void = () => {};
      const woken = new Promise<number>((resolve) => {
        wake = resolve;
      });
      const sleepers = naps.get(origin) ?? new Set();
      naps.set(origin, sleepers.add(wake));
      return {
        woken,
        leave() {
          sleepers.delete(wake);
          if (sleepers.size === 0 && naps.get(origin) === sleepers) naps.delete(origin);
        },
      };
    },
    wake(origin) {
      for (const one of origin === undefined ? [...naps.keys()] : [origin]) wakeOne(one);
    },
  };
}
