import { affords, capacityOf, fullBucket, refill } from '../policy/budget.js';
import { circuitState } from '../policy/circuit.js';
import { isHolding } from '../policy/hold.js';
import { mergeGuards, mergeRecords } from '../policy/merge.js';
import {
  advance,
  type Guards,
  initialRecord,
  isInitial,
  type OriginEvent,
  type OriginRecord,
} from '../policy/origin-record.js';
import { reviveRecord } from '../policy/revive-record.js';
import type { OriginStatus } from '../protocol/index.js';
import { steadyClock } from './clock.js';
import type { Ports, Sleep } from './ports.js';
import type { OriginStore, Transition } from './store/origin-store.js';
import { within } from './within.js';

/** An origin and a group: what shares one record. */
export interface OriginKey {
  readonly origin: string;
  readonly group: string;
}

/**
 * The state of every origin and group, in memory and written behind to the store. A request waits for the
 * store only at the worker's start, and none fails because of it.
 */
export interface OriginBook {
  /**
   * Resolves once the stored records are here or cannot be had, or `limitMs` after the worker's start; `undefined` if
   * that is over.
   */
  loading(limitMs?: number): Promise<void> | undefined;
  /** What is known now; a new record if that is nothing. */
  look(key: OriginKey): OriginRecord;
  /** Is nothing known, though what is stored is here? A success is not worth recording then. */
  isNew(key: OriginKey): boolean;
  affords(key: OriginKey, cost: number): boolean;
  record(key: OriginKey, event: OriginEvent): void;
  /** Takes over what another worker has found out: the later hold and the later state of the circuit. */
  merge(record: unknown): void;
  /** The device has come back online, or somebody wants to know: what is open may be tried, of one origin or all. */
  backOnline(origin?: string): void;
  /** Closes the circuits of an origin that opened since: it was the device's network, not the origin's. */
  forgive(origin: string, since: number): void;
  /** Forgets an origin, or all of them: budgets are full, nothing is held, every circuit is closed. */
  reset(origin?: string): Promise<void>;
  /** True the first time that a budget is found empty since it last was not. */
  noticesExhaustion(key: OriginKey): boolean;
  /** Resolves once everything recorded so far is stored, or cannot be. */
  written(): Promise<void>;
  /** `parked` tells how many requests wait for a success of an origin and group. */
  status(parked?: (key: OriginKey) => number): {
    readonly storage: 'indexeddb' | 'memory';
    readonly origins: readonly OriginStatus[];
  };
}

const MAX_RECORDS = 200;
const WRITE_AFTER_MS = 500;
/** Holds and circuits are written at once, but not more often than this. */
const GUARD_WRITE_MS = 250;
/** This many retries that others do not know of are written at once. */
const UNWRITTEN_RETRIES = 5;
/** What only makes the budget richer may wait; it is written with the next retry if one comes first. */
const CREDIT_AFTER_MS = 10_000;
/** Each store operation gets this long before the book goes on without it, */
const STORE_MS = 2_000;
/** Two clocks are never quite the same. */
const SET_BACK_MS = 1_000;
/** and this long until it is tried again. */
const STORE_AGAIN_MS = 30_000;

/** Told whenever a hold or a circuit has changed; `by` is where that was found out. */
export type GuardListener = (change: {
  readonly before: OriginRecord;
  readonly after: OriginRecord;
  readonly by: 'us' | 'others';
}) => void;

