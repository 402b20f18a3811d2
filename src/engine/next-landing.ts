import type { Landing } from './attempt.js';
import type { Flights } from './flights.js';
import { onAbort } from './on-abort.js';
import type { Ports } from './ports.js';

/** What may come before an attempt lands. */
interface Interruptions {
  /** In so many milliseconds something is to be done; absent: never. */
  readonly afterMs: number | undefined;
  /** A parked request is called. */
  readonly called: Promise<void> | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The next attempt that lands; `undefined` if something else is to be looked at before. Leaves nothing behind. */
export async function nextLanding(
  { inFlight }: Flights,
  { afterMs, called, signal }: Interruptions,
  ports: Ports,
): Promise<Landing | undefined> {
  if (afterMs === undefined && called === undefined && signal === undefined) return Promise.race(inFlight.values());
  const timer = afterMs === undefined ? undefined : ports.sleep(Math.max(0, afterMs));
  let unlink = () => {};
  // Almost nobody has a signal: only a fetch that is made where it is retried. Its listener is taken off by itself: told to
  // go by another signal, it would keep the landing for as long as Node keeps this one.
  const aborted =
    signal &&
    new Promise<void>((resolve) => {
      unlink = onAbort(signal, () => resolve());
    });
  const others = [timer?.done, called, aborted];
  try {
    return await Promise.race([...inFlight.values(), ...others.flatMap((other) => other?.then(() => undefined) ?? [])]);
  } finally {
    timer?.cancel();
    unlink();
  }
}
