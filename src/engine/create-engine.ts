import type { Guards } from '../policy/origin-record.js';
import type { Engine } from './call.js';
import { createDevice } from './device.js';
import { createHedging } from './hedging.js';
import type { GuardListener, OriginBook, OriginKey } from './origin-book.js';
import { createParking } from './parking.js';
import type { Ports } from './ports.js';
import { createRaces } from './races.js';
import { createWaker } from './waker.js';

export interface EngineParts {
  readonly ports: Ports;
  readonly guards: Guards;
  /** Makes the book, which tells its listener whenever a hold or a circuit has changed. */
  readonly createBook: (onGuard: GuardListener) => OriginBook;
  /** Told the same. */
  readonly onGuard?: GuardListener;
  /** Told that requests of this origin and group that wait elsewhere may go, one of them. */
  readonly onSuccess?: (key: OriginKey) => void;
}

/** Each time one request finds out, and what it finds makes the circuit stay open longer: more often is of no use. */
const TRY_AGAIN_MS = 10_000;

/** Puts an engine together: one for each worker, page or process, which all of its requests share. */
export function createEngine({ ports, guards, createBook, onGuard, onSuccess = () => {} }: EngineParts): Engine {
  const parking = createParking();
  const waker = createWaker(ports.now);
  let triedAt = 0;
  const book = createBook((change) => {
    parking.lookAgain(change.after);
    onGuard?.(change);
  });
  return {
    ports,
    book,
    guards,
    parking,
    device: createDevice(ports.isOnline, (origin, since) => book.forgive(origin, since)),
    races: createRaces(),
    hedging: createHedging(),
    waker,
    retryNow(origin) {
      const at = ports.now();
      if (Math.abs(at - triedAt) >= TRY_AGAIN_MS) {
        triedAt = at;
        book.backOnline(origin);
      }
      waker.wake(origin);
    },
    ledger: { keptBytes: 0 },
    onSuccess,
  };
}
