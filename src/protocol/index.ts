/** What crosses between worker and page: plain data, checked at both ends. */
export { EVENT_TYPES } from './event-shapes.js';
export type {
  BudgetExhausted,
  EventOf,
  GaveUp,
  LayerEvent,
  OriginNotice,
  Recovered,
  Released,
  RequestEvent,
  RetryScheduled,
  Waiting,
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
