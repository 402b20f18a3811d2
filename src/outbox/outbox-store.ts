import { createDatabase } from '../engine/index.js';
import { OUTBOX_DEFAULTS } from '../policy/outbox.js';
import type { OutboxEntry } from '../policy/outbox-entry.js';
import { isOver, isPending } from '../policy/outbox-entry.js';
import { reviveEntry } from '../policy/revive-entry.js';
import { OUTBOX_DATABASE } from '../protocol/index.js';

/** An entry, and its place among the others. */
export interface Numbered {
  readonly seq: number;
  readonly entry: OutboxEntry;
}

/** What becomes of an entry; `owner` is whoever is there at that very time, whichever worker was told so. */
export type Change = (entry: OutboxEntry, owner: string | undefined) => OutboxEntry | undefined;

/**
 * Where entries and their bodies outlive the worker. Every change is one transaction, which is on disk before it counts.
 * Every call may fail.
 */
export interface OutboxStore {
  /**
   * Keeps an entry, unless `refuses` those that are there. Rejects with what that says, or with the database's own error;
   * then nothing is kept, also if the database comes round later: `isLate` is asked.
   */
  add(
    entry: OutboxEntry,
    body: ArrayBuffer,
    refuses: (pending: readonly OutboxEntry[]) => string | undefined,
    isLate: () => boolean,
  ): Promise<void>;
  /** All of them, in the order in which they came. */
  all(): Promise<Numbered[]>;
  /** `undefined` if it is gone. */
  body(seq: number): Promise<ArrayBuffer | undefined>;
  /** Puts one through a change; `undefined` deletes it. Resolves to what is kept now, `undefined` also if it is gone. */
  change(seq: number, change: Change): Promise<OutboxEntry | undefined>;
  owner(): Promise<string | undefined>;
  setOwner(owner: string | undefined): Promise<void>;
  /** Deletes what this worker has promised; of other scopes' entries nothing is lost. */
  destroy(): Promise<void>;
  revive(): void;
}

const ENTRIES = 'entries';
const BODIES = 'bodies';
const NOTES = 'notes';
const OWNER = 'owner';
/** Flushed to the disk before it counts: an entry that is lost in a power failure was promised. */
const STRICT = { durability: 'strict' } as const;
/** Results are shown for as long as an entry may take, but of either kind not more of them. */
const MAX_RESULTS = 100;
/** The bodies of those that have failed, the newest first. */
const MAX_FAILED_BYTES = OUTBOX_DEFAULTS.maxBytes;

/** All workers of an origin have one: they share the owner. `scope` is this one's. */
export function createOutboxStore(now: () => number, scope?: string): OutboxStore {
  const database = createDatabase({
    name: OUTBOX_DATABASE,
    version: 1,
    upgrade(db) {
      for (const name of [ENTRIES, BODIES]) {
        if (!db.objectStoreNames.contains(name)) db.createObjectStore(name, { autoIncrement: name === ENTRIES });
      }
      if (!db.objectStoreNames.contains(NOTES)) db.createObjectStore(NOTES);
    },
  });

  const read = (stored: unknown): OutboxEntry | undefined => {
    const entry = reviveEntry(stored, now());
    return entry && URL.canParse(entry.request.url) ? entry : undefined;
  };

  return {
    destroy: () =>
      database.destroy(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        const entries = tx.objectStore(ENTRIES);
        const [keys, values] = await Promise.all([entries.getAllKeys(), entries.getAll()]);
        const own = keys.filter((_, index) => (Object(values[index]) as Partial<OutboxEntry>).scope === scope);
        await Promise.all(own.flatMap((seq) => [entries.delete(seq), tx.objectStore(BODIES).delete(seq)]));
        await tx.done;
        return own.length < keys.length;
      }),
    revive: database.revive,
    add: (entry, body, refuses, isLate) =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        tx.done.catch(() => {});
        const entries = tx.objectStore(ENTRIES);
        const kept = (await entries.getAll()).flatMap((stored) => read(stored) ?? []);
        const refused = isLate() ? 'it took too long' : refuses(kept.filter(isPending));
        if (refused !== undefined) {
          tx.abort();
          throw new DOMException(refused, 'QuotaExceededError');
        }
        const seq = await entries.add(scope === undefined ? entry : { ...entry, scope });
        await tx.objectStore(BODIES).put(body, seq);
        await tx.done;
        if (!isLate()) return;
        // Whoever asked was told that nothing was kept.
        const undo = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        await Promise.all([undo.objectStore(ENTRIES).delete(seq), undo.objectStore(BODIES).delete(seq), undo.done]);
        throw new DOMException('it took too long', 'TimeoutError');
      }),
    all: () =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite');
        const entries = tx.objectStore(ENTRIES);
        const work = async (): Promise<Numbered[]> => {
          const [keys, values] = await Promise.all([entries.getAllKeys(), entries.getAll()]);
          // What another version has written, and we cannot read, is left to it.
          const found = keys.flatMap((key, index) => {
            const entry = read(values[index]);
            return entry ? [{ seq: key as number, entry }] : [];
          });
          const over = new Set(found.filter(({ entry }) => isOver(entry, now())));
          for (const state of ['sent', 'failed']) {
            for (const one of found.filter(({ entry }) => entry.state === state).slice(0, -MAX_RESULTS)) over.add(one);
          }
          let failedBytes = 0;
          for (const one of found.filter(({ entry }) => entry.state === 'failed').reverse()) {
            failedBytes += one.entry.bytes;
            if (failedBytes > MAX_FAILED_BYTES) over.add(one);
          }
          await Promise.all([...over].flatMap(({ seq }) => [entries.delete(seq), tx.objectStore(BODIES).delete(seq)]));
          return found.filter((one) => !over.has(one));
        };
        const [left] = await Promise.all([work(), tx.done]);
        return left;
      }),
    body: (seq) =>
      database.use(async (db) => {
        const body: unknown = await db.get(BODIES, seq);
        return body instanceof ArrayBuffer ? body : undefined;
      }),
    change: (seq, change) =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES, NOTES], 'readwrite', STRICT);
        tx.done.catch(() => {});
        const entries = tx.objectStore(ENTRIES);
        const [stored, owner] = await Promise.all([entries.get(seq), tx.objectStore(NOTES).get(OWNER)]);
        const before = read(stored);
        if (before === undefined) return undefined;
        const after = change(before, toOwner(owner));
        if (after === undefined) await entries.delete(seq);
        else if (after !== before) await entries.put(after, seq);
        // What its server has taken is not sent any more; what has failed may be.
        if (after === undefined || after.state === 'sent') await tx.objectStore(BODIES).delete(seq);
        await tx.done;
        return after;
      }),
    owner: () => database.use(async (db) => toOwner(await db.get(NOTES, OWNER))),
    setOwner: (owner) =>
      database.use(async (db) => {
        if (owner === undefined) await db.delete(NOTES, OWNER);
        else await db.put(NOTES, owner, OWNER);
      }),
  };
}

const toOwner = (stored: unknown): string | undefined => (typeof stored === 'string' ? stored : undefined);
