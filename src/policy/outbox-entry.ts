import { circuitState, mayProbe, probeAt } from './circuit.js';
import { heldUntil } from './hold.js';
import type { Guards, OriginRecord } from './origin-record.js';

/** A request that waits in an outbox until its server has taken it, as one plain value. Its body is kept beside it. */
export interface OutboxEntry {
  readonly id: string;
  /** The name of its outbox. */
  readonly outbox: string;
  /** Entries of the same order go one after the other, in the order in which they came. */
  readonly order: string;
  /** Whose it is: it is sent, and shown, only while they are there. */
  readonly owner?: string;
  /** Of the worker that has promised it. */
  readonly scope?: string;
  readonly request: StoredRequest;
  /** Of the budget, hold and circuit that it comes under. */
  readonly group: string;
  /** May it be sent again although an answer was lost? Else a lost answer may be an order that was taken. */
  readonly repeatable: boolean;
  /** An answer that was redirected to below this path counts as delivery. */
  readonly doneAt?: string;
  /** Size of its body. */
  readonly bytes: number;
  readonly queuedAt: number;
  readonly expiresAt: number;
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed';
  /** How often it was sent. */
  readonly sends: number;
  /** Not to be sent before. */
  readonly notBefore: number;
  /** Has the server named that time? Then nobody shortens it. */
  readonly asked?: boolean;
  /** How often its server said that it is still busy with its key. */
  readonly conflicts?: number;
  /** Until when whoever sends it may take. */
  readonly leaseUntil?: number;
  /** Of the last answer, if there was one. */
  readonly status?: number;
  /** Why it has failed. */
  readonly reason?: OutboxFailure;
  /** The beginning of the body of the last answer. */
  readonly answer?: string;
  readonly endedAt?: number;
}

/** Everything of a request but its body. */
export interface StoredRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly mode: string;
  readonly credentials: string;
  readonly redirect: string;
  readonly cache: string;
  readonly referrer: string;
  readonly referrerPolicy: string;
  readonly integrity: string;
}

/**
 * Why an entry is not sent any more: the server refuses it; it asks who is there; nobody knows whether it was taken, and
 * it must not be taken twice; its time is over; its body is not what it was.
 */
export type OutboxFailure = 'refused' | 'unauthorized' | 'unknown' | 'expired' | 'damaged';

/** What sending an entry came to. */
export type Sent =
  | {
      readonly status: number;
      /** The URL that has answered, if the request was redirected. */
      readonly redirectedTo?: string;
      /** Neither status nor anything else may be read. */
      readonly opaque?: boolean;
      /** It asks who is there, and that could not be found out now. */
      readonly unprepared?: boolean;
      /** The server asks for this long. */
      readonly retryAfterMs?: number;
      /** The beginning of the answer's body. */
      readonly body?: string;
    }
  /** No answer. */
  | 'lost'
  /** It was not sent at all. */
  | 'unsent';

/** 4xx that a server says for now only. 409 is about another request with the same key, that is still under way. */
const FOR_NOW = [408, 425, 429];
/** Whoever has not even begun with a request says one of these. */
const NOT_BEGUN = [425, 429, 503];
const MAX_CONFLICTS = 5;

const BASE_MS = 1_000;
const MAX_WAIT_MS = 300_000;
/** What a server may ask for at most, besides the entry's own time. */
const MAX_ASKED_MS = 86_400_000;
/** How long a lease lasts where nothing else tells that its holder is gone. */
export const LEASE_MS = 120_000;

/** A request that is to be kept, which was sent `sends` times already. */
export const queued = (entry: OutboxEntry, now: number, random: () => number): OutboxEntry =>
  entry.sends === 0 ? entry : putBack(entry, now, random);

/** The entry as long as it is being sent. */
export const leased = (entry: OutboxEntry, now: number): OutboxEntry => ({
  ...entry,
  state: 'sending',
  sends: entry.sends + 1,
  leaseUntil: now + LEASE_MS,
});

