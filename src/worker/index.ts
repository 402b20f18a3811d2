/** The service-worker side: `createRetryLayer(options).listen()`. */

export type { Classified, Classify } from '../engine/index.js';
export type { Prepare } from '../outbox/index.js';
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
export type { OutboxPolicy } from '../policy/outbox.js';
export type { LayerEvent, LayerStatus, OutboxItem } from '../protocol/index.js';
export type { Candidate, Match, RetryLayerOptions, Route } from './options.js';
export { createRetryLayer, type RetryLayer } from './retry-layer.js';
