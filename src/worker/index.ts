/** The service-worker side: `createRetryLayer(options).listen()`. */

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
export type { LayerEvent, LayerStatus } from '../protocol/index.js';
export type { Candidate, Match, RetryLayerOptions, Route } from './options.js';
export { createRetryLayer, type RetryLayer } from './retry-layer.js';
