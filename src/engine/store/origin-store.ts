import { DATABASE } from '../../protocol/version.js';
import { createDatabase } from './database.js';

/** Records per origin and group, under the key {@link OriginBook} gives them. */
export const ORIGINS = 'origins';

export const openOrigins = () =>
  createDatabase({
    name: DATABASE,
    version: 1,
    upgrade(db) {
      if (!db.objectStoreNames.contains(ORIGINS)) db.createObjectStore(ORIGINS);
    },
  });

/** Where records outlive the worker and are shared by all of them. Every call may fail; none is waited for by a request. */
export interface OriginStore {
  load(): Promise<readonly unknown[]>;
  /**
   * Puts each key's stored value through its transition, all in one transaction, so that workers which write at the
   * same time lose nothing. `undefined` deletes. Resolves to what is stored now.
   */
  update<T extends object>(
    transitions: ReadonlyMap<string, Transition<T>>,
  ): Promise<ReadonlyMap<string, T | undefined>>;
  /** Deletes the database: every later call fails, until it is revived. */
  destroy(): Promise<void>;
  revive(): void;
}

/** Synchronous: awaiting anything but IndexedDB would end the transaction. */
export type Transition<T extends object> = (stored: unknown) => T | undefined;

export function createOriginStore(database = openOrigins()): OriginStore {
  return {
    destroy: database.destroy,
    revive: database.revive,
    load: () => database.use((db) => db.getAll(ORIGINS)),
    update: <T extends object>(transitions: ReadonlyMap<string, Transition<T>>) =>
      database.use(async (db) => {
        const tx = db.transaction(ORIGINS, 'readwrite');
        const after = new Map<string, T | undefined>();
        const writes = [...transitions].map(async ([key, transition]) => {
          const record = transition(await tx.store.get(key));
          after.set(key, record);
          await (record === undefined ? tx.store.delete(key) : tx.store.put(record, key));
        });
        try {
          await Promise.all([...writes, tx.done]);
        } catch (error) {
          // All or nothing. It may have been aborted by what failed.
          if (tx.error === null) tx.abort();
          throw error;
        }
        return after;
      }),
  };
}
