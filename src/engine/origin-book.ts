import { affords, type BudgetPolicy, refill } from '../policy/budget.js';
import {
  advance,
  initialRecord,
  isInitial,
  type OriginEvent,
  type OriginRecord,
  reviveRecord,
} from '../policy/origin-record.js';
import type { OriginStatus } from '../protocol/index.js';
import type { Ports, Sleep } from './ports.js';
import type { OriginStore, Transition } from './store/origin-store.js';

/** An origin and a group: what shares one record. */
export interface OriginKey {
  readonly origin: string;
  readonly group: string;
}

/**
 * The state of every origin and group, in memory and written behind to the store. No request waits for the store
 * longer than {@link LOAD_MS}, and none fails because of it.
 */
export interface OriginBook {
  /** Resolves once the stored records are here, or will not come in time. */
  ready(): Promise<void>;
  affords(key: OriginKey, cost: number): boolean;
  record(key: OriginKey, event: OriginEvent): void;
  /** True the first time that a budget is found empty since it last was not. */
  noticesExhaustion(key: OriginKey): boolean;
  /** Resolves once everything recorded so far is stored, or cannot be. */
  written(): Promise<void>;
  status(): { readonly storage: 'indexeddb' | 'memory'; readonly origins: readonly OriginStatus[] };
}

const MAX_RECORDS = 200;
const LOAD_MS = 20;
const WRITE_AFTER_MS = 500;
/** What only makes the budget richer may wait; it is written with the next retry if one comes first. */
const CREDIT_AFTER_MS = 10_000;
/** Each store operation gets this long before the book goes on without it. */
const STORE_MS = 2_000;

export function createOriginBook(
  store: OriginStore,
  ports: Ports,
  budget: BudgetPolicy,
  onProblem: (problem: unknown) => void,
): OriginBook {
  const records = new Map<string, OriginRecord>();
  /** What happened since the last write, to be applied again to what is stored by then. */
  const unwritten = new Map<string, { readonly key: OriginKey; readonly events: OriginEvent[] }>();
  /** Records that made room for others, to be deleted from the store as well. */
  const forgotten = new Set<string>();
  const exhausted = new Set<string>();
  let storage: 'indexeddb' | 'memory' = 'indexeddb';
  let planned: { readonly at: number; readonly timer: Sleep } | undefined;
  const awaiting: (() => void)[] = [];

  const carryOnInMemory = (problem: unknown): void => {
    storage = 'memory';
    unwritten.clear();
    forgotten.clear();
    onProblem(problem);
  };

  const fresh = ({ origin, group }: OriginKey, at: number): OriginRecord => initialRecord(origin, group, at, budget);

  /** Takes what is stored for the truth, and what happened since on top of it. */
  const adopt = (id: string, stored: OriginRecord | undefined): void => {
    const since = unwritten.get(id);
    const record = since?.events.reduce(apply, stored ?? fresh(since.key, ports.now())) ?? stored;
    if (record === undefined) records.delete(id);
    else put(id, record);
  };

  /** A map keeps the order in which its keys came: the first is the one that was used least recently. */
  const put = (id: string, record: OriginRecord): void => {
    records.delete(id);
    records.set(id, record);
    forgotten.delete(id);
    const [oldest] = records.keys();
    if (records.size <= MAX_RECORDS || oldest === undefined) return;
    records.delete(oldest);
    unwritten.delete(oldest);
    forgotten.add(oldest);
  };

  const apply = (record: OriginRecord, event: OriginEvent): OriginRecord =>
    // Another worker may have written later than this happened; time that it has counted is not counted again.
    advance(record, { ...event, at: Math.max(event.at, record.budget.at) }, budget);

  const load = async (): Promise<void> => {
    try {
      for (const value of await within(store.load(), STORE_MS, ports)) {
        const record = reviveRecord(value, ports.now(), budget);
        if (record) adopt(idOf(record), record);
      }
    } catch (problem) {
      carryOnInMemory(problem);
    }
  };

  const flush = async (): Promise<void> => {
    if (storage === 'memory') return;
    const transitions = new Map<string, Transition>();
    for (const id of forgotten) transitions.set(id, () => undefined);
    forgotten.clear();
    for (const [id, { key, events }] of unwritten) {
      transitions.set(id, (stored) => {
        const now = ports.now();
        const before = reviveRecord(stored, now, budget) ?? fresh(key, events[0]?.at ?? now);
        const after = events.reduce(apply, before);
        return isInitial(after, now, budget) ? undefined : after;
      });
    }
    unwritten.clear();
    try {
      for (const [id, record] of await within(store.update(transitions), STORE_MS, ports)) adopt(id, record);
    } catch (problem) {
      carryOnInMemory(problem);
    }
  };

  const flushAfter = (ms: number): void => {
    const at = ports.now() + ms;
    if (planned !== undefined && planned.at <= at) return;
    planned?.timer.cancel();
    const timer = ports.sleep(ms);
    planned = { at, timer };
    void timer.done.then(() => {
      planned = undefined;
      // One after the other: what an earlier write brings back must not miss what a later one carries.
      writing = writing.then(flush);
      for (const done of awaiting.splice(0)) void writing.then(done);
    });
  };

  // Every write comes after the load: what it brings back must not miss what is being written.
  let writing = load();
  const loadedInTime = within(writing, LOAD_MS, ports).catch(() => {});

  return {
    ready: () => loadedInTime,
    affords(key, cost) {
      const id = idOf(key);
      const record = records.get(id);
      const enough = record === undefined ? cost <= budget.capacity : affords(record.budget, cost, ports.now(), budget);
      if (enough) exhausted.delete(id);
      return enough;
    },
    record(key, event) {
      const id = idOf(key);
      const before = records.get(id);
      // A new record is full: a success has nothing to add to it, and the usual case nothing to do.
      if (before === undefined && event.kind === 'first-try-succeeded') return;
      put(id, advance(before ?? fresh(key, event.at), event, budget));
      if (storage === 'memory') return;
      const since = unwritten.get(id);
      if (since) since.events.push(event);
      else unwritten.set(id, { key, events: [event] });
      flushAfter(event.kind === 'first-try-succeeded' ? CREDIT_AFTER_MS : WRITE_AFTER_MS);
    },
    noticesExhaustion(key) {
      const known = exhausted.has(idOf(key));
      exhausted.add(idOf(key));
      return !known;
    },
    written: () => (planned === undefined ? writing : new Promise((resolve) => awaiting.push(resolve))),
    status: () => ({
      storage,
      origins: [...records.values()]
        .filter((record) => !isInitial(record, ports.now(), budget))
        .map(({ origin, group, budget: bucket }) => ({
          origin,
          group,
          tokens: refill(bucket, ports.now(), budget).tokens,
          capacity: budget.capacity,
        })),
    }),
  };
}

const idOf = ({ origin, group }: OriginKey): string => `${origin} ${group}`;

/** Rejects if `work` has not come to an end after `ms`. */
async function within<T>(work: Promise<T>, ms: number, ports: Ports): Promise<T> {
  const limit = ports.sleep(ms);
  try {
    return await Promise.race([work, limit.done.then(() => Promise.reject(new Error(`no answer within ${ms} ms`)))]);
  } finally {
    limit.cancel();
  }
}
