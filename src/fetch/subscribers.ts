import type { EventOf, LayerEvent } from '../protocol/index.js';

/** Whoever wants to know what happens. */
export interface Subscribers {
  on<Type extends LayerEvent['type']>(type: Type, listener: (event: EventOf<Type>) => void): () => void;
  /** Tells everybody; what one of them throws is not the next one's trouble. */
  tell(event: LayerEvent): void;
}

export function createSubscribers(
  onEvent: ((event: LayerEvent) => void) | undefined,
  onProblem: (problem: unknown) => void,
): Subscribers {
  const byType = new Map<string, Set<(event: never) => void>>();
  return {
    on(type, listener) {
      const listeners = byType.get(type) ?? new Set();
      byType.set(type, listeners.add(listener));
      return () => listeners.delete(listener);
    },
    tell(event) {
      const listeners = [...(onEvent ? [onEvent] : []), ...(byType.get(event.type) ?? [])];
      for (const listener of listeners) {
        try {
          const done: unknown = listener(event as never);
          if (done instanceof Promise) done.catch(onProblem);
        } catch (problem) {
          onProblem(problem);
        }
      }
    },
  };
}
