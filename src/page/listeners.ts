import { EVENT_TYPES, type EventOf, type LayerEvent, parseWorkerMessage } from '../protocol/index.js';

export type Listener<Type extends LayerEvent['type']> = (event: EventOf<Type>) => void;

/** Hands the worker's events to whoever listens in this page. */
export interface Listeners {
  /** Returns a function that ends it. */
  on<Type extends LayerEvent['type']>(type: Type, listener: Listener<Type>): () => void;
  /** Takes a message from the worker; anything that is not an event of ours is ignored. */
  receive(data: unknown): void;
}

/** As many as the worker keeps for a page that is still loading. */
const REMEMBERED = 50;

export function createListeners(warn: (problem: string) => void): Listeners {
  const byType = new Map<string, Set<(event: never) => void>>();
  /** Events that came while the page was loading come again after its hello. */
  const seen = new Set<string>();

  return {
    on(type, listener) {
      if (!EVENT_TYPES.includes(type)) {
        warn(`there is no event '${type}'; there are ${EVENT_TYPES.join(', ')}`);
      }
      const listeners = byType.get(type) ?? new Set();
      byType.set(type, listeners.add(listener));
      return () => listeners.delete(listener);
    },
    receive(data) {
      const message = parseWorkerMessage(data);
      if (message === 'malformed') warn('the worker sent a message that this version does not understand');
      if (typeof message !== 'object' || message.kind !== 'event' || seen.has(message.seq)) return;
      seen.add(message.seq);
      if (seen.size > REMEMBERED) seen.delete([...seen][0] ?? '');
      for (const listener of byType.get(message.event.type) ?? []) {
        try {
          listener(message.event as never);
        } catch (error) {
          // One listener's fault is not the next one's; the page's own error handling still sees it.
          reportError(error);
        }
      }
    },
  };
}
