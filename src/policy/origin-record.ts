import { type Bucket, type BudgetPolicy, earn, fullBucket, refill, spend } from './budget.js';

/** What is remembered of one origin and group, shared by all tabs and kept over worker restarts. */
export interface OriginRecord {
  readonly origin: string;
  readonly group: string;
  readonly budget: Bucket;
}

/** What can happen to a record. `at` is when it happened (epoch milliseconds), which may be before it is stored. */
export type OriginEvent =
  | { readonly kind: 'retry-reserved'; readonly at: number; readonly cost: number }
  /** The retry never launched, or it succeeded: either way its price comes back. */
  | { readonly kind: 'retry-refunded'; readonly at: number; readonly cost: number }
  | { readonly kind: 'first-try-succeeded'; readonly at: number };

export const initialRecord = (origin: string, group: string, now: number, budget: BudgetPolicy): OriginRecord => ({
  origin,
  group,
  budget: fullBucket(now, budget),
});

/** The record after `event`. Pure, so that the store can apply it again to what another worker wrote meanwhile. */
export function advance(record: OriginRecord, event: OriginEvent, policy: BudgetPolicy): OriginRecord {
  switch (event.kind) {
    case 'retry-reserved':
      return { ...record, budget: spend(record.budget, event.cost, event.at, policy) };
    case 'retry-refunded':
      return { ...record, budget: earn(record.budget, event.cost, event.at, policy) };
    case 'first-try-succeeded':
      return { ...record, budget: earn(record.budget, policy.successCredit, event.at, policy) };
  }
}

/** A record that says no more than a new one need not be kept. */
export const isInitial = (record: OriginRecord, now: number, policy: BudgetPolicy): boolean =>
  refill(record.budget, now, policy).tokens >= policy.capacity;

/**
 * Reads a record that may have been written by another version or damaged: `undefined` unless every field is what it
 * should be. Tokens are clamped to the budget in force, an instant in the future to now.
 */
export function reviveRecord(value: unknown, now: number, policy: BudgetPolicy): OriginRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { origin, group, budget } = value as Partial<OriginRecord>;
  if (typeof origin !== 'string' || typeof group !== 'string' || typeof budget !== 'object' || budget === null) {
    return undefined;
  }
  const { tokens, at } = budget;
  if (!Number.isFinite(tokens) || !Number.isFinite(at)) return undefined;
  return {
    origin,
    group,
    budget: { tokens: Math.min(policy.capacity, Math.max(0, tokens)), at: Math.min(at, now) },
  };
}