/** The entry after it was sent: delivered, set aside, or kept for the next time. */
export function settled(entry: OutboxEntry, sent: Sent, now: number, random: () => number): OutboxEntry {
  const { leaseUntil: _, ...left } = entry;
  if (sent === 'unsent') return putBack(left, now, random);
  if (sent === 'lost') return entry.repeatable ? putBack(left, now, random) : failed(left, 'unknown', now);
  const { status, body, retryAfterMs } = sent;
  const answered = { ...left, status, ...(body === undefined ? {} : { answer: body }) };
  if (isDelivery(entry, sent)) {
    // What is shown of it later needs no headers, and they may be secrets.
    return { ...answered, request: { ...left.request, headers: [] }, state: 'sent', endedAt: now };
  }
  if (status === 401 || status === 403) {
    return sent.unprepared ? putBack(answered, now, random) : failed(answered, 'unauthorized', now);
  }
  const isBusy = status === 409 && entry.repeatable;
  const conflicts = (entry.conflicts ?? 0) + 1;
  if (isBusy && conflicts <= MAX_CONFLICTS) return putBack({ ...answered, conflicts }, now, random, retryAfterMs);
  const isKept = FOR_NOW.includes(status) || status >= 500 || status < 400;
  if (!isKept) return failed(answered, 'refused', now);
  if (!entry.repeatable && !NOT_BEGUN.includes(status)) return failed(answered, 'unknown', now);
  return putBack(answered, now, random, retryAfterMs);
}

/** A login page that somebody on the way has put in the place of the server's answer is no delivery. */
function isDelivery({ doneAt }: OutboxEntry, { status, redirectedTo, opaque }: Exclude<Sent, string>): boolean {
  if (opaque) return true;
  if (status < 200 || status > 299) return false;
  return redirectedTo === undefined || (doneAt !== undefined && isBelow(redirectedTo, doneAt));
}

const isBelow = (path: string, base: string): boolean =>
  path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`);

/** To be sent again, not before the backoff or what the server has asked for is over. */
const putBack = (entry: OutboxEntry, now: number, random: () => number, askedMs?: number): OutboxEntry => {
  const ownMs = Math.min(MAX_WAIT_MS, BASE_MS * 2 ** Math.min(entry.sends, 20)) * (0.5 + random() / 2);
  const waitMs = Math.max(ownMs, Math.min(askedMs ?? 0, MAX_ASKED_MS));
  return { ...entry, state: 'waiting', notBefore: now + waitMs, asked: askedMs !== undefined && askedMs > ownMs };
};

export const failed = (entry: OutboxEntry, reason: OutboxFailure, now: number): OutboxEntry => ({
  ...entry,
  state: 'failed',
  reason,
  endedAt: now,
});

/** An entry whose sender is gone: nobody knows whether its server has taken it. */
export const abandoned = (entry: OutboxEntry, now: number): OutboxEntry => {
  if (entry.state !== 'sending') return entry;
  const { leaseUntil: _, ...left } = entry;
  return entry.repeatable ? { ...left, state: 'waiting', notBefore: now } : failed(left, 'unknown', now);
};

/** The user wants it to be sent now: what has failed gets its time once more, what the server asked for stays. */
export function hastened(entry: OutboxEntry, now: number): OutboxEntry {
  if (entry.state === 'failed') {
    const { reason: _, endedAt: __, conflicts: ___, ...left } = entry;
    const expiresAt = now + entry.expiresAt - entry.queuedAt;
    return { ...left, state: 'waiting', notBefore: now, asked: false, queuedAt: now, expiresAt };
  }
  return entry.state === 'waiting' && !entry.asked ? { ...entry, notBefore: Math.min(entry.notBefore, now) } : entry;
}

/** Is nobody to be asked about this entry any more, and nothing to be told of it? */
export const isOver = ({ state, endedAt = 0, expiresAt, queuedAt }: OutboxEntry, now: number): boolean =>
  (state === 'sent' || state === 'failed') && now >= endedAt + (expiresAt - queuedAt);

/** Has it waited for as long as it may? */
export const isExpired = ({ state, expiresAt }: OutboxEntry, now: number): boolean =>
  state === 'waiting' && now >= expiresAt;

/** Does it still count? */
export const isPending = ({ state }: OutboxEntry): boolean => state === 'waiting' || state === 'sending';

/** Of each order the first entry that is still to be delivered; `entries` stand in the order in which they came. */
export function headsOf(entries: Iterable<OutboxEntry>, owner: string | undefined): OutboxEntry[] {
  const heads = new Map<string, OutboxEntry>();
  for (const entry of entries) {
    if (entry.owner === owner && isPending(entry) && !heads.has(entry.order)) heads.set(entry.order, entry);
  }
  return [...heads.values()];
}

/** From when on an origin may be sent what nobody waits for: not during a hold, nor while its circuit is open. */
export function freeAt({ hold, circuit }: OriginRecord, path: string, now: number, guards: Guards): number {
  const held = heldUntil(hold, path);
  if (circuitState(circuit, now) === 'closed' || mayProbe(circuit, now, guards.circuit)) return held;
  return Math.max(held, probeAt(circuit, guards.circuit));
}
