import { deadlineAt, startsInTime } from '../policy/deadline.js';
import { afterFailure, askedUntil, isFinal, type NextStep } from '../policy/decide.js';
import type { BudgetPolicy, GiveUpReason, Outcome, RequestFacts, RetryPolicy } from '../policy/index.js';
import { isThrottled } from '../policy/outcome.js';
import { cacheBypass, mayRace, takesOriginal } from '../policy/replay.js';
import { type Landing, land } from './attempt.js';
import { type BodyLedger, type KeptBody, keepBody } from './body.js';
import { cancelBody, discard } from './discard.js';
import type { OriginBook } from './origin-book.js';
import type { Ports } from './ports.js';
import type { Races } from './races.js';

/** One request on its way through the engine. */
export interface Call {
  readonly request: Request;
  readonly facts: RequestFacts;
  readonly policy: RetryPolicy;
  readonly group: string;
  /** An answer that the browser has asked for already (navigation preload): attempt 1, unless it resolves to nothing. */
  readonly first?: Promise<Response | undefined>;
  /** Told each step that a user can notice. Never throws. */
  readonly tell: (step: Step) => void;
  /** Keeps the worker alive for work that outlasts the answer. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

/** What is told of a run; the teller adds which request it was. */
export type Step =
  | { readonly type: 'retry-scheduled'; readonly attempt: number; readonly outcome: Outcome; readonly decision: Retry }
  | { readonly type: 'waiting' | 'released'; readonly cause: 'offline' }
  | { readonly type: 'recovered'; readonly attempts: number; readonly status: number }
  | {
      readonly type: 'gave-up';
      readonly attempts: number;
      readonly status: number | undefined;
      readonly reason: GiveUpReason;
    }
  | { readonly type: 'budget-exhausted' }
  | { readonly type: 'attempt' };

type Retry = NextStep & { do: 'retry' };

/** What all runs of a worker or page share. */
export interface Engine {
  readonly ports: Ports;
  readonly book: OriginBook;
  readonly budget: BudgetPolicy;
  readonly races: Races;
  readonly ledger: BodyLedger;
}

/** What is in flight and what has come of it: enough to answer the page if the rest of the run should fail. */
export interface Flights {
  launched: number;
  readonly inFlight: Map<number, Promise<Landing>>;
  /** The most recent answer whose body can still be read. */
  response: Response | undefined;
  /** The most recent answer that was discarded but is in memory; holds no connection. */
  kept: Response | undefined;
  /** The most recent network error; wrapped, because anything can be thrown. */
  failure: { readonly error: unknown } | undefined;
  /** Lets the request's body be sent again; whoever made the flights releases it. */
  body: KeptBody | undefined;
}

export const createFlights = (): Flights => ({
  launched: 0,
  inFlight: new Map(),
  response: undefined,
  kept: undefined,
  failure: undefined,
  body: undefined,
});

/** An answer for the page, or the network's own error. */
export type Result = { readonly response: Response } | { readonly error: unknown };

type Phase =
  /** The newest attempt is on its way; at `overtakeAt` the next may start beside it. */
  | { readonly kind: 'flying'; readonly overtakeAt?: number }
  /** The next attempt starts at `until`; it has been paid for. */
  | { readonly kind: 'waiting'; readonly until: number; readonly cost: number }
  /** The device is offline; it is asked again at `askAt`. */
  | { readonly kind: 'offline'; readonly askAt: number }
  /** No further attempt will start; what is in flight is waited for. */
  | { readonly kind: 'stopped'; readonly reason: GiveUpReason };

/** Sends a request as often as its policy allows until an answer is final. Throws only if the engine itself fails. */
export async function run(call: Call, flights: Flights, engine: Engine): Promise<Result> {
  const { request, facts, policy } = call;
  const { ports, book, races } = engine;
  const key = { origin: facts.origin, group: call.group };
  const now = neverBackwards(ports.now);
  const startedAt = now();
  const deadline = deadlineAt(startedAt, policy.totalMs);
  if (facts.hasBody) flights.body = keepBody(request, policy.maxReplayBytes, engine.ledger, ports);
  const paid = new Map<number, number>();
  /** Attempts that count against the limit: those that failed while the device was offline do not. */
  let counted = 0;
  /** How often an attempt has failed by each status or cause: some allow fewer retries than others. */
  const failures = new Map<number | string, number>();
  let discardedFresh = false;
  /** No attempt starts before: the latest time that any answer so far has named. */
  let notBefore: number | undefined;
  let previousDelayMs: number | undefined;
  /** Has anybody been told of trouble? Then they are told how it ended. */
  let troubled = false;

  function launch(cost?: number): Phase {
    const attempt = flights.launched + 1;
    counted += 1;
    const sent = attempt === 1 && call.first ? preloaded(call.first, request) : send(take(attempt));
    flights.launched = attempt;
    if (cost !== undefined) paid.set(attempt, cost);
    flights.inFlight.set(attempt, land(attempt, sent, ports.now));
    call.tell({ type: 'attempt' });
    const overtakes = mayRace(facts) && counted < policy.attempts;
    return overtakes ? { kind: 'flying', overtakeAt: now() + policy.attemptTimeoutMs } : { kind: 'flying' };
  }

  /** What an attempt fetches. While the device is offline even the last one takes a clone, because it will not count. */
  const take = (attempt: number): Request =>
    takesOriginal(facts, facts.hasBody ? counted : attempt, policy.attempts) && (attempt === 1 || ports.isOnline())
      ? request
      : request.clone();

  async function send(sent: Request): Promise<Response> {
    // Async, so that a fetch that throws is an outcome like any other.
    if (bypass() !== 'reload') return ports.fetch(sent);
    return ports.fetch(sent, { cache: 'reload', referrer: request.referrer, referrerPolicy: request.referrerPolicy });
  }

  async function preloaded(first: Promise<Response | undefined>, original: Request): Promise<Response> {
    return (await first) ?? ports.fetch(original);
  }

  const bypass = () => cacheBypass(facts, { discardedFresh, inFlight: flights.inFlight.size > 0 });

  /** The newest attempt failed or is overdue: what now? */
  async function react(outcome: Outcome): Promise<Phase> {
    const replayable = (await flights.body?.isReplayable()) !== false && bypass() !== 'impossible';
    await book.ready();
    const cost = isThrottled(outcome) ? engine.budget.throttledCost : engine.budget.retryCost;
    const how = outcome.kind === 'response' ? outcome.status : outcome.kind;
    const alike = (failures.get(how) ?? 0) + 1;
    const decision = afterFailure({
      outcome,
      request: facts,
      policy,
      attempt: counted,
      alike,
      now: now(),
      deadline,
      replayable,
      online: ports.isOnline(),
      affordable: book.affords(key, cost),
      previousDelayMs,
      ...(notBefore === undefined ? {} : { notBefore }),
      random: ports.random,
    });
    if (decision.do !== 'wait-online') failures.set(how, alike);
    switch (decision.do) {
      case 'give-up':
        if (decision.reason === 'budget' && book.noticesExhaustion(key)) call.tell({ type: 'budget-exhausted' });
        return { kind: 'stopped', reason: decision.reason };
      case 'wait-online':
        return waitOnline();
      case 'retry': {
        const until = now() + decision.delayMs;
        previousDelayMs = decision.delayMs;
        book.record(key, { kind: 'retry-reserved', at: now(), cost });
        call.keepAlive(book.written());
        await freeConnection();
        troubled = true;
        call.tell({ type: 'retry-scheduled', attempt: counted, outcome, decision });
        return { kind: 'waiting', until, cost };
      }
    }
  }

  /** No connection is held through a wait. */
  async function freeConnection(): Promise<void> {
    if (flights.response === undefined || flights.response === flights.kept) return;
    // One that is too large to keep leaves an earlier one: better an older answer than none.
    flights.kept = (await discard(flights.response, ports)) ?? flights.kept;
    flights.response = flights.kept;
  }

  function waitOnline(): Phase {
    counted -= 1;
    troubled = true;
    call.tell({ type: 'waiting', cause: 'offline' });
    return askLater();
  }

  const askLater = (): Phase => ({ kind: 'offline', askAt: Math.min(now() + ASK_ONLINE_MS, deadline) });

  /** Is the device back? Then go, but not all at the same moment. */
  function askOnline(): Phase {
    const leftMs = deadline - now();
    if (leftMs <= 0) return { kind: 'stopped', reason: 'offline' };
    if (!ports.isOnline()) return askLater();
    call.tell({ type: 'released', cause: 'offline' });
    const until = Math.max(notBefore ?? 0, now() + ports.random() * Math.min(ONLINE_SPREAD_MS, leftMs));
    if (until > deadline) return { kind: 'stopped', reason: 'retry-after' };
    return { kind: 'waiting', until, cost: 0 };
  }

  /** The newest attempt is overdue: the next may start beside it, if not too many of this origin are overtaken. */
  async function overtake(): Promise<Phase> {
    const leave = races.enter(facts.origin);
    if (leave === undefined) return { kind: 'flying' };
    let overtaken = false;
    try {
      const overdue = flights.inFlight.get(flights.launched);
      const next = await react({ kind: 'timeout', afterMs: policy.attemptTimeoutMs });
      overtaken = next.kind === 'waiting';
      if (overtaken) void overdue?.then(leave);
      return next;
    } finally {
      if (!overtaken) leave();
    }
  }

  /** What an answer that is not delivered says about the attempts to come, whichever attempt brought it. */
  function learn(outcome: Outcome): void {
    if (outcome.kind !== 'response') return;
    discardedFresh ||= outcome.fresh === true;
    const until = askedUntil(outcome, facts, policy, now());
    if (until !== undefined) notBefore = Math.max(notBefore ?? 0, until);
  }

  async function nextLanding(at: number | undefined): Promise<Landing | undefined> {
    if (at === undefined) return Promise.race(flights.inFlight.values());
    const timer = ports.sleep(Math.max(0, at - now()));
    const elapsed = timer.done.then(() => undefined);
    try {
      return await Promise.race([...flights.inFlight.values(), elapsed]);
    } finally {
      timer.cancel();
    }
  }

  function refund(cost: number | undefined): void {
    if (cost) book.record(key, { kind: 'retry-refunded', at: now(), cost });
  }

  function deliver(landing: Landing & { response: Response }, phase: Phase): Result {
    refund(paid.get(landing.attempt));
    if (phase.kind === 'waiting') refund(phase.cost);
    if (flights.launched === 1) book.record(key, { kind: 'first-try-succeeded', at: now() });
    if (troubled) call.tell({ type: 'recovered', attempts: counted, status: landing.response.status });
    return { response: landing.response };
  }

  function giveUp(reason: GiveUpReason): Result {
    call.tell({ type: 'gave-up', attempts: counted, status: flights.response?.status, reason });
    return flights.response ? { response: flights.response } : { error: flights.failure?.error };
  }

  for (let phase = launch(); ; ) {
    if (phase.kind === 'stopped' && flights.inFlight.size === 0) return giveUp(phase.reason);
    const landing = await nextLanding(wakeAt(phase));
    if (landing !== undefined) {
      const newest = landing.attempt === flights.launched && phase.kind === 'flying';
      keep(landing, flights);
      if ('response' in landing && isFinal(landing.outcome, facts, policy)) return deliver(landing, phase);
      learn(landing.outcome);
      if (newest) {
        phase = await react(landing.outcome);
      } else if (phase.kind === 'waiting' && saysMore(landing.outcome)) {
        refund(phase.cost);
        phase = await react(landing.outcome);
      } else if (phase.kind !== 'stopped') {
        await freeConnection();
      }
    } else if (phase.kind === 'waiting') {
      // A machine that slept through the deadline gets what there is; only if there is nothing, one more attempt.
      const nothing = !(flights.response || flights.failure || flights.inFlight.size);
      const inTime = startsInTime(now(), deadline) || nothing;
      if (!inTime) refund(phase.cost);
      phase = inTime ? launch(phase.cost) : { kind: 'stopped', reason: 'deadline' };
    } else {
      phase = phase.kind === 'offline' ? askOnline() : await overtake();
    }
  }
}

/** A clock that is set back stands still until it has caught up, so that no wait and no deadline becomes longer. */
function neverBackwards(wallClock: () => number): () => number {
  let latest = wallClock();
  let behindMs = 0;
  return () => {
    const at = wallClock() + behindMs;
    if (at < latest) behindMs += latest - at;
    latest = Math.max(latest, at);
    return latest;
  };
}

/** An overtaken attempt that brings a time or a cached error after all knows more than the clock did. */
const saysMore = (outcome: Outcome): boolean =>
  outcome.kind === 'response' && (outcome.fresh === true || (outcome.time?.retryAfter ?? null) !== null);

/** When something is to be done unless an attempt lands before. */
function wakeAt(phase: Phase): number | undefined {
  switch (phase.kind) {
    case 'flying':
      return phase.overtakeAt;
    case 'waiting':
      return phase.until;
    case 'offline':
      return phase.askAt;
    case 'stopped':
      return undefined;
  }
}

/** Moves a landing from what is in flight to what there is. */
function keep(landing: Landing, flights: Flights): void {
  if ('response' in landing) {
    if (flights.response && flights.response !== flights.kept) cancelBody(flights.response);
    flights.response = landing.response;
  } else {
    flights.failure = landing;
  }
  flights.inFlight.delete(landing.attempt);
}

/** How far requests that waited for the network are spread when it is back. */
const ONLINE_SPREAD_MS = 1_000;
/** Chromium has no `online` event in workers, so the device is asked. */
const ASK_ONLINE_MS = 500;
