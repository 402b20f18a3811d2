import { refuse } from '../policy/check.js';
import type { OutboxEntry, OutboxFailure } from '../policy/outbox-entry.js';
import { has, isObject } from './shape.js';

/** What a page is shown of an entry: no headers, no query, no body but the beginning of the answer's. */
export interface OutboxItem {
  readonly id: string;
  readonly outbox: string;
  readonly method: string;
  /** Origin and path. */
  readonly url: string;
  /** Size of its body. */
  readonly bytes: number;
  readonly state: OutboxEntry['state'];
  /** Epoch milliseconds, as all instants here. */
  readonly queuedAt: number;
  readonly expiresAt: number;
  /** How often it was sent. */
  readonly sends: number;
  /** Not to be sent before. */
  readonly notBefore: number;
  /** Of the last answer, if there was one. */
  readonly status?: number;
  /** The beginning of its body (16 KiB). */
  readonly answer?: string;
  /** Why it has failed; `retry` gives it its time once more. */
  readonly reason?: OutboxFailure;
}

/** What may be shown of a URL. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*/s, '');

export function toItem({ request, ...entry }: OutboxEntry): OutboxItem {
  const { id, outbox, bytes, state, queuedAt, expiresAt, sends, notBefore, status, answer, reason } = entry;
  return {
    id,
    outbox,
    method: request.method,
    url: withoutQuery(request.url),
    bytes,
    state,
    queuedAt,
    expiresAt,
    sends,
    notBefore,
    ...(status === undefined ? {} : { status }),
    ...(answer === undefined ? {} : { answer }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** What a page wants of the outbox. Without an `id` all entries of its owner are meant. */
export interface OutboxWish {
  readonly do: 'list' | 'send' | 'retry' | 'cancel' | 'owner';
  readonly id?: string | undefined;
  readonly outbox?: string | undefined;
  readonly owner?: string | undefined;
}

/** Whoever cannot be told from another must not be taken for them. Throws what says so. */
export function checkOwner(owner: unknown): string | undefined {
  if (owner === undefined || typeof owner === 'string') return owner;
  return refuse(owner, 'owner', 'must be a text', "such as a user's id as a text, or leave it away for nobody");
}

const WISHES: readonly unknown[] = ['list', 'send', 'retry', 'cancel', 'owner'];

export function parseOutboxWish(value: unknown): OutboxWish | undefined {
  if (!isObject(value) || !WISHES.includes(value.do)) return undefined;
  const { do: what, id, outbox, owner } = value;
  return [id, outbox, owner].every((one) => one === undefined || typeof one === 'string')
    ? ({ do: what, id, outbox, owner } as OutboxWish)
    : undefined;
}

export const isItem = (value: unknown): value is OutboxItem =>
  has(value, {
    id: 'string',
    outbox: 'string',
    method: 'string',
    url: 'string',
    bytes: 'number',
    state: 'string',
    queuedAt: 'number',
    expiresAt: 'number',
    sends: 'number',
    notBefore: 'number',
  });
