import type { LayerEvent } from '../protocol/index.js';

/** Firefox stops a worker a minute after its last event, whoever waits for it. */
const BEAT_MS = 10_000;
/** Nothing that is heard of no more is waited for longer than a worker may live. */
const MOST_MS = 300_000;

/** Keeps the worker alive as long as a request of this page waits in it, and no longer. */
export interface Heartbeat {
  hear(event: LayerEvent): void;
  stop(): void;
}

export function createHeartbeat(beat: () => void, now: () => number = () => Date.now()): Heartbeat {
  const waiting = new Map<string, number>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = (): void => {
    for (const [id, heardAt] of waiting) if (now() - heardAt > MOST_MS) waiting.delete(id);
    if (waiting.size > 0) beat();
    else stop();
  };
  return {
    hear(event) {
      if (!('elapsedMs' in event)) return;
      if (event.type === 'recovered' || event.type === 'resumed' || event.type === 'gave-up') {
        waiting.delete(event.id);
        if (waiting.size === 0) stop();
        return;
      }
      waiting.set(event.id, now());
      if (timer !== undefined) return;
      beat();
      timer = setInterval(tick, BEAT_MS);
    },
    stop,
  };
}
