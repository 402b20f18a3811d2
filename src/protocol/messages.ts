import { isEvent } from './event-shapes.js';
import type { LayerEvent } from './events.js';
import { isItem, type OutboxItem, type OutboxWish, parseOutboxWish } from './outbox.js';
import { has, isObject } from './shape.js';
import type { LayerStatus } from './status.js';
import { PROTOCOL } from './version.js';

/** What a page says to the worker; most are answered on the port that comes with it. */
export type PageMessage =
  | { readonly kind: 'hello'; readonly version: string }
  | { readonly kind: 'status' }
  /** Somebody waits here: the worker is to be kept alive. */
  | { readonly kind: 'beat' }
  /** The device is back online, which not every worker hears by itself. */
  | { readonly kind: 'online' }
  /** Waits of our own making are over; of one origin or of all. */
  | { readonly kind: 'retry-now'; readonly origin?: string }
  /** The page has called off the request that carries this id. */
  | { readonly kind: 'abort'; readonly id: string }
  /** The next request of this page to this URL asks for something else than its route; `asked` is a fragment. */
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly url: string;
      readonly method: string;
      readonly asked: string;
    }
  /** The call with this id has come, or will not. */
  | { readonly kind: 'withdraw'; readonly id: string }
  | { readonly kind: 'pause' | 'resume' }
  | { readonly kind: 'retire' }
  | { readonly kind: 'reset'; readonly origin?: string }
  | { readonly kind: 'outbox'; readonly wish: OutboxWish };

/** What the worker says to a page. */
export type WorkerMessage =
  /** `nonce` proves that a call is the page's own; `fragments`: calls may carry what they ask for in their URL. */
  | {
      readonly kind: 'welcome';
      readonly version: string;
      readonly nonce: string;
      readonly fragments: boolean;
      /** How many entries wait in the outbox. */
      readonly waiting: number;
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'status'; readonly status: LayerStatus }
  /** The entries that a wish was about, and how many wait now. */
  | { readonly kind: 'outbox'; readonly items: readonly OutboxItem[]; readonly waiting: number }
  /** `seq` tells a page which events it has seen already: those of its own load are sent again at its hello. */
  | { readonly kind: 'event'; readonly seq: string; readonly event: LayerEvent };

/** Wraps a message so that other libraries' messages and ours do not get in each other's way. */
export const toMessage = <M extends PageMessage | WorkerMessage>(message: M): M & { readonly steadfetch: number } => ({
  steadfetch: PROTOCOL,
  ...message,
});

/** `foreign`: somebody else's message, none of our business. `malformed`: ours by name, but not understood. */
export type Unread = 'foreign' | 'malformed';

export function parsePageMessage(data: unknown): PageMessage | Unread {
  const fields = ours(data);
  if (typeof fields === 'string') return fields;
  const { kind, version, origin, id, url, method, asked, wish } = fields;
  switch (kind) {
    case 'hello':
      return isText(version) ? { kind, version } : 'malformed';
    case 'abort':
    case 'withdraw':
      return isText(id) ? { kind, id } : 'malformed';
    case 'call':
      return isText(id) && isText(url) && isText(method) && isText(asked)
        ? { kind, id, url, method, asked }
        : 'malformed';
    case 'retry-now':
    case 'reset':
      if (origin === undefined) return { kind };
      return isText(origin) ? { kind, origin } : 'malformed';
    case 'outbox': {
      const parsed = parseOutboxWish(wish);
      return parsed ? { kind, wish: parsed } : 'malformed';
    }
    case 'status':
    case 'beat':
    case 'online':
    case 'pause':
    case 'resume':
    case 'retire':
      return { kind };
    default:
      return 'malformed';
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

export function parseWorkerMessage(data: unknown): WorkerMessage | Unread {
  const fields = ours(data);
  if (typeof fields === 'string') return fields;
  const { kind, version, nonce, fragments, waiting, items, status, seq, event } = fields;
  if (kind === 'done') return { kind };
  // An older worker has no nonce, and nobody can ask it for more.
  if (kind === 'welcome' && isText(version)) {
    return {
      kind,
      version,
      nonce: isText(nonce) ? nonce : '',
      fragments: fragments === true,
      waiting: typeof waiting === 'number' ? waiting : 0,
    };
  }
  if (kind === 'outbox' && typeof waiting === 'number' && Array.isArray(items) && items.every(isItem)) {
    return { kind, items, waiting };
  }
  if (kind === 'status' && isStatus(status)) return { kind, status };
  if (kind === 'event' && isText(seq) && isEvent(event)) return { kind, seq, event };
  return 'malformed';
}

function ours(data: unknown): Record<string, unknown> | Unread {
  if (!isObject(data) || !('steadfetch' in data)) return 'foreign';
  return data.steadfetch === PROTOCOL ? data : 'malformed';
}

const isStatus = (value: unknown): value is LayerStatus =>
  has(value, { version: 'string', storage: 'string', counters: 'object', origins: 'object' }) &&
  has(value.counters, {
    requests: 'number',
    attempts: 'number',
    retries: 'number',
    hedges: 'number',
    amplification: 'number',
    recovered: 'number',
    untold: 'number',
    gaveUp: 'object',
  }) &&
  Array.isArray(value.origins) &&
  value.origins.every((one) => has(one, ORIGIN));

const ORIGIN = {
  origin: 'string',
  group: 'string',
  tokens: 'number',
  capacity: 'number',
  circuit: 'string',
  openUntil: 'number',
  heldUntil: 'number',
  parked: 'number',
  heldPaths: 'object',
} as const;
