import { circuitState, mayProbe } from './circuit.js';
import { heldUntil } from './hold.js';
import type { Guards, OriginRecord } from './origin-record.js';
import type { RetryPolicy } from './policy.js';

/** May an attempt start now, as far as what is known of its origin goes? */
export type Admission =
  | { readonly do: 'go' }
  /** The server asked for time, and there is enough of it. */
  | { readonly do: 'wait'; readonly until: number; readonly cause: 'hold' }
  /** It asked for more than this request has: one attempt goes through, without retries. */
  | { readonly do: 'pass-through' };

/**
 * Asked before every attempt. A request is never refused because of a hold: either it can wait for its end, or it goes
 * through once, because the server may have changed its mind and somebody has to find out.
 */
export function admit(
  record: OriginRecord,
  path: string,
  { now, deadline, policy }: { now: number; deadline: number; policy: RetryPolicy },
): Admission {
  const until = heldUntil(record.hold, path);
  if (until <= now) return { do: 'go' };
  const fits = until - now <= policy.retryAfter.maxMs && until < deadline;
  return fits && policy.retryAfter.mode !== 'ignore' ? { do: 'wait', until, cause: 'hold' } : { do: 'pass-through' };
}

/**
 * Is a request that fails now parked? While the circuit is not closed nobody retries alone: a request waits until a
 * success shows that the server is back, as long as the next one to find out goes before its deadline.
 */
export const isParked = (
  { circuit }: OriginRecord,
  { now, deadline, policy, guards }: { now: number; deadline: number; policy: RetryPolicy; guards: Guards },
): boolean =>
  circuitState(circuit, now) !== 'closed' &&
  circuit.openUntil < deadline &&
  policy.circuit === 'suppress' &&
  guards.circuit.parking;

/** How a policy that refuses treats a new request: as a probe, or not at all while the circuit is not closed. */
export function refusal({ circuit }: OriginRecord, now: number, guards: Guards): 'none' | 'probe' | 'refuse' {
  if (circuitState(circuit, now) === 'closed') return 'none';
  return mayProbe(circuit, now, guards.circuit) ? 'probe' : 'refuse';
}
