import type { NextStep } from '../policy/decide.js';
import type { GiveUpReason, Outcome, RequestFacts, RetryPolicy } from '../policy/index.js';
import type { Guards } from '../policy/origin-record.js';
import type { WaitCause } from '../protocol/index.js';
import type { BodyLedger } from './body.js';
import type { Classifier } from './classify.js';
import type { Device } from './device.js';
import type { Hedging } from './hedging.js';
import type { OriginBook, OriginKey } from './origin-book.js';
import type { Parking } from './parking.js';
import type { Ports } from './ports.js';
import type { Races } from './races.js';
import type { Waker } from './waker.js';

/** One request on its way through the engine. */
export interface Call {
  readonly request: Request;
  readonly facts: RequestFacts;
  readonly policy: RetryPolicy;
  readonly group: string;
  /** An answer that the browser has asked for already (navigation preload): attempt 1, unless it resolves to nothing. */
  readonly first?: Promise<Response | undefined> | undefined;
  /** The browser is asking for it already, and gives what it gets to attempt 1: that one is neither held nor refused. */
  readonly raced?: boolean;
  /** Attempts that count as made before the first. @defaultValue 0 */
  readonly spent?: number;
  /** May the answer be a stream of ours? Not where such a one may end early without a word. @defaultValue it may */
  readonly streams?: boolean;
  /** Ends it: nothing further is sent, and the answer is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Has whoever asked gone away? Asked before each further attempt. @defaultValue nobody goes */
  readonly isGone?: (() => Promise<boolean>) | undefined;
  /** May this origin be asked in place of the page's own choice? @defaultValue every one may */
  readonly mayAsk?: (origin: string) => boolean;
  /** Is a device that is offline waited for? @defaultValue true */
  readonly waitsOffline?: boolean;
  /** What the user's own function says of an attempt. */
  readonly classify?: Classifier | undefined;
  /** The longest that all of it may take now, whatever the policy says. @defaultValue as long as that says */
  readonly ceilingMs?: (() => number) | undefined;
  /** The most attempts that it may have now, whatever the policy says. @defaultValue as many as that says */
  readonly mostAttempts?: () => number;
  /** Told each step that a user can notice. Never throws. */
  readonly tell: (step: Step) => void;
  /** Keeps the worker alive for work that outlasts the answer. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

/** What is told of a run; the teller adds which request it was. */
export type Step =
  | {
      readonly type: 'retry-scheduled';
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly decision: Retry;
      /** The origin that is asked next, if it is not the page's own choice. */
      readonly mirror?: string;
    }
  | { readonly type: 'hedge-launched'; readonly attempt: number }
  | { readonly type: 'waiting' | 'released'; readonly cause: WaitCause }
  | { readonly type: 'recovered'; readonly attempts: number; readonly status: number }
  | { readonly type: 'resumed'; readonly resumptions: number; readonly fromByte: number }
  | {
      readonly type: 'gave-up';
      readonly attempts: number;
      readonly status: number | undefined;
      readonly reason: GiveUpReason;
    }
  | { readonly type: 'budget-exhausted' }
  | { readonly type: 'attempt'; readonly hedge?: boolean };

type Retry = NextStep & { do: 'retry' };

/** What all runs of a worker or page share. */
export interface Engine {
  readonly ports: Ports;
  readonly book: OriginBook;
  readonly guards: Guards;
  readonly parking: Parking;
  /** Tells the device's own network trouble from the servers'. */
  readonly device: Device;
  readonly races: Races;
  readonly hedging: Hedging;
  /** Ends waits that are only ours. */
  readonly waker: Waker;
  /** The device is back, or somebody wants to know: waits of ours end, and what is open may be tried. */
  readonly retryNow: (origin?: string) => void;
  readonly ledger: BodyLedger;
  /** Told that requests of this origin and group that wait elsewhere may go, one of them. */
  readonly onSuccess: (key: OriginKey) => void;
}
