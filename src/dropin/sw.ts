/** The worker side as one classic script: `importScripts('steadfetch.dropin.js')` puts it under `steadfetch`. */
export {
  additiveJitter,
  constant,
  createRetryLayer,
  decorrelatedJitter,
  equalJitter,
  exponential,
  fullJitter,
  linear,
  list,
  presets,
  proportionalJitter,
  RetryLayerError,
} from '../worker/index.js';
