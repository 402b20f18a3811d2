/** How many attempts per origin may be overtaken at a time: HTTP/1.1 has six connections, and six stalled attempts starve every retry. */
const MAX_OVERTAKEN = 2;

/** Counts the attempts per origin that were overtaken by a later one and have no answer yet. */
export interface Races {
  /** Takes a place if there is one; the returned function gives it back. */
  enter(origin: string): (() => void) | undefined;
}

export function createRaces(): Races {
  const running = new Map<string, number>();
  return {
    enter(origin) {
      const now = running.get(origin) ?? 0;
      if (now >= MAX_OVERTAKEN) return undefined;
      running.set(origin, now + 1);
      return () => {
        const left = (running.get(origin) ?? 1) - 1;
        if (left > 0) running.set(origin, left);
        else running.delete(origin);
      };
    },
  };
}
