import { setBounded } from './bounded.js';
import { idOf, type OriginKey } from './origin-book.js';

/** What a parked request is told: go, or look again whether it may probe. */
export type Called = 'go' | 'look';

/**
 * A request's place among those that wait for a success of their origin and group. First come, first released. Whoever
 * was called keeps a place until it leaves: as long as it has not come back, nobody knows that all is well.
 */
export interface Place {
  /** What it was told since it was last asked; `go` is never forgotten. */
  take(): Called | undefined;
  /** Resolves when there is something to take. */
  signal(): Promise<void>;
  leave(): void;
}

export interface Parking {
  park(key: OriginKey): Place;
  /** A success came: the one that waits longest may go. */
  release(key: OriginKey): void;
  /** The circuit has changed: everybody looks again. */
  lookAgain(key: OriginKey): void;
  /** Is nobody parked, and nobody who was called still out to see? */
  isEmpty(key: OriginKey): boolean;
  /** How many wait here to be called. */
  count(key: OriginKey): number;
  /** True for the first that asks after a hold that ended at `until`: it goes at once, the others spread. */
  isFirstAfter(key: OriginKey, until: number): boolean;
}

export function createParking(): Parking {
  const lots = new Map<string, Lot>();
  const firsts = new Map<string, number>();
  const lotOf = (key: OriginKey): Lot => lots.get(idOf(key)) ?? { waiting: new Set(), out: new Set() };

  return {
    park(key) {
      const id = idOf(key);
      const lot = lotOf(key);
      lots.set(id, lot);
      let told: Called | undefined;
      let wake: (() => void) | undefined;
      const call = (called: Called): void => {
        // Who may go leaves the queue at once, so that the next success is somebody else's.
        if (called === 'go' && lot.waiting.delete(call)) lot.out.add(call);
        told = told === 'go' ? told : called;
        wake?.();
      };
      const leave = (): void => {
        lot.waiting.delete(call);
        lot.out.delete(call);
        if (lot.waiting.size === 0 && lot.out.size === 0) lots.delete(id);
      };
      lot.waiting.add(call);
      return {
        take() {
          const taken = told;
          told = undefined;
          return taken;
        },
        signal: () =>
          new Promise((resolve) => {
            wake = resolve;
            if (told) resolve();
          }),
        leave,
      };
    },
    release(key) {
      const [first] = lotOf(key).waiting;
      first?.('go');
    },
    lookAgain(key) {
      for (const call of [...lotOf(key).waiting]) call('look');
    },
    isEmpty: (key) => !lots.has(idOf(key)),
    count: (key) => lotOf(key).waiting.size,
    isFirstAfter(key, until) {
      const first = (firsts.get(idOf(key)) ?? 0) < until;
      if (first) setBounded(firsts, idOf(key), until);
      return first;
    },
  };
}

interface Lot {
  readonly waiting: Set<(called: Called) => void>;
  readonly out: Set<(called: Called) => void>;
}
