import { circuitState, releases } from '../policy/circuit.js';
import { askedUntil } from '../policy/decide.js';
import type { Outcome, RequestFacts } from '../policy/index.js';
import type { Landing } from './attempt.js';
import type { Call, Engine } from './call.js';
import type { Flights } from './flights.js';
import type { OriginKey } from './origin-book.js';
import type { Target } from './target.js';

/** Why an attempt goes out, if it is not the request's own doing. */
export type As = 'probe' | 'released';

/** What the attempts of one request say about the servers they went to, told to everybody else. */
export interface Evidence {
  /** An attempt goes out. `passing`: through a hold, which a good answer then ends. */
  launched(attempt: number, target: Target, how: Launch): void;
  targetOf(attempt: number): Target;
  /** An attempt has come to something: for or against its server. */
  landed(landing: Landing, final: boolean): void;
  /** An attempt is overdue. If it fails in the end that is not held against its server once more. */
  overdue(attempt: number): void;
  /** What an answer that is not delivered says about the attempts to come, whichever attempt brought it; `now` is the run's clock. */
  learn(outcome: Outcome, from: Target, now: number): void;
  /** The request has failed for good. */
  failed(): void;
  /** Takes a place among the probes. */
  takePlace(target: Target): void;
  /** What a request was to find out, or was called for, is left to the next. */
  handOn(as: As | undefined, target: Target): void;
  /** The same for all that is under way. */
  letGo(): void;
}

interface Launch {
  /** Wall clock. */
  readonly launchedAt: number;
  readonly as?: As | undefined;
  readonly passing: boolean;
}

type Verdict = 'good' | 'failed' | 'lost' | 'nothing';

export function createEvidence(
  { facts, policy }: Call,
  flights: Flights,
  { book, parking, guards, ports, device, onSuccess }: Engine,
): Evidence {
  const targets = new Map<number, Target>();
  /** Attempts that have not testified yet. */
  const launches = new Map<number, Launch>();
  let lastLaunchedAt = 0;
  /** Its place among the probes, if it is one. */
  let probeUntil = 0;

  const targetOf = (attempt: number): Target => targets.get(attempt) as Target;

  function verdictOn(landing: Landing, final: boolean): Verdict {
    if (neverSent(landing)) return 'nothing';
    if (!saysNothing(landing, facts)) return final ? 'good' : 'error' in landing ? 'lost' : 'failed';
    // That its server can be reached is news while that is in doubt.
    const { circuit } = book.look(targetOf(landing.attempt).key);
    const inDoubt = circuitState(circuit, ports.now()) !== 'closed';
    return inDoubt && 'response' in landing ? 'good' : 'nothing';
  }

  function testify(attempt: number, verdictOf: () => Verdict): void {
    const launch = launches.get(attempt);
    // Once: an overdue attempt that fails in the end has been held against the server already.
    if (launch === undefined || !launches.delete(attempt)) return;
    const { as, launchedAt, passing } = launch;
    const target = targetOf(attempt);
    const { key } = target;
    const verdict = verdictOf();
    if (as === 'released') flights.place?.leave();
    const at = ports.now();
    const ended = { at, launchedAt, ...(as === undefined ? {} : { as }) };
    if (verdict === 'good') {
      book.record(key, { kind: 'attempt-succeeded', ...ended, ...(as === 'probe' ? { probeUntil } : {}) });
      if (passing) book.record(key, { kind: 'hold-disproved', at, path: facts.path });
      if (releases(book.look(key).circuit, launchedAt)) callNext(key, at);
      return;
    }
    // The device's own network is not the server's fault.
    if (verdict === 'nothing' || (verdict === 'lost' && device.isSuspect(key.origin, at))) {
      if (as === 'probe') handOn('probe', target);
      return;
    }
    book.record(key, { kind: 'attempt-failed', ...ended });
  }

  /** A success shows that the server is back: one of those that wait for it may go, here and elsewhere. */
  function callNext(key: OriginKey, at: number): void {
    parking.release(key);
    onSuccess(key);
    if (parking.isEmpty(key)) book.record(key, { kind: 'drained', at });
  }

  function handOn(as: As | undefined, { key }: Target): void {
    if (as === 'probe') book.record(key, { kind: 'probe-abandoned', at: ports.now(), until: probeUntil });
    if (as === 'released') parking.release(key);
  }

  return {
    launched(attempt, target, launch) {
      lastLaunchedAt = launch.launchedAt;
      targets.set(attempt, target);
      launches.set(attempt, launch);
    },
    targetOf,
    landed: (landing, final) => testify(landing.attempt, () => verdictOn(landing, final)),
    overdue: (attempt) => testify(attempt, () => 'failed'),
    learn(outcome, from, now) {
      if (outcome.kind !== 'response') return;
      from.discardedFresh ||= outcome.fresh === true;
      const at = ports.now();
      const until = askedUntil(outcome, from.facts, policy, at);
      if (until === undefined) return;
      from.notBefore = Math.max(from.notBefore ?? 0, now + until - at);
      if (until <= at) return;
      const { maxMs, overMax } = policy.retryAfter;
      // A policy that cuts the server's time short does not hold others for longer either.
      const held = overMax === 'truncate' ? Math.min(until, at + maxMs) : until;
      const { status } = outcome;
      book.record(from.key, { kind: 'hold-asked', at, status, path: facts.path, until: held, scope: policy.holdScope });
    },
    failed() {
      const { key } = targetOf(flights.launched);
      book.record(key, { kind: 'request-failed', at: ports.now(), launchedAt: lastLaunchedAt });
    },
    takePlace({ key }) {
      const at = ports.now();
      probeUntil = at + guards.circuit.probeMs;
      book.record(key, { kind: 'probe-launched', at, until: probeUntil });
    },
    handOn,
    letGo() {
      for (const [attempt, { as }] of launches) handOn(as, targetOf(attempt));
    },
  };
}

/** Whoever may not read an answer cannot tell good from bad, nor a lost connection from an answer that is refused. */
export const saysNothing = (landing: Landing, { choosy }: RequestFacts): boolean =>
  'response' in landing
    ? landing.response.type === 'opaque' || neverSent(landing)
    : choosy || isUnfixable(landing.outcome);

/** Is it a network error that no retry can fix, says the user's own function? Then it is not the server's. */
export const isUnfixable = ({ kind, verdict }: Outcome): boolean => kind === 'network-error' && verdict === 'deliver';

/** No answer of a server has this type: the worker itself may not ask for it. */
const neverSent = (landing: Landing): boolean => 'response' in landing && landing.response.type === 'error';
