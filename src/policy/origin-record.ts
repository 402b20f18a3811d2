import { type Bucket, type BudgetPolicy, credit, deposit, fullBucket, isFull, refund, spend } from './budget.js';
import {
  attemptFailed,
  attemptSucceeded,
  type Circuit,
  type CircuitPolicy,
  CLOSED,
  close,
  type Ended,
  halfOpen,
  probed,
  probing,
  requestFailed,
} from './circuit.js';
import { endHold, type Hold, type HoldAsked, holdFor, isHolding, NO_HOLD } from './hold.js';

/** What is remembered of one origin and group, shared by all tabs and kept over worker restarts. */
export interface OriginRecord {
  readonly origin: string;
  readonly group: string;
  readonly budget: Bucket;
  readonly hold: Hold;
  readonly circuit: Circuit;
  /** When anything last happened to it: what is not used makes room first. */
  readonly usedAt: number;
}

/** The numbers that records are advanced by; the same for all of a layer's origins. */
export interface Guards {
  readonly budget: BudgetPolicy;
  readonly circuit: CircuitPolicy;
}

/** What can happen to a record. `at` is when it happened (epoch milliseconds), which may be before it is stored. */
export type OriginEvent =
  | { readonly kind: 'retry-reserved'; readonly at: number; readonly cost: number }
  /** The retry never launched, or it was and has succeeded. */
  | {
      readonly kind: 'retry-refunded';
      readonly at: number;
      readonly cost: number;
      readonly launched: boolean;
      readonly reservedAt: number;
    }
  | { readonly kind: 'request-began'; readonly at: number }
  | { readonly kind: 'first-try-succeeded'; readonly at: number }
  | ({ readonly kind: 'attempt-succeeded' } & Ended)
  | ({ readonly kind: 'attempt-failed' } & Ended)
  /** For good; `launchedAt` is that of its last attempt. */
  | { readonly kind: 'request-failed'; readonly at: number; readonly launchedAt: number }
  | { readonly kind: 'probe-launched'; readonly at: number; readonly until: number }
  /** Whoever asked does not want to know any more: it says nothing. */
  | { readonly kind: 'probe-abandoned'; readonly at: number; readonly until: number }
  /** A success, and nobody is parked any more. */
  | { readonly kind: 'drained'; readonly at: number }
  | { readonly kind: 'back-online'; readonly at: number }
  | ({ readonly kind: 'hold-asked' } & HoldAsked)
  | { readonly kind: 'hold-disproved'; readonly at: number; readonly path: string };

export const initialRecord = (origin: string, group: string, now: number, { budget }: Guards): OriginRecord => ({
  origin,
  group,
  budget: fullBucket(now, budget),
  hold: NO_HOLD,
  circuit: CLOSED,
  usedAt: now,
});

/** The record after `event`. Pure, so that the store can apply it again to what another worker wrote meanwhile. */
export function advance(record: OriginRecord, event: OriginEvent, guards: Guards): OriginRecord {
  return { ...record, ...change(record, event, guards), usedAt: Math.max(record.usedAt, event.at) };
}

function change({ budget, hold, circuit }: OriginRecord, event: OriginEvent, guards: Guards): Partial<OriginRecord> {
  switch (event.kind) {
    case 'retry-reserved':
      return { budget: spend(budget, event.cost, event.at, guards.budget) };
    case 'retry-refunded':
      return { budget: refund(budget, event, event.at, guards.budget) };
    case 'request-began':
      return { budget: deposit(budget, event.at, guards.budget) };
    case 'first-try-succeeded':
      return { budget: credit(budget, event.at, guards.budget) };
    case 'attempt-succeeded':
      return { circuit: attemptSucceeded(circuit, event, guards.circuit) };
    case 'attempt-failed':
      return { circuit: attemptFailed(circuit, event, guards.circuit) };
    case 'request-failed':
      return { circuit: requestFailed(circuit, event.launchedAt, event.at, guards.circuit) };
    case 'probe-launched':
      return { circuit: probing(circuit, event.at, event.until) };
    case 'probe-abandoned':
      return { circuit: probed(circuit, event.until) };
    case 'drained':
      return { circuit: close(circuit, event.at) };
    case 'back-online':
      return { circuit: halfOpen(circuit, event.at) };
    case 'hold-asked':
      return { hold: holdFor(hold, event) };
    case 'hold-disproved':
      return { hold: endHold(hold, event.path) };
  }
}

/** Failed attempts are not worth keeping a record for any longer. */
const REMEMBERED_MS = 60_000;

/** A record that says no more than a new one need not be kept. */
export function isInitial({ budget, hold, circuit, usedAt }: OriginRecord, now: number, guards: Guards): boolean {
  const full = isFull(budget, now, guards.budget);
  const quiet = circuit.openUntil === 0 && circuit.failures === 0 && now - circuit.changedAt >= guards.circuit.resetMs;
  // Where other servers stand in for it, nothing but its attempts shows that one keeps failing.
  const remembers = circuit.recent.includes('0') && now - usedAt < REMEMBERED_MS;
  return full && quiet && !remembers && !isHolding(hold, now);
}
