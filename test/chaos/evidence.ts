import type { Step } from '../../demo/misbehaving-server.ts';
import type { OutboxItem } from '../../src/page/index.ts';
import type { Plan } from './plan.ts';

/** What a page says has come of one of its requests. */
export interface Report {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly came: Came;
}

export type Came =
  /** An answer, read to its end. `kept`: the entry that an outbox has promised. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly type: string;
      readonly url: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly kept?: string;
    }
  /** An answer whose body could not be read to its end. */
  | { readonly kind: 'broken'; readonly status: number; readonly bytes: number }
  | { readonly kind: 'error'; readonly error: string }
  /** A subresource or a document; `proof` is what only its own body could have done. */
  | { readonly kind: 'loaded'; readonly proof: string }
  /** The page has read some of it, and then said that it wants no more. */
  | { readonly kind: 'cancelled' };

/** One request as the server saw it, with what it did about it. */
export interface ServerHit {
  readonly id: string;
  readonly at: number;
  readonly method: string;
  readonly key?: string;
  readonly step: Step;
  /** Whether all bytes of the request have come, and were those of the plan. */
  readonly body: 'same' | 'other' | 'partial';
}

/** What a run leaves behind. Instants are epoch milliseconds of the one machine that it runs on. */
export interface Evidence {
  readonly plan: Plan;
  readonly site: { readonly first: string; readonly second: string };
  readonly issuedAt: ReadonlyMap<string, number>;
  /** When the pages were waited for no longer. */
  readonly endedAt: number;
  readonly reports: readonly Report[];
  readonly hits: readonly ServerHit[];
  readonly kills: readonly number[];
  readonly flips: readonly { readonly from: number; readonly to: number }[];
  readonly closes: readonly { readonly tab: number; readonly at: number }[];
  /** All entries, some time after the server was well again. */
  readonly outbox: readonly OutboxItem[];
  /** Rejections that nobody handled, errors, and what the layer itself has complained of. */
  readonly complaints: readonly string[];
  /** Ids of exchanges that were still open when all that their servers would have ended was over. */
  readonly stillOpen: readonly string[];
  readonly openSockets: number;
  readonly memory: Memory;
}

/** Of the worker: after its last restart and a warm-up, and at the end. */
export interface Memory {
  readonly heapBytes: { readonly before: number; readonly after: number };
  /** What has no end yet. */
  readonly left: {
    readonly answers: number;
    readonly fetches: number;
    readonly timers: number;
    readonly parked: number;
    readonly records: number;
  };
  /** Of uploads of 1 MiB each, which fit only if nothing of all those before is kept: how many were sent again. */
  readonly uploadsReplayed: number;
}
