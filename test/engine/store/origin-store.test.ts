import 'fake-indexeddb/auto';
import { forceCloseDatabase, IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOriginStore, ORIGINS, openOrigins } from '../../../src/engine/store/origin-store.ts';
import type { OriginRecord } from '../../../src/policy/origin-record.ts';
import { recordOf } from '../../support/records.ts';
import { expectNothingUnhandled } from '../../support/unhandled.ts';

expectNothingUnhandled();

const record = (tokens: number): OriginRecord => recordOf(tokens, 0, { origin: 'https://app.test', group: 'data' });
const spend = (stored: unknown): OriginRecord =>
  record(((stored as OriginRecord | undefined)?.budget.tokens ?? 100) - 1);
const tokensOf = (value: unknown) => (value as OriginRecord | undefined)?.budget.tokens;

/** Every connection that was opened. */
let connections: IDBDatabase[];
let opens: number;

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  connections = [];
  opens = 0;
  const open = indexedDB.open.bind(indexedDB);
  vi.spyOn(indexedDB, 'open').mockImplementation((name, version) => {
    opens += 1;
    const request = open(name, version);
    request.addEventListener('success', () => connections.push(request.result));
    return request;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const deleteDatabase = () =>
  new Promise<'deleted' | 'blocked'>((resolve, reject) => {
    const request = indexedDB.deleteDatabase('steadfetch');
    request.onsuccess = () => resolve('deleted');
    request.onblocked = () => resolve('blocked');
    request.onerror = () => reject(request.error);
  });

const FAILING: { name: string; open: () => IDBOpenDBRequest }[] = [
  {
    name: 'throws',
    open: () => {
      throw new DOMException('forbidden', 'SecurityError');
    },
  },
  {
    name: 'rejects',
    open: () => {
      // A version that cannot be had.
      const request = new IDBFactory().open('steadfetch', 5);
      request.onupgradeneeded = () => request.transaction?.abort();
      return request;
    },
  },
];

describe('the store of origins', () => {
  test('nothing is stored at first, and nothing is opened before it is needed', async () => {
    const store = createOriginStore();
    expect(opens).toBe(0);
    expect(await store.load()).toEqual([]);
    expect(opens).toBe(1);
  });

  test('a transition sees what is stored, and what it returns is stored and told', async () => {
    const store = createOriginStore();
    const seen: unknown[] = [];
    const once = (tokens: number) =>
      store.update(
        new Map([
          [
            'a',
            (stored) => {
              seen.push(stored);
              return record(tokens);
            },
          ],
        ]),
      );
    expect(await once(5)).toEqual(new Map([['a', record(5)]]));
    expect(await once(4)).toEqual(new Map([['a', record(4)]]));
    expect(seen).toEqual([undefined, record(5)]);
    expect(await store.load()).toEqual([record(4)]);
    expect(await createOriginStore().load()).toEqual([record(4)]);
  });

  test('`undefined` deletes, also what is not there', async () => {
    const store = createOriginStore();
    await store.update(new Map([['a', () => record(1)]]));
    const after = await store.update(
      new Map([
        ['a', () => undefined],
        ['b', () => undefined],
      ]),
    );
    expect(after).toEqual(
      new Map([
        ['a', undefined],
        ['b', undefined],
      ]),
    );
    expect(await store.load()).toEqual([]);
  });

  test('no transitions are no trouble', async () => {
    const store = createOriginStore();
    expect(await store.update(new Map())).toEqual(new Map());
  });

  test('many keys are one transaction', async () => {
    const store = createOriginStore();
    await store.load();
    const transaction = vi.spyOn(Object.getPrototypeOf(connections[0]), 'transaction');
    await store.update(new Map(Array.from({ length: 20 }, (_, key) => [`key ${key}`, () => record(key)])));
    expect(transaction).toHaveBeenCalledTimes(1);
    expect(await store.load()).toHaveLength(20);
  });

  test('B083 updates that run at the same time lose nothing', async () => {
    const [one, other] = [createOriginStore(), createOriginStore()];
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : other).update(new Map([['a', spend]]))),
    );
    expect(tokensOf((await one.load())[0])).toBe(50);
    expect(opens).toBe(2);
  });

  test('a transition that throws fails the update, and nothing of it is stored', async () => {
    const store = createOriginStore();
    await store.update(new Map([['a', () => record(9)]]));
    const update = store.update(
      new Map([
        ['a', () => record(1)],
        [
          'b',
          () => {
            throw new Error('broken');
          },
        ],
      ]),
    );
    await expect(update).rejects.toThrow('broken');
    expect(await store.load()).toEqual([record(9)]);
  });

  test('B112 a full disk fails the update; later ones work', async () => {
    const store = createOriginStore();
    await store.load();
    const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(function (this: IDBObjectStore) {
      this.transaction.abort();
      throw new DOMException('full', 'QuotaExceededError');
    });
    await expect(store.update(new Map([['a', spend]]))).rejects.toThrow();
    put.mockRestore();
    await store.update(new Map([['a', spend]]));
    expect(tokensOf((await store.load())[0])).toBe(99);
  });
});

