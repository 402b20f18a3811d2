/** The page side: `const retries = await connect('/sw.js')`. */
export type {
  BudgetExhausted,
  CircuitChanged,
  EventOf,
  GaveUp,
  HedgeLaunched,
  HoldEnded,
  HoldStarted,
  LayerEvent,
  LayerStatus,
  OriginNotice,
  OutboxItem,
  OutboxNotice,
  Queued,
  QueueFailed,
  QueueSent,
  Recovered,
  Released,
  RequestEvent,
  RetryScheduled,
  Waiting,
} from '../protocol/index.js';
export { type RetryFetch, withRetry } from './bridge.js';
export type { CallOptions, FetchRetryOptions } from './call-options.js';
export { type ConnectOptions, connect, type Retries } from './connect.js';
export type { Listener } from './listeners.js';
export type { PageOutbox } from './outbox.js';
export type { ConnectState, WorkerUrl } from './register.js';
