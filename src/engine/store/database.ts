import { deleteDB, type IDBPDatabase, openDB } from 'idb';
/** One connection, opened when it is first needed and again after the browser or another version closed it. */
export interface Database {
  use<T>(work: (db: IDBPDatabase) => Promise<T>): Promise<T>;
  /**
   * Deletes it, unless `isNeeded` by others, and does not open it again before it is revived. Other connections are closed by
   * their `versionchange`.
   */
  destroy(isNeeded?: (db: IDBPDatabase) => Promise<boolean>): Promise<void>;
  revive(): void;
}

/** What a database is called and holds. */
export interface Schema {
  readonly name: string;
  readonly version: number;
  /** Makes the stores that are missing. */
  upgrade(db: IDBPDatabase): void;
}

export function createDatabase({ name, version, upgrade }: Schema): Database {
  // One promise for all: parallel opens would each be a connection that can block the others.
  let opening: Promise<IDBPDatabase> | undefined;
  let destroyed = false;
  const open = (): Promise<IDBPDatabase> => {
    if (destroyed) return Promise.reject(new DOMException('the database was deleted', 'InvalidStateError'));
    if (opening) return opening;
    const connection = openDB(name, version, {
      upgrade(db, _before, _after, transaction) {
        // The open fails with it; nobody else is to be told.
        transaction.done.catch(() => {});
        upgrade(db);
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
    opening = connection;
    // What could not be had once may be had the next time.
    connection.catch(() => {
      if (opening === connection) opening = undefined;
    });
    return connection;
  };
  return {
    revive() {
      destroyed = false;
    },
    async destroy(isNeeded = async () => false) {
      const connection = open();
      destroyed = true;
      opening = undefined;
      const needed = await connection.then(isNeeded).catch(() => false);
      await connection.then((db) => db.close()).catch(() => {});
      if (!needed) await deleteDB(name);
    },
    async use(work) {
      const connection = open();
      const db = await connection;
      try {
        return await work(db);
      } catch (error) {
        // The connection was closed under our hands: what we wanted to do can be done on a new one.
        if (opening === connection) throw error;
        return work(await open());
      }
    },
  };
}
