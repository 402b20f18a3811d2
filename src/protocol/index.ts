/** What crosses between worker and page: plain data, checked at both ends. */
export {
  type BudgetExhausted,
  EVENT_TYPES,
  type EventOf,
  type GaveUp,
  type LayerEvent,
  type OriginNotice,
  type Recovered,
  type Released,
  type RequestEvent,
  type RetryScheduled,
  type Waiting,
} from './events.js';
export {
  type PageMessage,
  parsePageMessage,
  parseWorkerMessage,
  toMessage,
  type Unread,
  type WorkerMessage,
} from './messages.js';
export type { Counters, LayerStatus, OriginStatus } from './status.js';
export { isCompatible, PROTOCOL, VERSION } from './version.js';
