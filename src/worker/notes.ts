import type { OriginStore, Ports } from '../engine/index.js';

/** Single values that are kept beside the records; they come with them, in the one load at the worker's start. */
export interface Notes {
  /** The store for the records. */
  readonly store: OriginStore;
  /** Resolves once the notes are here, or cannot be had in time. */
  loaded(): Promise<void>;
  /** Have they been loaded, or been found not to be had in time? */
  isLoaded(): boolean;
  get(key: string): unknown;
  /**
   * Known at once. Resolves once it is kept, or cannot be in time: then it lasts as long as the worker. `undefined` deletes.
   */
  set(key: string, value: string | readonly string[] | true | undefined): Promise<void>;
}

interface Note {
  readonly note: string;
  readonly value: unknown;
}

/** How long anybody waits for them: a worker that cannot read its store goes on without. */
const LOAD_MS = 500;
/** How long anybody waits for one to be kept, by a store that can be read; with the above less than a page waits for its welcome. */
const KEEP_MS = 400;

export function createNotes(store: OriginStore, sleep: Ports['sleep']): Notes {
  const values = new Map<string, unknown>();
  /** What this run of the worker has said is newer than what is loaded. */
  const said = new Set<string>();
  let done: () => void = () => {};
  const limit = sleep(LOAD_MS);
  let isLoaded = false;
  let isRead = false;
  const loaded = new Promise<void>((resolve) => {
    done = resolve;
    void limit.done.then(resolve);
  });
  void loaded.then(() => {
    isLoaded = true;
  });
  return {
    store: {
      ...store,
      async load() {
        try {
          const all = await store.load();
          isRead = true;
          for (const { note, value } of all.filter(isNote)) if (!said.has(note)) values.set(note, value);
          return all;
        } finally {
          limit.cancel();
          done();
        }
      },
    },
    loaded: () => loaded,
    isLoaded: () => isLoaded,
    get: (key) => values.get(key),
    async set(key, value) {
      said.add(key);
      values.set(key, value);
      const next = (): Note | undefined => (value === undefined ? undefined : { note: key, value });
      const kept = store.update(new Map([[`note ${key}`, next]])).catch(() => {});
      const limit = sleep(isRead ? KEEP_MS : 0);
      await Promise.race([kept, limit.done]);
      limit.cancel();
    },
  };
}

const isNote = (value: unknown): value is Note => typeof (Object(value) as Partial<Note>).note === 'string';
