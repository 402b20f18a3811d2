import { MAX_KEPT_ALIVE_MS, MAX_TOTAL_MS } from '../policy/policy.js';

/** Knows which pages keep the worker alive by their heartbeat: Firefox stops one 60 s after its last event. */
export interface Pulse {
  beat(clientId: string): void;
  /** How long a request of this page may take in all, `elapsedMs` after it began. */
  ceilingMs(clientId: string, elapsedMs: number): number;
}

/** Two beats may be missed. A page that has just been told that it waits has this long for its first. */
const ALIVE_MS = 25_000;

export function createPulse(now: () => number): Pulse {
  const beats = new Map<string, number>();
  return {
    beat(clientId) {
      const at = now();
      for (const [id, beaten] of beats) if (at - beaten > ALIVE_MS) beats.delete(id);
      beats.set(clientId, at);
    },
    ceilingMs(clientId, elapsedMs) {
      const beaten = beats.get(clientId);
      const alive = elapsedMs < ALIVE_MS || (beaten !== undefined && now() - beaten <= ALIVE_MS);
      return alive && clientId !== '' ? MAX_KEPT_ALIVE_MS : MAX_TOTAL_MS;
    },
  };
}
