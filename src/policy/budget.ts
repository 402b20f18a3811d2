/** The retry budget of one origin and group, as one plain value. */
export interface Bucket {
  readonly tokens: number;
  /** When `tokens` was true (epoch milliseconds). */
  readonly at: number;
  /** Of a windowed budget: when each slot of its window began, and what was paid in during it, less what was spent. */
  readonly slots?: readonly (readonly [from: number, net: number])[];
}

/** How retries are paid for. */
export type BudgetPolicy = TokenBudget | WindowedBudget;

/** A token bucket: what was spent comes back with time and successes. */
export interface TokenBudget {
  /** Tokens; `windowed` is the other kind. @defaultValue tokens */
  readonly kind: 'tokens';
  /** Most tokens that an origin and group can have, and what they start with. @defaultValue 20 */
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

/** A share of the traffic of the last while: each request pays something in, and each retry takes 1. */
export interface WindowedBudget {
  readonly kind: 'windowed';
  /** What each request pays in, whatever becomes of it: 0.1 allows one retry for ten requests. */
  readonly ratio: number;
  /** Retries a second that are allowed without any traffic. */
  readonly perSecond: number;
  /** After this what was paid in and what was spent counts no more. */
  readonly windowMs: number;
}

/** What a user may say: a whole windowed budget, or any part of a token bucket. */
export type BudgetOptions = Partial<TokenBudget> | WindowedBudget;

export const resolveBudget = (options: BudgetOptions = {}): BudgetPolicy =>
  options.kind === 'windowed' ? { ...options } : { ...BUDGET_DEFAULTS, ...options };

export const BUDGET_DEFAULTS: TokenBudget = /* @__PURE__ */ Object.freeze({
  kind: 'tokens',
  capacity: 20,
  retryCost: 1,
  throttledCost: 1,
  successCredit: 0.2,
  refillPerSecond: 0.1,
});

/** What a new origin has, and what a token bucket has at most. */
export const capacityOf = (policy: BudgetPolicy): number =>
  policy.kind === 'tokens' ? policy.capacity : (policy.perSecond * policy.windowMs) / 1_000;

export const fullBucket = (now: number, policy: BudgetPolicy): Bucket => ({ tokens: capacityOf(policy), at: now });

/** What a retry costs; `throttled`: after a 429 or 503. */
export function costOf(throttled: boolean, policy: BudgetPolicy): number {
  if (policy.kind === 'windowed') return 1;
  return throttled ? policy.throttledCost : policy.retryCost;
}

/**
 * What there is at `now`: time has earned something, or what is older than the window no longer counts. A stored instant
 * in the future (a clock set back) counts as now and takes nothing away.
 */
export function refill(bucket: Bucket, now: number, policy: BudgetPolicy): Bucket {
  if (policy.kind === 'windowed') {
    const slots = liveSlots(bucket, now, policy);
    const net = slots.reduce((sum, [, paid]) => sum + paid, 0);
    return { tokens: Math.max(0, capacityOf(policy) + net), at: now, slots };
  }
  const elapsedMs = Math.max(0, now - bucket.at);
  const tokens = Math.min(policy.capacity, bucket.tokens + (elapsedMs * policy.refillPerSecond) / 1_000);
  return { tokens, at: now };
}

/** Does it say no more than a new one? */
export function isFull(bucket: Bucket, now: number, policy: BudgetPolicy): boolean {
  if (policy.kind === 'windowed') return liveSlots(bucket, now, policy).length === 0;
  return refill(bucket, now, policy).tokens >= policy.capacity;
}

/** Are there tokens for something that costs `cost` now? */
export const affords = (bucket: Bucket, cost: number, now: number, policy: BudgetPolicy): boolean =>
  // In billionths: a tenth that was added ten times is a little less than one.
  Math.round((refill(bucket, now, policy).tokens - cost) * 1e9) >= 0;

/** Never below zero, even if workers that spend at the same time overspend a little. */
export const spend = (bucket: Bucket, cost: number, now: number, policy: BudgetPolicy): Bucket =>
  pay(bucket, -cost, now, policy);

/** What a retry had cost comes back: it never went out, or, where tokens are counted, it has succeeded. */
export function refund(
  bucket: Bucket,
  { cost, launched, reservedAt }: Refund,
  now: number,
  policy: BudgetPolicy,
): Bucket {
  if (policy.kind === 'tokens') return pay(bucket, cost, now, policy);
  // Where it was taken from, so that it counts as long as that does: elsewhere it would be an income.
  return pay(bucket, launched ? 0 : cost, now, policy, reservedAt);
}

interface Refund {
  readonly cost: number;
  readonly launched: boolean;
  readonly reservedAt: number;
}

/** A request begins. */
export const deposit = (bucket: Bucket, now: number, policy: BudgetPolicy): Bucket =>
  pay(bucket, policy.kind === 'windowed' ? policy.ratio : 0, now, policy);

/** A request has succeeded at its first try. */
export const credit = (bucket: Bucket, now: number, policy: BudgetPolicy): Bucket =>
  pay(bucket, policy.kind === 'tokens' ? policy.successCredit : 0, now, policy);

function pay(bucket: Bucket, amount: number, now: number, policy: BudgetPolicy, at = now): Bucket {
  if (policy.kind === 'tokens') {
    const { tokens } = refill(bucket, now, policy);
    return { tokens: Math.min(policy.capacity, Math.max(0, tokens + amount)), at: now };
  }
  if (amount === 0) return refill(bucket, now, policy);
  const from = slotOf(at, policy);
  const slots = new Map(liveSlots(bucket, now, policy));
  slots.set(from, (slots.get(from) ?? 0) + amount);
  return refill({ ...bucket, slots: [...slots] }, now, policy);
}

/** So that a record stays small, what happens within a tenth of the window counts as at its beginning. */
const SLOTS = 10;

function slotOf(at: number, { windowMs }: WindowedBudget): number {
  const slotMs = windowMs / SLOTS;
  return Math.floor(at / slotMs) * slotMs;
}

/** Those within the window, also if the clock has been set back by less than that since. */
const liveSlots = ({ slots = [] }: Bucket, now: number, { windowMs }: WindowedBudget) =>
  slots.filter(([from]) => Math.abs(now - from) < windowMs);
