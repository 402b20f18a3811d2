import type { Outcome } from '../policy/outcome.js';
import type { Random } from './random.js';

/** What a server does, as plain data. */
export interface OriginScript {
  /** From the launch of an attempt to its headers or its failure. */
  readonly latencyMs: number;
  /** The first that matches an attempt decides; without any it is answered well. */
  readonly faults?: readonly Fault[];
  /** Attempts a second that can be answered; what is more is turned away with 503. */
  readonly capacityPerSecond?: number;
  /** What its 503 answers name as `Retry-After`. @defaultValue nothing */
  readonly retryAfter?: string;
}

/** A way to fail, and which attempts it is for: those that everything here is true of. */
export interface Fault {
  readonly as: FaultKind;
  /** Share of the attempts. @defaultValue all */
  readonly share?: number;
  /** From when on. @defaultValue the start */
  readonly fromMs?: number;
  /** Until before when. @defaultValue for ever */
  readonly untilMs?: number;
  /** One endpoint. @defaultValue every path */
  readonly path?: string;
}

/** A lost connection, an answer 500 or 503, or no answer until the attempt times out. */
export type FaultKind = 'reset' | 500 | 503 | 'hang';

export interface Reply {
  readonly outcome: Outcome;
  readonly afterMs: number;
}

export interface Origin {
  reply(attempt: { readonly at: number; readonly path: string; readonly timeoutMs: number }): Reply;
}

const GOOD: Outcome = Object.freeze({ kind: 'response', status: 200 });

export function createOrigin(script: OriginScript, random: Random): Origin {
  const { latencyMs, faults = [], retryAfter } = script;
  const hasRoom = createGate(script.capacityPerSecond);
  return {
    reply({ at, path, timeoutMs }) {
      const fault = faults.find((fault) => applies(fault, at, path, random));
      if (fault !== undefined) return failure(fault.as, latencyMs, timeoutMs, retryAfter);
      return hasRoom(at) ? { outcome: GOOD, afterMs: latencyMs } : failure(503, latencyMs, timeoutMs, retryAfter);
    },
  };
}

const applies = (
  { share = 1, fromMs = 0, untilMs = Number.POSITIVE_INFINITY, path }: Fault,
  at: number,
  asked: string,
  random: Random,
): boolean =>
  at >= fromMs && at < untilMs && (path === undefined || path === asked) && (share >= 1 || random() < share);

function failure(as: FaultKind, latencyMs: number, timeoutMs: number, retryAfter: string | undefined): Reply {
  if (as === 'hang') return { outcome: { kind: 'timeout', afterMs: timeoutMs }, afterMs: timeoutMs };
  if (as === 'reset') return { outcome: { kind: 'network-error' }, afterMs: latencyMs };
  const time = as === 503 && retryAfter !== undefined ? { time: { retryAfter, date: null, age: null } } : {};
  return { outcome: { kind: 'response', status: as, ...time }, afterMs: latencyMs };
}

/** How much of its capacity a server can use at once: a tenth of a second of it. */
const BURST_SECONDS = 0.1;

function createGate(perSecond: number | undefined): (at: number) => boolean {
  if (perSecond === undefined) return () => true;
  const most = Math.max(1, perSecond * BURST_SECONDS);
  let room = most;
  let last = 0;
  return (at) => {
    room = Math.min(most, room + ((at - last) / 1_000) * perSecond);
    last = at;
    if (room < 1) return false;
    room -= 1;
    return true;
  };
}
