import type { Numbered, OutboxStore } from '../../src/outbox/outbox-store.ts';
import { isPending, type OutboxEntry } from '../../src/policy/outbox-entry.ts';

type Operation = 'add' | 'all' | 'body' | 'change' | 'owner' | 'setOwner';

/** An outbox's store in memory; every operation is atomic, as a transaction is, and can be made to wait or to fail. */
export interface MemoryOutbox extends OutboxStore {
  readonly rows: Map<number, { entry: OutboxEntry; body: ArrayBuffer | undefined }>;
  /** In the order in which they came. */
  entries(): OutboxEntry[];
  /** Puts one in as if it had been there before. */
  put(entry: OutboxEntry, body?: string): number;
}

export function createMemoryOutbox(
  /** Awaited before anything is read or written; throw in it to make the operation fail. */
  before: (operation: Operation) => Promise<void> | void = () => {},
): MemoryOutbox {
  const rows: MemoryOutbox['rows'] = new Map();
  let last = 0;
  let owner: string | undefined;
  const insert = (entry: OutboxEntry, body: ArrayBuffer): number => {
    last += 1;
    rows.set(last, { entry: structuredClone(entry), body: structuredClone(body) });
    return last;
  };
  return {
    rows,
    entries: () => [...rows.values()].map(({ entry }) => entry),
    put(entry, body = 'abc') {
      const bytes = new TextEncoder().encode(body);
      return insert({ ...entry, bytes: bytes.byteLength }, bytes.buffer);
    },
    async add(entry, body, refuses, isLate) {
      await before('add');
      const refused = isLate()
        ? 'it took too long'
        : refuses([...rows.values()].map((row) => row.entry).filter(isPending));
      if (refused !== undefined) throw new DOMException(refused, 'QuotaExceededError');
      insert(entry, body);
    },
    async all() {
      await before('all');
      return [...rows].map(([seq, { entry }]): Numbered => ({ seq, entry: structuredClone(entry) }));
    },
    async body(seq) {
      await before('body');
      return structuredClone(rows.get(seq)?.body);
    },
    async change(seq, change) {
      await before('change');
      const row = rows.get(seq);
      if (row === undefined) return undefined;
      const after = change(structuredClone(row.entry), owner);
      if (after === undefined) rows.delete(seq);
      else rows.set(seq, { entry: structuredClone(after), body: after.state === 'sent' ? undefined : row.body });
      return after;
    },
    async owner() {
      await before('owner');
      return owner;
    },
    async setOwner(next) {
      await before('setOwner');
      owner = next;
    },
    async destroy() {
      rows.clear();
      owner = undefined;
    },
    revive: () => {},
  };
}
