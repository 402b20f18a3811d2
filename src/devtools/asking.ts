/** When the worker is asked what only it knows. Each question keeps it alive. */
export interface Asking {
  /** Asks after `ms`, or sooner if that was wanted already; not at all if nobody can see it by then. */
  within(ms: number): void;
  /** Asks at once, whoever sees it. */
  now(): Promise<void>;
  stop(): void;
}

/** No two questions that nobody clicked for are closer than that. */
const APART_MS = 250;

/** `ask` says in how long it is to be asked again. */
export function createAsking(ask: () => Promise<number | undefined>, isSeen: () => boolean): Asking {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let askedAt = 0;
  let asks = 0;

  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  async function now(): Promise<void> {
    clearTimeout(timer);
    askedAt = Date.now();
    asks += 1;
    const mine = asks;
    const againMs = await ask();
    // A click in the meantime has asked after this, and goes on from there.
    if (mine !== asks) return;
    timer = undefined;
    if (againMs !== undefined) within(againMs);
  }

  function within(ms: number): void {
    if (!isSeen()) return;
    timer ??= setTimeout(
      () => {
        if (isSeen()) void now();
        else timer = undefined;
      },
      Math.max(ms, askedAt + APART_MS - Date.now()),
    );
  }

  return { within, now, stop };
}
