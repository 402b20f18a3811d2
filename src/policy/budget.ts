/** The retry budget of one origin and group: a token bucket, as one plain value. */
export interface Bucket {
  readonly tokens: number;
  /** When `tokens` was true (epoch milliseconds). */
  readonly at: number;
}

export interface BudgetPolicy {
  /** Most tokens there can be, and what a new origin starts with. @defaultValue 20 */
  readonly capacity: number;
  /** What a retry costs; given back when that retry succeeds. @defaultValue 1 */
  readonly retryCost: number;
  /** What a retry after 429 or 503 costs. @defaultValue 1 */
  readonly throttledCost: number;
  /** What a request that succeeds at its first try earns. @defaultValue 0.2 */
  readonly successCredit: number;
  /** What time alone earns. @defaultValue 0.1 */
  readonly refillPerSecond: number;
}

export const BUDGET_DEFAULTS: BudgetPolicy = Object.freeze({
  capacity: 20,
  retryCost: 1,
  throttledCost: 1,
  successCredit: 0.2,
  refillPerSecond: 0.1,
});

export const fullBucket = (now: number, { capacity }: BudgetPolicy): Bucket => ({ tokens: capacity, at: now });

/** What time has earned. A stored instant in the future (a clock set back) counts as now and takes nothing away. */
export function refill(bucket: Bucket, now: number, { refillPerSecond, capacity }: BudgetPolicy): Bucket {
  const elapsedMs = Math.max(0, now - bucket.at);
  return { tokens: Math.min(capacity, bucket.tokens + (elapsedMs * refillPerSecond) / 1_000), at: now };
}

/** Are there tokens for something that costs `cost` now? */
export const affords = (bucket: Bucket, cost: number, now: number, policy: BudgetPolicy): boolean =>
  // A tenth that was added ten times is a little less than one.
  refill(bucket, now, policy).tokens + 1e-9 >= cost;

/** Never below zero, even if workers that spend at the same time overspend a little. */
export function spend(bucket: Bucket, cost: number, now: number, policy: BudgetPolicy): Bucket {
  const { tokens } = refill(bucket, now, policy);
  return { tokens: Math.max(0, tokens - cost), at: now };
}

/** Gives tokens back (a refund) or in (a credit), never above the capacity. */
export function earn(bucket: Bucket, amount: number, now: number, policy: BudgetPolicy): Bucket {
  const { tokens } = refill(bucket, now, policy);
  return { tokens: Math.min(policy.capacity, tokens + amount), at: now };
}
