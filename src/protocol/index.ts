/** What crosses between worker and page: plain data, checked at both ends. */
export { EVENT_TYPES } from './event-shapes.js';
export type {
  BudgetExhausted,
  CircuitChanged,
  EventOf,
  GaveUp,
  HedgeLaunched,
  HoldEnded,
  HoldStarted,
  LayerEvent,
  OriginNotice,
  OutboxNotice,
  Queued,
  QueueFailed,
  QueueSent,
  Recovered,
  Released,
  RequestEvent,
  Resumed,
  RetryScheduled,
  WaitCause,
  Waiting,
} from './events.js';
export { CHANNEL, type Gossip, parseGossip, toGossip } from './gossip.js';
export {
  type PageMessage,
  parsePageMessage,
  parseWorkerMessage,
  toMessage,
  type Unread,
  type WorkerMessage,
} from './messages.js';
export { checkOwner, type OutboxItem, type OutboxWish, toItem, withoutQuery } from './outbox.js';
export { type Override, parseOverride, withOverride } from './overrides.js';
export type { Counters, LayerStatus, OriginStatus } from './status.js';
export { DATABASE, isCompatible, OFFLINE_CACHE, OUTBOX_DATABASE, PROTOCOL, REMEDY, VERSION } from './version.js';
