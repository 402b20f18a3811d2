import type { Engine } from '../engine/index.js';
import { circuitState } from '../policy/circuit.js';
import {
  abandoned,
  failed,
  freeAt,
  hastened,
  headsOf,
  isExpired,
  leased,
  type OutboxEntry,
  settled,
} from '../policy/outbox-entry.js';
import { costOfSend, type Delivery, deliver } from './deliver.js';
import type { Change, Numbered, OutboxStore } from './outbox-store.js';

export interface Drain extends Delivery {
  readonly store: OutboxStore;
  /** Whose entries go. */
  readonly owner: () => string | undefined;
  /** Does nobody else send, because a lock is held? Else whoever has leased an entry has the time of the lease. */
  readonly alone: boolean;
  /** Nothing further is sent: offline, paused, retired, or the event that keeps the worker alive is about to end. */
  readonly isOver: () => boolean;
  /** Told what has become of an entry. */
  readonly onChange: (before: OutboxEntry, after: OutboxEntry) => void;
}

/** Entries of different orders that are sent at the same time. */
const MOST_AT_ONCE = 3;
/** How long an entry waits that the budget does not pay for. */
const UNPAID_MS = 10_000;

/**
 * Sends what may be sent now. To whoever holds the lock an entry that is being sent when it begins was left by somebody
 * who is gone. Leased, sent, and taken off only when its server has said so. `hurry`: what waits for a time of our own
 * choice waits no longer. `false`: the store cannot be written.
 */
export async function drain(around: Drain, stored: readonly Numbered[], hurry: boolean): Promise<boolean> {
  const { store, engine, owner, isOver, onChange } = around;
  const { ports, book, guards } = engine;
  const entries = new Map<number, OutboxEntry>();
  const running = new Map<number, Promise<void>>();
  let broken = false;
  /** Another worker was told that somebody else is there: whose entries go has to be read anew. */
  let stale = false;

  for (const { seq, entry } of stored) {
    const now = ports.now();
    entries.set(seq, hurry && entry.state === 'waiting' ? hastened(entry, now) : entry);
    if (isLeft(entry, now)) await change(seq, (left) => (isLeft(left, now) ? abandoned(left, now) : left));
    else if (isExpired(entry, now))
      await change(seq, (left) => (isExpired(left, now) ? failed(left, 'expired', now) : left));
  }
  for (;;) {
    const next = broken || stale || isOver() || running.size >= MOST_AT_ONCE ? undefined : nextOne();
    if (next !== undefined) {
      const sent = send(next)
        // Of a store that cannot be written nothing further is sent: what is sent already stays leased.
        .catch((problem) => {
          broken = true;
          around.onFault(problem);
        })
        .finally(() => running.delete(next.seq));
      running.set(next.seq, sent);
      continue;
    }
    if (running.size === 0) return !broken;
    await Promise.race(running.values());
  }

  function isLeft({ state, leaseUntil = 0 }: OutboxEntry, now: number): boolean {
    return state === 'sending' && (around.alone || leaseUntil <= now);
  }

  function nextOne(): Numbered | undefined {
    const now = ports.now();
    const heads = new Set(headsOf(entries.values(), owner()));
    for (const [seq, entry] of entries) {
      const isDue = heads.has(entry) && entry.state === 'waiting' && entry.notBefore <= now;
      if (isDue && !running.has(seq) && isFree(entry, now)) return { seq, entry };
    }
    return undefined;
  }

  /** Nobody waits for an entry, so it keeps off a server that is in trouble, and tries it alone. */
  function isFree(entry: OutboxEntry, now: number): boolean {
    const { key, path } = placeOf(entry);
    const record = book.look(key);
    if (freeAt(record, path, now, guards) > now) return false;
    if (circuitState(record.circuit, now) === 'closed') return true;
    return ![...running.keys()].some((seq) => {
      const other = entries.get(seq);
      return other !== undefined && placeOf(other).key.origin === key.origin && other.group === entry.group;
    });
  }

  async function send({ seq, entry }: Numbered): Promise<void> {
    const { key } = placeOf(entry);
    const cost = costOfSend(entry, engine);
    if (cost > 0 && !book.affords(key, cost)) {
      await change(seq, (unpaid) => ({ ...unpaid, notBefore: ports.now() + UNPAID_MS }));
      return;
    }
    // At once: others are about to pay as well.
    const reservedAt = ports.now();
    if (cost > 0) book.record(key, { kind: 'retry-reserved', at: reservedAt, cost });
    const refund = (launched: boolean): void => {
      if (cost > 0) book.record(key, { kind: 'retry-refunded', at: ports.now(), cost, launched, reservedAt });
    };
    const body = await store.body(seq);
    let taken = false;
    const mine = await change(seq, (found, there) => {
      stale ||= there !== owner();
      // Somebody has cancelled it meanwhile, or has it, or it is not theirs who are there now.
      if (stale || found.state !== 'waiting' || found.owner !== there) return found;
      taken = body?.byteLength === found.bytes;
      return taken ? leased(found, ports.now()) : failed(found, 'damaged', ports.now());
    });
    if (mine === undefined || body === undefined || !taken) return refund(false);
    const sent = await deliver(mine, body, around);
    const after = await change(seq, (found) => settled(found, sent, ports.now(), ports.random));
    if (sent === 'unsent') refund(false);
    else if (after?.state === 'sent') refund(true);
  }

  async function change(seq: number, step: Change): Promise<OutboxEntry | undefined> {
    const before = entries.get(seq);
    const after = await store.change(seq, step);
    if (after === undefined) entries.delete(seq);
    else entries.set(seq, after);
    if (before && after) onChange(before, after);
    return after;
  }
}

/** Is there anything to do for one of these entries now? What somebody is sending may be left by somebody who is gone. */
export const hasWork = (entries: Iterable<OutboxEntry>, owner: string | undefined, engine: Engine): boolean =>
  headsOf(entries, owner).some((entry) => entry.state === 'sending' || readyAt(entry, engine) <= engine.ports.now());

/** When the first of those that wait may go, as far as is known; `Infinity` if none does. */
export const nextAt = (entries: Iterable<OutboxEntry>, owner: string | undefined, engine: Engine): number =>
  Math.min(
    ...headsOf(entries, owner)
      .filter(({ state }) => state === 'waiting')
      .map((entry) => readyAt(entry, engine)),
  );

function readyAt(entry: OutboxEntry, { book, guards, ports }: Engine): number {
  const { key, path } = placeOf(entry);
  const free = freeAt(book.look(key), path, ports.now(), guards);
  return Math.min(entry.expiresAt, Math.max(entry.notBefore, free));
}

function placeOf({ request, group }: OutboxEntry) {
  const { origin, pathname } = new URL(request.url);
  return { key: { origin, group }, path: pathname };
}
