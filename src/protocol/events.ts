import type { Cause, CircuitState, GiveUpReason, WaitBy } from '../policy/index.js';
import type { OutboxFailure } from '../policy/outbox-entry.js';

/**
 * What pages are told of a request that did not succeed at once. Nothing is told of one that did. `url` is origin and
 * path: no query, no fragment, and never a header or a body.
 */
export type RequestEvent = RetryScheduled | Waiting | Released | HedgeLaunched | Recovered | Resumed | GaveUp;

/** What pages are told of an origin; every page hears it. */
export type OriginNotice = BudgetExhausted | HoldStarted | HoldEnded | CircuitChanged;

/** What pages are told of the outbox; every page hears it. */
export type OutboxNotice = Queued | QueueSent | QueueFailed;

export type LayerEvent = RequestEvent | OriginNotice | OutboxNotice;

interface AboutRequest {
  /** The same for all events of one request. */
  readonly id: string;
  /** When it happened (epoch milliseconds), as all instants. */
  readonly at: number;
  /** Of the request. */
  readonly method: string;
  /** Origin and path. */
  readonly url: string;
  /** `page`, `asset`, `data` or the name of its route. */
  readonly group: string;
  /** Milliseconds since the request began. */
  readonly elapsedMs: number;
}

/** A retry will start in `delayMs`, unless it is cancelled meanwhile (the page leaves, an earlier attempt answers). */
export interface RetryScheduled extends AboutRequest {
  readonly type: 'retry-scheduled';
  /** The attempt that failed, 1-based. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly cause: Cause;
  /** Where the cause is a status. */
  readonly status?: number;
  /** Whose time it is: ours, the one the server named, or the one its `RateLimit` hinted at. */
  readonly by: WaitBy;
  /** The origin that is asked next, where that is a mirror. */
  readonly mirror?: string;
}

/** An attempt takes long: another was sent beside it, and the first good answer counts. */
export interface HedgeLaunched extends AboutRequest {
  readonly type: 'hedge-launched';
  /** The one that was sent, 1-based. */
  readonly attempt: number;
}

/** What a request waits for besides its own backoff: the network, a time the server named, or a sign of life of it. */
export type WaitCause = 'offline' | 'hold' | 'circuit';

/** The request waits for something that all requests of its origin and group wait for. */
export interface Waiting extends AboutRequest {
  readonly type: 'waiting';
  readonly cause: WaitCause;
}

/** What it waited for came. */
export interface Released extends AboutRequest {
  readonly type: 'released';
  readonly cause: WaitCause;
}

/** A later attempt brought an answer that is not retried. */
export interface Recovered extends AboutRequest {
  readonly type: 'recovered';
  /** Those that failed while the device was offline do not count. */
  readonly attempts: number;
  readonly status: number;
}

/** A download that broke off goes on, or is found to have been at its end. It may break off once more. */
export interface Resumed extends AboutRequest {
  readonly type: 'resumed';
  /** How often it has been gone on with, this time included. */
  readonly resumptions: number;
  /** What the page has, or is about to have: it goes on with this byte, counted from 0. */
  readonly fromByte: number;
}

/** The page gets the last answer or error as it is. */
export interface GaveUp extends AboutRequest {
  readonly type: 'gave-up';
  /** Those that failed while the device was offline do not count. */
  readonly attempts: number;
  /** Absent if no attempt brought an answer. */
  readonly lastStatus?: number;
  readonly reason: GiveUpReason;
}

/** Retries to this origin and group stop until time or successes have paid for more. */
export interface BudgetExhausted {
  readonly type: 'budget-exhausted';
  readonly at: number;
  readonly origin: string;
  readonly group: string;
}

/** The server asked for time: requests to this origin and group, or to `path` only, wait until then. */
export interface HoldStarted {
  readonly type: 'hold-started';
  readonly at: number;
  readonly origin: string;
  readonly group: string;
  readonly until: number;
  readonly path?: string;
}

/** That time is over, or the server has answered well before it was. */
export interface HoldEnded {
  readonly type: 'hold-ended';
  readonly at: number;
  readonly origin: string;
  readonly group: string;
}

/** The circuit of an origin and group has opened, or has closed again. */
export interface CircuitChanged {
  readonly type: 'circuit-changed';
  readonly at: number;
  readonly origin: string;
  readonly group: string;
  readonly from: CircuitState;
  readonly to: CircuitState;
  /** When the first request tries again, where it is open. */
  readonly openUntil?: number;
}

interface AboutEntry {
  /** When it happened (epoch milliseconds). */
  readonly at: number;
  /** The entry's; a request that could not be kept has none. */
  readonly id: string;
  /** The name of its outbox. */
  readonly outbox: string;
  /** Of the request. */
  readonly method: string;
  /** Origin and path. */
  readonly url: string;
}

/** A request that could not be delivered is kept, and will be sent again. */
export interface Queued extends AboutEntry {
  readonly type: 'queued';
}

/** Its server has taken it. */
export interface QueueSent extends AboutEntry {
  readonly type: 'queue-sent';
  readonly status: number;
  readonly sends: number;
}

/** It is not sent any more, unless somebody asks for that: `outbox.retry(id)`. */
export interface QueueFailed extends AboutEntry {
  readonly type: 'queue-failed';
  /** `cancelled`: by a page; `not-stored`: it could not be kept, and the page that asked was told so. */
  readonly reason: OutboxFailure | 'cancelled' | 'not-stored';
  readonly status?: number;
  readonly sends: number;
}

export type EventOf<Type extends LayerEvent['type']> = Extract<LayerEvent, { type: Type }>;
