import type { OutboxEntry, StoredRequest } from './outbox-entry.js';

type Kind = 'string' | 'number' | 'boolean';

const ENTRY: Readonly<Record<string, Kind>> = {
  id: 'string',
  outbox: 'string',
  order: 'string',
  group: 'string',
  repeatable: 'boolean',
  bytes: 'number',
  queuedAt: 'number',
  expiresAt: 'number',
  sends: 'number',
  notBefore: 'number',
};

const REQUEST: Readonly<Record<keyof Omit<StoredRequest, 'headers'>, Kind>> = {
  url: 'string',
  method: 'string',
  mode: 'string',
  credentials: 'string',
  redirect: 'string',
  cache: 'string',
  referrer: 'string',
  referrerPolicy: 'string',
  integrity: 'string',
};

const STATES: readonly unknown[] = ['waiting', 'sending', 'sent', 'failed'];

/**
 * What is stored, if it is an entry: another version may have written it. An instant that lies further ahead than an
 * entry's own time (a clock set back) is not waited for.
 */
export function reviveEntry(stored: unknown, now: number): OutboxEntry | undefined {
  if (!has(stored, ENTRY) || !STATES.includes(stored.state) || !has(stored.request, REQUEST)) return undefined;
  if (!Array.isArray(stored.request.headers) || !stored.request.headers.every(isPair)) return undefined;
  const entry = stored as unknown as OutboxEntry;
  const lifeMs = entry.expiresAt - entry.queuedAt;
  const late = entry.queuedAt > now;
  return {
    ...entry,
    ...(late ? { queuedAt: now, expiresAt: now + lifeMs } : {}),
    notBefore: Math.min(entry.notBefore, now + lifeMs),
  };
}

const isPair = (header: unknown): boolean => Array.isArray(header) && header.length === 2 && header.every(isText);

const isText = (value: unknown): value is string => typeof value === 'string';

const has = (value: unknown, shape: Readonly<Record<string, Kind>>): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(shape).every(([field, kind]) => typeof (value as Record<string, unknown>)[field] === kind);
