import { EVENT_TYPES, type EventOf, type LayerEvent, parseWorkerMessage } from '../protocol/index.js';

export type Listener<Type extends LayerEvent['type']> = (event: EventOf<Type>) => void;

/** Hands the worker's events to whoever listens in this page. */
export interface Listeners {
  /** Returns a function that ends it. */
  on<Type extends LayerEvent['type']>(type: Type, listener: Listener<Type>): () => void;
  /** Takes a message from the worker, and returns its event; anything that is not a new event of ours is ignored. */
  receive(data: unknown): LayerEvent | undefined;
  /** Hands on what has come so far, and from now on everything at once. */
  open(): void;
}

/** Far more than the worker sends again to a page that was still loading. */
const REMEMBERED = 1_000;

export function createListeners(warn: (problem: string) => void): Listeners {
  const byType = new Map<string, Set<(event: never) => void>>();
  /** Events that came while the page was loading come again after its hello. */
  const seen = new Set<string>();
  /** What came before anybody could listen. */
  let early: LayerEvent[] | undefined = [];

  const tell = (event: LayerEvent): void => {
    // A copy: a listener may add another.
    for (const listener of [...(byType.get(event.type) ?? [])]) {
      try {
        listener(event as never);
      } catch (error) {
        // One listener's fault is not the next one's; the page's own error handling still sees it.
        reportError(error);
      }
    }
  };

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
      if (typeof message !== 'object' || message.kind !== 'event' || seen.has(message.seq)) return undefined;
      seen.add(message.seq);
      if (seen.size > REMEMBERED) seen.delete([...seen][0] ?? '');
      if (early === undefined) tell(message.event);
      else early.push(message.event);
      return message.event;
    },
    open() {
      const waiting = early ?? [];
      early = undefined;
      for (const event of waiting) tell(event);
    },
  };
}
