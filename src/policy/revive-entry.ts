import { LEASE_MS, type OutboxEntry, type StoredRequest } from './outbox-entry.js';

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

/** What only some entries have. */
const MORE: Readonly<Record<string, Kind>> = {
  owner: 'string',
  scope: 'string',
  doneAt: 'string',
  asked: 'boolean',
  conflicts: 'number',
  leaseUntil: 'number',
  status: 'number',
  reason: 'string',
  answer: 'string',
  endedAt: 'number',
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
  if (!has(stored, ENTRY) || !mayHave(stored, MORE)) return undefined;
  if (!STATES.includes(stored.state) || !has(stored.request, REQUEST)) return undefined;
  if (!Array.isArray(stored.request.headers) || !stored.request.headers.every(isPair)) return undefined;
  const entry = stored as unknown as OutboxEntry;
  const { queuedAt, expiresAt, notBefore, leaseUntil, endedAt } = entry;
  const lifeMs = expiresAt - queuedAt;
  return {
    ...entry,
    ...(queuedAt > now ? { queuedAt: now, expiresAt: now + lifeMs } : {}),
    notBefore: Math.min(notBefore, now + lifeMs),
    ...(leaseUntil === undefined ? {} : { leaseUntil: Math.min(leaseUntil, now + LEASE_MS) }),
    ...(endedAt === undefined ? {} : { endedAt: Math.min(endedAt, now) }),
  };
}

const isPair = (header: unknown): boolean => Array.isArray(header) && header.length === 2 && header.every(isText);

const isText = (value: unknown): value is string => typeof value === 'string';

const is = (value: unknown, kind: Kind): boolean =>
  kind === 'number' ? Number.isFinite(value) && (value as number) >= 0 : typeof value === kind;

const has = (value: unknown, shape: Readonly<Record<string, Kind>>): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(shape).every(([field, kind]) => is((value as Record<string, unknown>)[field], kind));

const mayHave = (value: Record<string, unknown>, shape: Readonly<Record<string, Kind>>): boolean =>
  Object.entries(shape).every(([field, kind]) => value[field] === undefined || is(value[field], kind));
