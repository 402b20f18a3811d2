import type { GiveUpReason } from '../policy/index.js';

/** What a layer says of itself. Counters run since its worker was last started. */
export interface LayerStatus {
  readonly version: string;
  /** `memory`: the database cannot be used, so the state is lost when the worker stops. */
  readonly storage: 'indexeddb' | 'memory';
  readonly counters: Counters;
  /** Origins and groups whose budget is not full. */
  readonly origins: readonly OriginStatus[];
}

export interface Counters {
  /** Requests that were intercepted. */
  readonly requests: number;
  /** Attempts launched for them, the first of each included. */
  readonly attempts: number;
  readonly retries: number;
  /** Attempts per request. */
  readonly amplification: number;
  readonly recovered: number;
  readonly gaveUp: Readonly<Partial<Record<GiveUpReason, number>>>;
}

export interface OriginStatus {
  readonly origin: string;
  readonly group: string;
  readonly tokens: number;
  readonly capacity: number;
}
