import type { OriginStore, Transition } from '../../src/engine/store/origin-store.ts';

/** A store in memory; every operation is atomic, as a transaction is, and can be made to wait or to fail. */
export interface MemoryStore extends OriginStore {
  readonly stored: Map<string, unknown>;
  /** Calls of `load` and `update` so far. */
  readonly loads: () => number;
  readonly updates: () => number;
}

export function createMemoryStore(
  /** Awaited before anything is read or written; throw in it to make the operation fail. */
  before: (operation: 'load' | 'update') => Promise<void> | void = () => {},
  stored = new Map<string, unknown>(),
): MemoryStore {
  let loads = 0;
  let updates = 0;
  return {
    stored,
    loads: () => loads,
    updates: () => updates,
    destroy: async () => stored.clear(),
    revive: () => {},
    async load() {
      loads += 1;
      await before('load');
      return [...stored.values()].map((value) => structuredClone(value));
    },
    async update<T extends object>(transitions: ReadonlyMap<string, Transition<T>>) {
      updates += 1;
      await before('update');
      const after = new Map<string, T | undefined>();
      for (const [key, transition] of transitions) {
        const record = transition(structuredClone(stored.get(key)));
        if (record === undefined) stored.delete(key);
        else stored.set(key, structuredClone(record));
        after.set(key, record);
      }
      return after;
    },
  };
}
