import type { CircuitState, GiveUpReason } from '../policy/index.js';

/** What a layer says of itself. Counters run since its worker was last started. */
export interface LayerStatus {
  readonly version: string;
  /** `memory`: the database cannot be used, so the state is lost when the worker stops. */
  readonly storage: 'indexeddb' | 'memory';
  readonly counters: Counters;
  /** All requests are left alone. */
  readonly paused?: boolean;
  /** `observe`: nothing is retried, and what would have been is counted. */
  readonly mode?: 'retry' | 'observe';
  /** Origins and groups with something to say: a budget that is not full, a hold, a circuit that is or was open. */
  readonly origins: readonly OriginStatus[];
}

export interface Counters {
  /** Requests that were intercepted. */
  readonly requests: number;
  /** Attempts launched for them, the first of each included. */
  readonly attempts: number;
  readonly retries: number;
  /** Attempts beside one that was slow; they are not retries. */
  readonly hedges: number;
  /** Attempts per request. */
  readonly amplification: number;
  readonly recovered: number;
  /** How often downloads that broke off were gone on with. Absent: never. */
  readonly resumed?: number;
  readonly gaveUp: Readonly<Partial<Record<GiveUpReason, number>>>;
  /** Events that pages were not told, because there were more than 20 a second of them. */
  readonly untold: number;
  /** In mode `observe`: what would have been done about the first answers. */
  readonly observed?: Readonly<Partial<Record<'deliver' | 'retry' | 'wait-online' | 'park' | 'give-up', number>>>;
}

export interface OriginStatus {
  readonly origin: string;
  readonly group: string;
  readonly tokens: number;
  readonly capacity: number;
  readonly circuit: CircuitState;
  /** 0: closed. Epoch milliseconds. */
  readonly openUntil: number;
  /** The whole group is held until then; 0 or past: it is not. */
  readonly heldUntil: number;
  /** Requests that wait in this worker for a sign of life of it. */
  readonly parked: number;
  /** Single paths that are held, and until when. */
  readonly heldPaths: Readonly<Record<string, number>>;
}
