import { type IDBPDatabase, openDB } from 'idb';

const NAME = 'steadfetch';
const VERSION = 1;
/** Records per origin and group, under the key {@link OriginBook} gives them. */
export const ORIGINS = 'origins';

/** One connection, opened when it is first needed and again after the browser or another version closed it. */
export interface Database {
  use<T>(work: (db: IDBPDatabase) => Promise<T>): Promise<T>;
}

export function createDatabase(): Database {
  // One promise for all: parallel opens would each be a connection that can block the others.
  let opening: Promise<IDBPDatabase> | undefined;
  const open = (): Promise<IDBPDatabase> => {
    opening ??= openDB(NAME, VERSION, {
      upgrade(db) {
        if (!db.objectStoreNames.contains(ORIGINS)) db.createObjectStore(ORIGINS);
      },
      // Whoever deletes or upgrades the database must not wait for us.
      blocking(_current, _blocked, event) {
        opening = undefined;
        (event.target as IDBDatabase).close();
      },
      terminated() {
        opening = undefined;
      },
    });
    return opening;
  };
  return {
    async use(work) {
      const connection = open();
      try {
        return await work(await connection);
      } catch (error) {
        // The connection was closed under our hands: what we wanted to do can be done on a new one.
        if (opening === connection) throw error;
        return work(await open());
      }
    },
  };
}
