/** The page side: `const retries = await connect('/sw.js')`. */
export type {
  BudgetExhausted,
  CircuitChanged,
  EventOf,
  GaveUp,
  HoldEnded,
  HoldStarted,
  LayerEvent,
  LayerStatus,
  OriginNotice,
  Recovered,
  Released,
  RequestEvent,
  RetryScheduled,
  Waiting,
} from '../protocol/index.js';
export { type ConnectOptions, connect, type Retries } from './connect.js';
export type { Listener } from './listeners.js';
export type { ConnectState } from './register.js';
