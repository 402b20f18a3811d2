import { isEvent } from './event-shapes.js';
import type { LayerEvent } from './events.js';
import { has, isObject } from './shape.js';
import type { LayerStatus } from './status.js';
import { PROTOCOL } from './version.js';

/** What a page says to the worker; each is answered on the port that comes with it. */
export type PageMessage = { readonly kind: 'hello'; readonly version: string } | { readonly kind: 'status' };

/** What the worker says to a page. */
export type WorkerMessage =
  | { readonly kind: 'welcome'; readonly version: string }
  | { readonly kind: 'status'; readonly status: LayerStatus }
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
  if (fields.kind === 'hello' && typeof fields.version === 'string') return { kind: 'hello', version: fields.version };
  if (fields.kind === 'status') return { kind: 'status' };
  return 'malformed';
}

export function parseWorkerMessage(data: unknown): WorkerMessage | Unread {
  const fields = ours(data);
  if (typeof fields === 'string') return fields;
  const { kind, version, status, seq, event } = fields;
  if (kind === 'welcome' && typeof version === 'string') return { kind, version };
  if (kind === 'status' && isStatus(status)) return { kind, status };
  if (kind === 'event' && typeof seq === 'string' && isEvent(event)) return { kind, seq, event };
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
    recovered: 'number',
    hedges: 'number',
    gaveUp: 'object',
  }) &&
  Array.isArray(value.origins) &&
  value.origins.every((one) => has(one, { origin: 'string', group: 'string', tokens: 'number', capacity: 'number' }));