export function createOriginBook(
  store: OriginStore,
  ports: Ports,
  guards: Guards,
  onProblem: (problem: unknown) => void,
  onGuard: GuardListener = () => {},
): OriginBook {
  const { budget } = guards;
  const now = steadyClock(ports);
  const records = new Map<string, OriginRecord>();
  /** What happened since the last write, to be applied again to what is stored by then. */
  const unwritten = new Map<string, { readonly key: OriginKey; readonly events: OriginEvent[] }>();
  /** Records that made room for others, to be deleted from the store as well. */
  const forgotten = new Set<string>();
  const exhausted = new Set<string>();
  let storage: 'indexeddb' | 'memory' = 'indexeddb';
  /** When the store is tried again after it failed, and whether that is under way. */
  let retryAt = 0;
  let retrying = false;
  /** Of these others have told something since the last write began. */
  const news = new Set<string>();
  let knownBehindMs = 0;
  let flushedAt = 0;
  let planned: { readonly at: number; readonly timer: Sleep } | undefined;
  const awaiting: (() => void)[] = [];

  const carryOnInMemory = (problem: unknown): void => {
    if (storage !== 'memory') onProblem(problem);
    storage = 'memory';
    retrying = false;
    retryAt = now() + STORE_AGAIN_MS;
    unwritten.clear();
    forgotten.clear();
  };

  const fresh = ({ origin, group }: OriginKey, at: number): OriginRecord => initialRecord(origin, group, at, guards);

  /** Takes what is stored for the truth, and what happened since on top of it. */
  const adopt = (id: string, stored: OriginRecord | undefined): void => {
    const since = unwritten.get(id);
    const record = since?.events.reduce(apply, stored ?? fresh(since.key, ports.now())) ?? stored;
    const known = news.has(id) ? records.get(id) : undefined;
    if (record === undefined && known === undefined) records.delete(id);
    else put(id, record && known ? mergeGuards(record, known) : ((record ?? known) as OriginRecord));
  };

  /** Puts a record in the place of what was known, and tells whoever waits for a hold or a circuit. */
  const replace = (key: OriginKey, after: OriginRecord, by: 'us' | 'others'): boolean => {
    const before = records.get(idOf(key)) ?? fresh(key, after.usedAt);
    put(idOf(key), after);
    const changed = guardsDiffer(before, after);
    if (changed) onGuard({ before, after, by });
    return changed;
  };

  /** A map keeps the order in which its keys came: the first is the one that was used least recently. */
  const put = (id: string, record: OriginRecord): void => {
    records.delete(id);
    records.set(id, record);
    forgotten.delete(id);
    if (records.size <= MAX_RECORDS) return;
    const now = ports.now();
    const oldest = [...records.keys()].find((other) => !isGuarding(records.get(other), now));
    if (oldest === undefined) return;
    records.delete(oldest);
    unwritten.delete(oldest);
    exhausted.delete(oldest);
    forgotten.add(oldest);
  };

  /** A clock that was set back would keep whatever is open or paid for the time being until it has caught up. */
  const noticeSetBack = (): void => {
    const behindMs = now() - ports.now();
    const setBack = behindMs > knownBehindMs + SET_BACK_MS;
    if (setBack || behindMs < knownBehindMs) knownBehindMs = behindMs;
    if (!setBack) return;
    for (const [id, record] of records) records.set(id, reviveRecord(record, ports.now(), guards) ?? record);
  };

  const apply = (record: OriginRecord, event: OriginEvent): OriginRecord =>
    // Another worker may have written later than this happened; time that it has counted is not counted again.
    advance(record, { ...event, at: Math.max(event.at, record.budget.at) }, guards);

  const load = async (): Promise<void> => {
    try {
      for (const value of await within(store.load(), STORE_MS, ports)) {
        const record = reviveRecord(value, ports.now(), guards);
        if (record) adopt(idOf(record), record);
      }
    } catch (problem) {
      carryOnInMemory(problem);
    }
  };

  const flush = async (): Promise<void> => {
    if (storage === 'memory' && now() < retryAt) return;
    flushedAt = now();
    try {
      if (storage === 'memory') await reload();
      const transitions = storage === 'memory' ? everything() : whatHappened();
      forgotten.clear();
      unwritten.clear();
      news.clear();
      for (const [id, record] of await within(store.update(transitions), STORE_MS, ports)) adopt(id, record);
      storage = 'indexeddb';
      retrying = false;
    } catch (problem) {
      carryOnInMemory(problem);
    }
  };

  /** What was stored while the store could not be used here, put together with what is known here. */
  const reload = async (): Promise<void> => {
    retrying = true;
    for (const value of await within(store.load(), STORE_MS, ports)) {
      const theirs = reviveRecord(value, ports.now(), guards);
      if (theirs === undefined) continue;
      const ours = records.get(idOf(theirs));
      put(idOf(theirs), ours ? mergeRecords(ours, theirs, guards) : theirs);
    }
  };

  const everything = (): ReadonlyMap<string, Transition<OriginRecord>> =>
    new Map(
      [...records].map(([id, ours]) => [id, storing((theirs) => (theirs ? mergeRecords(ours, theirs, guards) : ours))]),
    );

  const whatHappened = (): ReadonlyMap<string, Transition<OriginRecord>> => {
    const transitions = new Map<string, Transition<OriginRecord>>([...forgotten].map((id) => [id, () => undefined]));
    for (const [id, { key, events }] of unwritten) {
      // Nothing is stored of a new one, and of one that somebody has deleted: that fills no budget.
      const known = records.get(id) ?? events.reduce(apply, fresh(key, ports.now()));
      transitions.set(
        id,
        storing((stored) => (stored ? events.reduce(apply, stored) : known)),
      );
    }
    return transitions;
  };

  const storing =
    (next: (stored: OriginRecord | undefined) => OriginRecord): Transition<OriginRecord> =>
    (value) => {
      const after = next(reviveRecord(value, ports.now(), guards));
      return isInitial(after, ports.now(), guards) ? undefined : after;
    };

  const flushAfter = (ms: number): void => {
    const at = now() + ms;
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

  const note = (key: OriginKey, event: OriginEvent): void => {
    const id = idOf(key);
    const before = records.get(id);
    // A new record is full and closed: a success has nothing to add to it, and the usual case nothing to do.
    const good = GOOD.includes(event.kind);
    if (before === undefined && good && event.kind !== 'request-began') return;
    const guardChanged = replace(key, advance(before ?? fresh(key, event.at), event, guards), 'us');
    if (storage === 'memory' && !retrying) {
      flushAfter(Math.max(0, retryAt - now()));
      return;
    }
    const since = unwritten.get(id) ?? { key, events: [] };
    since.events.push(event);
    unwritten.set(id, since);
    const spent = since.events.filter(({ kind }) => kind === 'retry-reserved').length;
    if (guardChanged) flushAfter(Math.max(0, flushedAt + GUARD_WRITE_MS - now()));
    else if (spent >= UNWRITTEN_RETRIES) flushAfter(0);
    else flushAfter(good ? CREDIT_AFTER_MS : WRITE_AFTER_MS);
  };

  // Every write comes after the load: what it brings back must not miss what is being written.
  let writing = load();
  const startedAt = now();
  let loading: Promise<void> | undefined = writing.then(() => {
    loading = undefined;
  });

  return {
    loading(limitMs = STORE_MS) {
      const leftMs = startedAt + limitMs - now();
      return loading && leftMs > 0 ? within(loading, leftMs, ports).catch(() => {}) : undefined;
    },
    affords(key, cost) {
      const id = idOf(key);
      const record = records.get(id);
      const now = ports.now();
      const enough = affords(record?.budget ?? fullBucket(now, budget), cost, now, budget);
      if (enough) exhausted.delete(id);
      return enough;
    },
    look(key) {
      noticeSetBack();
      return records.get(idOf(key)) ?? fresh(key, ports.now());
    },
    isNew(key) {
      // Where nothing is known at all, nothing is to be put right.
      if (records.size > 0) noticeSetBack();
      return loading === undefined && budget.kind !== 'windowed' && !records.has(idOf(key));
    },
    record: note,
    merge(value) {
      const theirs = reviveRecord(value, ports.now(), guards);
      if (theirs === undefined) return;
      news.add(idOf(theirs));
      const ours = records.get(idOf(theirs)) ?? fresh(theirs, ports.now());
      replace(theirs, mergeGuards(ours, theirs), 'others');
    },
    backOnline(origin) {
      const at = ports.now();
      for (const record of [...records.values()]) {
        if (origin !== undefined && record.origin !== origin) continue;
        if (circuitState(record.circuit, at) === 'open') note(record, { kind: 'back-online', at });
      }
    },
    forgive(origin, since) {
      const at = ports.now();
      for (const record of [...records.values()]) {
        const { openUntil, changedAt } = record.circuit;
        if (record.origin === origin && openUntil > 0 && changedAt >= since) note(record, { kind: 'drained', at });
      }
    },
    async reset(origin) {
      const forget = (): void => {
        for (const [id, before] of [...records]) {
          if (origin !== undefined && before.origin !== origin) continue;
          const after = fresh(before, ports.now());
          records.delete(id);
          unwritten.delete(id);
          exhausted.delete(id);
          forgotten.add(id);
          if (guardsDiffer(before, after)) onGuard({ before, after, by: 'others' });
        }
      };
      forget();
      const forgetStored = async (): Promise<void> => {
        forget();
        try {
          for (const value of await within(store.load(), STORE_MS, ports)) {
            const record = reviveRecord(value, ports.now(), guards);
            if (record && (origin === undefined || record.origin === origin)) forgotten.add(idOf(record));
          }
        } catch (problem) {
          carryOnInMemory(problem);
        }
      };
      // A write that is under way brings back what it has written; and others have stored what is not known here.
      writing = writing.then(forgetStored).then(flush);
      await writing;
    },
    noticesExhaustion(key) {
      const known = exhausted.has(idOf(key));
      exhausted.add(idOf(key));
      return !known;
    },
    // Nothing waits for the time that a store which failed is tried again.
    written: () =>
      planned === undefined || storage === 'memory' ? writing : new Promise((resolve) => awaiting.push(resolve)),
    status: (parked = () => 0) => ({
      storage,
      origins: [...records.values()]
        .filter((record) => !isInitial(record, ports.now(), guards))
        .map((record) => ({ ...toStatus(record, ports.now(), guards), parked: parked(record) })),
    }),
  };
}

const GOOD: readonly OriginEvent['kind'][] = ['request-began', 'first-try-succeeded', 'attempt-succeeded'];

const guardsDiffer = (a: OriginRecord, b: OriginRecord): boolean =>
  a.hold !== b.hold ||
  a.circuit.changedAt !== b.circuit.changedAt ||
  a.circuit.openUntil !== b.circuit.openUntil ||
  a.circuit.probes.join() !== b.circuit.probes.join();

/** A hold or an open circuit is never forgotten to make room. */
const isGuarding = (record: OriginRecord | undefined, now: number): boolean =>
  record !== undefined && (isHolding(record.hold, now) || circuitState(record.circuit, now) !== 'closed');

export const idOf = ({ origin, group }: OriginKey): string => `${origin} ${group}`;

const toStatus = (
  { origin, group, budget, hold, circuit }: OriginRecord,
  now: number,
  guards: Guards,
): Omit<OriginStatus, 'parked'> => ({
  origin,
  group,
  tokens: refill(budget, now, guards.budget).tokens,
  capacity: capacityOf(guards.budget),
  circuit: circuitState(circuit, now),
  openUntil: circuit.openUntil,
  heldUntil: hold.until > now ? hold.until : 0,
  heldPaths: Object.fromEntries(Object.entries(hold.paths).map(([path, { until }]) => [path, until])),
});
