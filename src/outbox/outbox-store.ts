import { createDatabase } from '../engine/index.js';
import type { OutboxEntry } from '../policy/outbox-entry.js';
import { isOver, isPending } from '../policy/outbox-entry.js';
import { reviveEntry } from '../policy/revive-entry.js';
import { OUTBOX_DATABASE } from '../protocol/index.js';

/** An entry, and its place among the others. */
export interface Numbered {
  readonly seq: number;
  readonly entry: OutboxEntry;
}

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
  change(seq: number, change: (entry: OutboxEntry) => OutboxEntry | undefined): Promise<OutboxEntry | undefined>;
  owner(): Promise<string | undefined>;
  setOwner(owner: string | undefined): Promise<void>;
  destroy(): Promise<void>;
  revive(): void;
}

const ENTRIES = 'entries';
const BODIES = 'bodies';
const NOTES = 'notes';
const OWNER = 'owner';
/** Flushed to the disk before it counts: an entry that is lost in a power failure was promised. */
const STRICT = { durability: 'strict' } as const;
/** Results are shown for as long as an entry may take, but not more of them. */
const MAX_RESULTS = 100;

export function createOutboxStore(now: () => number): OutboxStore {
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

  return {
    destroy: database.destroy,
    revive: database.revive,
    add: (entry, body, refuses, isLate) =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        tx.done.catch(() => {});
        const entries = tx.objectStore(ENTRIES);
        const kept = (await entries.getAll()).map((stored) => reviveEntry(stored, now()));
        const refused = isLate()
          ? 'it took too long'
          : refuses(kept.filter((one) => one !== undefined && isPending(one)) as OutboxEntry[]);
        if (refused !== undefined) {
          tx.abort();
          throw new DOMException(refused, 'QuotaExceededError');
        }
        const seq = await entries.add(entry);
        await tx.objectStore(BODIES).put(body, seq);
        await tx.done;
        if (!isLate()) return;
        // Whoever asked was told that nothing was kept.
        const undo = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        await Promise.all([undo.objectStore(ENTRIES).delete(seq), undo.objectStore(BODIES).delete(seq), undo.done]);
      }),
    all: () =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite');
        const entries = tx.objectStore(ENTRIES);
        const [keys, values] = await Promise.all([entries.getAllKeys(), entries.getAll()]);
        const found: Numbered[] = [];
        for (const [index, key] of keys.entries()) {
          const entry = reviveEntry(values[index], now());
          // What another version has written, and we cannot read, is left to it.
          if (entry !== undefined) found.push({ seq: key as number, entry });
        }
        const over = new Set(found.filter(({ entry }) => isOver(entry, now())));
        const results = found.filter(({ entry }) => entry.state === 'sent');
        for (const one of results.slice(0, -MAX_RESULTS)) over.add(one);
        for (const { seq } of over) {
          void entries.delete(seq);
          void tx.objectStore(BODIES).delete(seq);
        }
        await tx.done;
        return found.filter((one) => !over.has(one));
      }),
    body: (seq) =>
      database.use(async (db) => {
        const body: unknown = await db.get(BODIES, seq);
        return body instanceof ArrayBuffer ? body : undefined;
      }),
    change: (seq, change) =>
      database.use(async (db) => {
        const tx = db.transaction([ENTRIES, BODIES], 'readwrite', STRICT);
        tx.done.catch(() => {});
        const entries = tx.objectStore(ENTRIES);
        const before = reviveEntry(await entries.get(seq), now());
        const after = before && change(before);
        if (after !== undefined && after !== before) await entries.put(after, seq);
        if (before !== undefined && after === undefined) await entries.delete(seq);
        // What its server has taken is not sent any more; what has failed may be.
        if (after === undefined || after.state === 'sent') await tx.objectStore(BODIES).delete(seq);
        await tx.done;
        return after;
      }),
    owner: () =>
      database.use(async (db) => {
        const owner: unknown = await db.get(NOTES, OWNER);
        return typeof owner === 'string' ? owner : undefined;
      }),
    setOwner: (owner) =>
      database.use(async (db) => {
        if (owner === undefined) await db.delete(NOTES, OWNER);
        else await db.put(NOTES, owner, OWNER);
      }),
  };
}
