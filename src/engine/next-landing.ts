import type { Landing } from './attempt.js';
import type { Flights } from './flights.js';
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
  // Almost nobody has a signal: only a fetch from inside the worker.
  const over = signal && new AbortController();
  const others = [timer?.done, called, signal && over && aborted(signal, over.signal)];
  try {
    return await Promise.race([...inFlight.values(), ...others.flatMap((other) => other?.then(() => undefined) ?? [])]);
  } finally {
    timer?.cancel();
    over?.abort();
  }
}

const aborted = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