describe('the connection', () => {
  test('B109 is opened once, however many want it first', async () => {
    const database = openOrigins();
    const counts = await Promise.all(Array.from({ length: 20 }, () => database.use((db) => db.count(ORIGINS))));
    expect(counts).toEqual(Array.from({ length: 20 }, () => 0));
    expect(opens).toBe(1);
  });

  test('B107 lets the database be deleted, and is opened again', async () => {
    const store = createOriginStore();
    await store.update(new Map([['a', spend]]));
    expect(await deleteDatabase()).toBe('deleted');
    expect(await store.load()).toEqual([]);
    await store.update(new Map([['a', spend]]));
    expect(tokensOf((await store.load())[0])).toBe(99);
    expect(opens).toBe(2);
  });

  test('lets a newer version have the database, and fails from then on', async () => {
    const store = createOriginStore();
    await store.load();
    const upgraded = new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('steadfetch', 2);
      request.onsuccess = () => resolve(request.result);
      request.onblocked = () => reject(new Error('blocked'));
      request.onerror = () => reject(request.error);
    });
    const newer = await upgraded;
    await expect(store.load()).rejects.toMatchObject({ name: 'VersionError' });
    newer.close();
  });

  test('B107 that the browser closed is opened again', async () => {
    const store = createOriginStore();
    await store.update(new Map([['a', spend]]));
    forceCloseDatabase(connections[0] as never);
    await store.update(new Map([['a', spend]]));
    expect(tokensOf((await store.load())[0])).toBe(98);
    expect(opens).toBe(2);
  });

  test('that is closed under a running operation: the operation is repeated once on a new one', async () => {
    const database = openOrigins();
    let runs = 0;
    const count = await database.use(async (db) => {
      runs += 1;
      if (runs === 1) {
        forceCloseDatabase(db as never);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return db.count(ORIGINS);
    });
    expect([count, runs]).toEqual([0, 2]);
  });

  test('an operation that fails by itself is not repeated', async () => {
    const database = openOrigins();
    let runs = 0;
    const work = database.use(() => {
      runs += 1;
      return Promise.reject(new Error('mine'));
    });
    await expect(work).rejects.toThrow('mine');
    expect(runs).toBe(1);
  });

  test.each(FAILING)(
    'B110 a database that $name fails every operation and leaves nothing unhandled',
    async ({ open }) => {
      vi.mocked(indexedDB.open).mockImplementation(open);
      const store = createOriginStore();
      await expect(store.load()).rejects.toThrow();
      await expect(store.update(new Map([['a', spend]]))).rejects.toThrow();
    },
  );

  test('a browser without IndexedDB fails every operation', async () => {
    vi.stubGlobal('indexedDB', undefined);
    await expect(createOriginStore().load()).rejects.toThrow();
  });

  test.each(FAILING)('that could not be had once ($name) may be had the next time', async ({ open }) => {
    vi.mocked(indexedDB.open).mockImplementationOnce(open);
    const store = createOriginStore();
    await expect(store.load()).rejects.toThrow();
    expect(await store.load()).toEqual([]);
  });
});
