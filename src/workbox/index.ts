/** Retries inside a Workbox or Serwist worker: `registerRoute(match, withRetry(new NetworkFirst(), policy))`. */

import { createRetries } from './retries.js';

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
export type { LayerEvent } from '../protocol/index.js';
export type { SharedOptions } from './options.js';
export type { RetryHandler } from './retry-handler.js';
export type { StrategyLike } from './strategy.js';

/** All of a worker's strategies and handlers have one engine. */
export const { configureRetries, retryHandler, withRetry } = createRetries();
