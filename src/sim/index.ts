/**
 * A fleet of browsers and a server in virtual time, over the very policy that is shipped. No clock, no browser: the same seed gives
 * the same figures, in Node and in a page.
 */
export type { Guards, OriginRecord } from '../policy/origin-record.js';
export { type ClassicOptions, classic } from './classic.js';
export type { Flight, Hands, Strategy, Why } from './client.js';
export { type Clock, createClock } from './clock.js';
export { naive } from './naive.js';
export type { Fault, FaultKind, OriginScript } from './origin.js';
export { createRandom, type Random } from './random.js';
export {
  BROKEN_PATH,
  brokenEndpoint,
  FAILINGS,
  type Failing,
  failingScenario,
  OVERLOAD,
  overload,
  TRAFFICS,
  type TrafficName,
} from './scenarios.js';
export { type Figures, type Scenario, type SimulateOptions, simulate, type Traffic } from './simulate.js';
export { DEFAULT_GUARDS, steadfetch } from './steadfetch.js';
