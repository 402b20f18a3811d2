import { checkBudgetOptions, checkCircuitOptions, func, isRetryOption, object } from '../policy/check.js';
import type { RetryLayerOptions } from '../worker/options.js';

/** What all strategies and handlers of a worker share; how each of them retries is its policy. */
export type SharedOptions = Pick<RetryLayerOptions, 'budget' | 'circuit' | 'onEvent'>;

const checkOptions = object({ budget: checkBudgetOptions, circuit: checkCircuitOptions, onEvent: func }, [], (key) =>
  isRetryOption(key) ? 'into the policy of `withRetry` or `retryHandler`' : undefined,
);

/** Throws a {@link RetryLayerError} that names the option, the value and the remedy. */
export function checkShared(options: unknown): asserts options is SharedOptions {
  checkOptions(options, '');
}
