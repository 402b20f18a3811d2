/** The pure core: policies as data and the functions that evaluate them. No clock, no chance, no browser. */
export {
  additiveJitter,
  type Backoff,
  constant,
  decorrelatedJitter,
  delayMs,
  equalJitter,
  exponential,
  fullJitter,
  type JitterOrder,
  linear,
  list,
  MAX_DELAY_MS,
  proportionalJitter,
} from './backoff.js';
export {
  affords,
  BUDGET_DEFAULTS,
  type Bucket,
  type BudgetOptions,
  type BudgetPolicy,
  credit,
  deposit,
  fullBucket,
  refill,
  refund,
  resolveBudget,
  spend,
  type TokenBudget,
  type WindowedBudget,
} from './budget.js';
export { checkRetryOptions } from './check.js';
export { CIRCUIT_DEFAULTS, type CircuitPolicy, type CircuitState } from './circuit.js';
export { type Decision, decide, type GiveUpReason, type Situation, type WaitBy } from './decide.js';
export { type Group, type RequestFacts, type SkipReason, skipReason } from './eligibility.js';
export { RetryLayerError, type RetryLayerErrorCode } from './errors.js';
export { parseHttpDate } from './http-date.js';
export type { Cause, Outcome } from './outcome.js';
export {
  DEFAULTS,
  type HoldBodyPolicy,
  NAVIGATION_DEFAULTS,
  type RetryAfterPolicy,
  type RetryOptions,
  type RetryPolicy,
  resolvePolicy,
  type StatusRule,
} from './policy.js';
export { type Presets, presets } from './presets.js';
export { rateLimitWaitMs } from './rate-limit.js';
export { parseRetryAfter, type TimeHeaders } from './retry-after.js';
