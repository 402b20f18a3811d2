import { isObject } from './shape.js';
import { PROTOCOL } from './version.js';

/** What workers and page engines of one origin tell each other, on a BroadcastChannel: nobody waits for an answer. */
export type Gossip =
  /** A hold or a circuit has changed; `record` is what the sender knows now, to be checked like a stored one. */
  | { readonly kind: 'guards'; readonly record: unknown }
  /** An attempt has succeeded while requests may be parked elsewhere: one of them may go. */
  | { readonly kind: 'success'; readonly origin: string; readonly group: string }
  /** A page wants waits to end. */
  | { readonly kind: 'retry-now'; readonly origin?: string }
  /** Requests are left alone from now on, or not any more. */
  | { readonly kind: 'pause' | 'resume' }
  /** What was remembered of an origin, or of all, is to be forgotten. */
  | { readonly kind: 'reset'; readonly origin?: string };

export const CHANNEL = 'steadfetch';

export const toGossip = (gossip: Gossip): Gossip & { readonly steadfetch: number } => ({
  steadfetch: PROTOCOL,
  ...gossip,
});

/** `undefined` for whatever is not ours, not of this protocol or not understood. */
export function parseGossip(data: unknown): Gossip | undefined {
  if (!isObject(data) || data.steadfetch !== PROTOCOL) return undefined;
  const { kind, record, origin, group } = data;
  if (kind === 'guards' && isObject(record)) return { kind, record };
  if (kind === 'success' && typeof origin === 'string' && typeof group === 'string') return { kind, origin, group };
  if (kind === 'pause' || kind === 'resume') return { kind };
  if ((kind === 'retry-now' || kind === 'reset') && (origin === undefined || typeof origin === 'string')) {
    return origin === undefined ? { kind } : { kind, origin };
  }
  return undefined;
}
