/** Retries without a worker: `const retryFetch = createRetryFetch()`, and `retry(task)` for anything that may fail. */

export type { Classified, Classify } from '../engine/index.js';
export {
  additiveJitter,
  type Backoff,
  constant,
  decorrelatedJitter,
  equalJitter,
  exponential,
  fullJitter,
  linear,
  list,
  type Presets,
  presets,
  proportionalJitter,
  RetryLayerError,
  type RetryOptions,
} from '../policy/index.js';
export type { EventOf, LayerEvent, LayerStatus } from '../protocol/index.js';
export type { RetryFetchOptions, RetryRequestInit, TaskOptions, TaskPolicy } from './options.js';
export { retry, type Task } from './retry.js';
export { createRetryFetch, type RetryFetch } from './retry-fetch.js';
