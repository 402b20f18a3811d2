import { admit, isParked, refusal } from '../policy/admit.js';
import { costOf } from '../policy/budget.js';
import { attemptsAllowed, circuitState, mayProbe, probeAt, releases } from '../policy/circuit.js';
import { deadlineAt, startsInTime } from '../policy/deadline.js';
import { afterFailure, askedUntil, isFinal } from '../policy/decide.js';
import { HOLD_SPREAD_MS } from '../policy/hold.js';
import type { GiveUpReason, Outcome, RequestFacts } from '../policy/index.js';
import type { OriginRecord } from '../policy/origin-record.js';
import { isThrottled } from '../policy/outcome.js';
import { cacheBypass, mayRace, takesOriginal } from '../policy/replay.js';
import type { WaitCause } from '../protocol/index.js';
import { type Landing, land } from './attempt.js';
import { keepBody } from './body.js';
import type { Call, Engine } from './call.js';
import { steadyClock } from './clock.js';
import { cancelBody, discard } from './discard.js';
import { type Flights, keep, type Result, wholeAnswer } from './flights.js';
import type { Place } from './parking.js';
import { type Phase, wakeAt } from './phase.js';
import { refuse } from './refusal.js';

/** Sends a request as often as its policy allows until an answer is final. Throws only if the engine itself fails. */
export async function run(call: Call, flights: Flights, engine: Engine): Promise<Result> {
  const { request, facts, policy } = call;
  const { ports, book, races } = engine;
  const key = { origin: facts.origin, group: call.group };
  const now = steadyClock(ports);
  const startedAt = now();
  const deadline = deadlineAt(startedAt, policy.totalMs);
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
  let waitingFor: WaitCause | undefined;

  /** This request goes through a hold, because it has less time than that lasts: no retries. */
  let passing = false;
  /** And would end that hold by a good answer. */
  let disproves = false;
  /** Attempts that have not testified yet: when they were launched (wall clock), and on whose account. */
  const launches = new Map<number, { readonly launchedAt: number; readonly as?: 'probe' | 'released' }>();
  let lastLaunchedAt = ports.now();
  /** Its place among the probes, if it is one. */
  let probeUntil = 0;
  /** When the price of the next attempt was paid (wall clock). */
  let reservedAt = lastLaunchedAt;

  // What is shared with others is told in wall clock, what this request waits for in a clock that is never set back.
  const toWall = (at: number): number => at - now() + ports.now();
  const fromWall = (at: number): number => at - ports.now() + now();

  const admission = () => admit(book.look(key), facts.path, { now: ports.now(), deadline: toWall(deadline), policy });

  /** Starts an attempt unless the server has asked for time; `cost` is what it was paid for. */
  function start(cost?: number, as?: 'probe' | 'released'): Phase {
    const refuses = policy.circuit === 'reject' && flights.launched === 0 && as === undefined;
    const refused = refuses ? refusal(book.look(key), ports.now(), engine.guards) : 'none';
    if (refused === 'refuse') return refuseNow();
    const admitted = admission();
    if (refused === 'probe' && admitted.do !== 'wait') {
      // One attempt is all that a probe has.
      passing = true;
      return probe(cost);
    }
    if (admitted.do === 'go' || (admitted.do === 'pass-through' && flights.launched === 0)) {
      passing = admitted.do === 'pass-through';
      disproves = passing;
      return launch({ cost, as });
    }
    if (admitted.do === 'wait') {
      wait('hold');
      return { kind: 'held', until: fromWall(admitted.until), spread: false, cost, as };
    }
    refund(cost);
    handOn(as);
    return { kind: 'stopped', reason: 'hold' };
  }

  /** Answered without being sent. */
  function refuseNow(): Phase {
    const { circuit } = book.look(key);
    flights.response = refuse(facts.origin, probeAt(circuit, engine.guards.circuit) - ports.now());
    return { kind: 'stopped', reason: 'circuit' };
  }

  function takePlace(): void {
    const at = ports.now();
    probeUntil = at + engine.guards.circuit.probeMs;
    book.record(key, { kind: 'probe-launched', at, until: probeUntil });
  }

  function probe(cost?: number): Phase {
    takePlace();
    return launch({ cost, as: 'probe' });
  }

  /** The time that the server asked for is over, or it has asked for more. One goes at once, the others spread. */
  function endOfHold(phase: Phase & { kind: 'held' }): Phase {
    if (admission().do !== 'go') return start(phase.cost, phase.as);
    if (!phase.spread && !engine.parking.isFirstAfter(key, toWall(phase.until))) {
      const spreadMs = ports.random() * Math.min(HOLD_SPREAD_MS, Math.max(0, deadline - now() - 1));
      return { ...phase, until: now() + spreadMs, spread: true };
    }
    release('hold');
    return start(phase.cost, phase.as);
  }

  function park(): Phase {
    flights.place?.leave();
    flights.place = engine.parking.park(key);
    wait('circuit');
    return look(flights.place);
  }

  /** Is it this one's turn to try? A success has called it, or the circuit is half-open and nobody else tries. */
  function look(place: Place): Phase {
    const at = ports.now();
    const called = place.take() === 'go';
    const { circuit } = book.look(key);
    const inTime = startsInTime(now(), deadline);
    const probes = inTime && !called && mayProbe(circuit, at, engine.guards.circuit);
    if (probes) takePlace();
    if (inTime && (called || probes || circuitState(circuit, at) === 'closed')) {
      if (!called) place.leave();
      release('circuit');
      return start(undefined, called ? 'released' : probes ? 'probe' : undefined);
    }
    if (!inTime || circuit.openUntil >= toWall(deadline)) {
      place.leave();
      // Whoever is called too late hands the call on.
      if (called) handOn('released');
      return { kind: 'stopped', reason: 'circuit' };
    }
    const next = fromWall(probeAt(circuit, engine.guards.circuit));
    return { kind: 'parked', place, lookAt: Math.min(deadline, next) };
  }

  function wait(cause: WaitCause): void {
    if (waitingFor !== cause) call.tell({ type: 'waiting', cause });
    waitingFor = cause;
    troubled = true;
  }

  function release(cause: WaitCause): void {
    waitingFor = undefined;
    call.tell({ type: 'released', cause });
  }

  function launch({ cost, as, preload }: Launch): Phase {
    const attempt = flights.launched + 1;
    // Not before something is sent: a body that turns out to be too large is not kept for an attempt to come.
    if (attempt === 1 && facts.hasBody) {
      flights.body = keepBody(request, policy.maxReplayBytes, engine.ledger, ports);
    }
    lastLaunchedAt = ports.now();
    if (attempt === 1 && engine.guards.budget.kind === 'windowed') {
      book.record(key, { kind: 'request-began', at: lastLaunchedAt });
    }
    launches.set(attempt, { launchedAt: lastLaunchedAt, ...(as === undefined ? {} : { as }) });
    counted += 1;
    const sent = preload ? preload.then((first) => first ?? ports.fetch(request)) : send(take(attempt));
    flights.latest = land(attempt, sent, { policy, now: ports.now });
    flights.launched = attempt;
    if (cost !== undefined) paid.set(attempt, cost);
    flights.inFlight.set(attempt, flights.latest);
    call.tell({ type: 'attempt' });
    return overtakes() || as === 'probe'
      ? { kind: 'flying', overtakeAt: now() + policy.attemptTimeoutMs }
      : { kind: 'flying' };
  }

  const overtakes = (): boolean => mayRace(facts) && counted < policy.attempts && !passing;

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

  const bypass = () => cacheBypass(facts, { discardedFresh, inFlight: flights.inFlight.size > 0 });

  const parks = (record: OriginRecord, at: number): boolean =>
    isParked(record, { now: at, deadline: toWall(deadline), policy, guards: engine.guards });

  /** The newest attempt failed or is overdue: what now? */
  async function react(outcome: Outcome): Promise<Phase> {
    // A retry waits anyway: what it may cost is decided by what is stored, however long that takes to read.
    await book.loading();
    const replayable = (await flights.body?.isReplayable()) !== false && bypass() !== 'impossible';
    // Whoever reloads asks anew, and has waited already.
    const cost = facts.reloaded ? 0 : costOf(isThrottled(outcome), engine.guards.budget);
    const how = howOf(outcome);
    const alike = failures.get(how) ?? 1;
    const at = ports.now();
    const record = book.look(key);
    const { circuit } = record;
    const decision = afterFailure({
      outcome,
      request: facts,
      policy,
      attempt: passing ? policy.attempts : counted,
      alike,
      now: now(),
      deadline,
      replayable,
      circuit: {
        state: circuitState(circuit, at),
        parked: parks(record, at),
        attempts: attemptsAllowed(circuit, policy.attempts, engine.guards.circuit),
      },
      online: ports.isOnline(),
      affordable: book.affords(key, cost),
      previousDelayMs,
      ...(notBefore === undefined ? {} : { notBefore }),
      random: ports.random,
    });
    if (decision.do === 'wait-online') failures.set(how, alike - 1);
    switch (decision.do) {
      case 'give-up':
        if (decision.reason === 'budget' && book.noticesExhaustion(key)) call.tell({ type: 'budget-exhausted' });
        return { kind: 'stopped', reason: decision.reason };
      case 'wait-online':
        return waitOnline();
      case 'park':
        await freeConnection();
        return park();
      case 'retry': {
        const until = now() + decision.delayMs;
        previousDelayMs = decision.delayMs;
        reservedAt = ports.now();
        book.record(key, { kind: 'retry-reserved', at: reservedAt, cost });
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
    if (flights.response === undefined || flights.response === flights.kept?.response) return;
    const kept = await discard(flights.response, ports);
    if (kept.whole || !flights.kept?.whole) flights.kept = kept;
    flights.response = flights.kept.response;
  }

  function waitOnline(): Phase {
    counted -= 1;
    wait('offline');
    return askLater();
  }

  const askLater = (): Phase => ({ kind: 'offline', askAt: Math.min(now() + ASK_ONLINE_MS, deadline) });

  /** Is the device back? Then go, but not all at the same moment. */
  function askOnline(): Phase {
    const leftMs = deadline - now();
    if (leftMs <= 0) return { kind: 'stopped', reason: 'offline' };
    if (!ports.isOnline()) return askLater();
    engine.device.changed(ports.now());
    book.backOnline();
    release('offline');
    const until = Math.max(notBefore ?? 0, now() + ports.random() * Math.min(ONLINE_SPREAD_MS, leftMs));
    if (until > deadline) return { kind: 'stopped', reason: 'retry-after' };
    return { kind: 'waiting', until, cost: 0 };
  }

  /** The newest attempt is overdue: the next may start beside it, if not too many of this origin are overtaken. */
  async function overtake(): Promise<Phase> {
    if (!overtakes()) {
      // A probe that does not answer has found out enough.
      testify(flights.launched, 'failed');
      return { kind: 'flying' };
    }
    const leave = races.enter(facts.origin);
    if (leave === undefined) return { kind: 'flying' };
    let overtaken = false;
    try {
      const overdue = flights.inFlight.get(flights.launched);
      testify(flights.launched, 'failed');
      const timeout = { kind: 'timeout', afterMs: policy.attemptTimeoutMs } as const;
      failedBy(timeout);
      const next = await react(timeout);
      overtaken = next.kind === 'waiting' || next.kind === 'parked';
      if (overtaken) void overdue?.then(leave);
      return next;
    } finally {
      if (!overtaken) leave();
    }
  }

  const failedBy = (outcome: Outcome): void => {
    failures.set(howOf(outcome), (failures.get(howOf(outcome)) ?? 0) + 1);
  };

  /** What an answer that is not delivered says about the attempts to come, whichever attempt brought it. */
  function learn(outcome: Outcome): void {
    if (outcome.kind !== 'response') return;
    discardedFresh ||= outcome.fresh === true;
    const at = ports.now();
    const until = askedUntil(outcome, facts, policy, at);
    if (until === undefined) return;
    notBefore = Math.max(notBefore ?? 0, now() + until - at);
    if (until <= at) return;
    const { status } = outcome;
    const { maxMs, overMax } = policy.retryAfter;
    // A policy that cuts the server's time short does not hold others for longer either.
    const held = overMax === 'truncate' ? Math.min(until, at + maxMs) : until;
    book.record(key, { kind: 'hold-asked', at, status, path: facts.path, until: held, scope: policy.holdScope });
  }

  function verdictOn(landing: Landing, final: boolean): 'good' | 'failed' | 'lost' | 'nothing' {
    if (!saysNothing(landing, facts)) return final ? 'good' : 'error' in landing ? 'lost' : 'failed';
    // That its server can be reached is news while that is in doubt.
    const inDoubt = circuitState(book.look(key).circuit, ports.now()) !== 'closed';
    return inDoubt && 'response' in landing ? 'good' : 'nothing';
  }

  /** Every attempt is evidence for all requests of this origin and group: for or against its server. */
  function testify(attempt: number, verdict: 'good' | 'failed' | 'lost' | 'nothing'): void {
    const launch = launches.get(attempt);
    // Once: an overdue attempt that fails in the end has been held against the server already.
    if (launch === undefined || !launches.delete(attempt)) return;
    if (launch.as === 'released') flights.place?.leave();
    const at = ports.now();
    if (verdict === 'good') {
      book.record(key, { kind: 'attempt-succeeded', at, ...launch, ...(launch.as === 'probe' ? { probeUntil } : {}) });
      if (disproves) book.record(key, { kind: 'hold-disproved', at, path: facts.path });
      if (releases(book.look(key).circuit, launch.launchedAt)) callNext(at);
      return;
    }
    // The device's own network is not the server's fault.
    if (verdict === 'nothing' || (verdict === 'lost' && engine.device.isSuspect(facts.origin, at))) {
      if (launch.as === 'probe') handOn('probe');
      return;
    }
    book.record(key, { kind: 'attempt-failed', at, ...launch });
  }

  /** A success shows that the server is back: one of those that wait for it may go, here and elsewhere. */
  function callNext(at: number): void {
    engine.parking.release(key);
    engine.onSuccess(key);
    if (engine.parking.isEmpty(key)) book.record(key, { kind: 'drained', at });
  }

  /** The next attempt that lands; `undefined` if something else is to be looked at before. */
  async function nextLanding(phase: Phase): Promise<Landing | undefined> {
    const at = wakeAt(phase);
    if (at === undefined && !call.signal) return Promise.race(flights.inFlight.values());
    const timer = at === undefined ? undefined : ports.sleep(Math.max(0, at - now()));
    // Almost nobody has a signal: only a fetch from inside the worker.
    const over = call.signal && new AbortController();
    const others = [
      timer?.done,
      phase.kind === 'parked' ? phase.place.signal() : undefined,
      call.signal && over && aborted(call.signal, over.signal),
    ].flatMap((other) => other?.then(() => undefined) ?? []);
    try {
      return await Promise.race([...flights.inFlight.values(), ...others]);
    } finally {
      timer?.cancel();
      over?.abort();
    }
  }

  /** What this request was to find out, or was called for, is left to the next. */
  function handOn(as: 'probe' | 'released' | undefined): void {
    if (as === 'probe') book.record(key, { kind: 'probe-abandoned', at: ports.now(), until: probeUntil });
    if (as === 'released') engine.parking.release(key);
  }

  /** Whoever asked does not want to know any more. That says nothing about the server. */
  function abandon(phase: Phase, reason: 'aborted' | 'client-gone'): void {
    if (flights.response) cancelBody(flights.response);
    if (phase.kind === 'waiting' || phase.kind === 'held') refund(phase.cost);
    if (phase.kind === 'held') handOn(phase.as);
    if (phase.kind === 'parked' && phase.place.take() === 'go') handOn('released');
    for (const { as } of launches.values()) handOn(as);
    if (troubled) call.tell({ type: 'gave-up', attempts: counted, status: flights.response?.status, reason });
  }

  /** Is it of no use to go on? What is to outlive its page may be tried once more, for a while. */
  async function isInVain(): Promise<boolean> {
    if (!(await gone())) return false;
    return !facts.keepalive || counted >= KEEPALIVE.attempts || now() - startedAt >= KEEPALIVE.totalMs;
  }

  /** A browser that does not answer has not said that it is gone. */
  async function gone(): Promise<boolean> {
    if (call.isGone === undefined || flights.launched === 0) return false;
    const limit = ports.sleep(ASK_CLIENT_MS);
    try {
      return await Promise.race([call.isGone().catch(() => false), limit.done.then(() => false)]);
    } finally {
      limit.cancel();
    }
  }

  function refund(cost: number | undefined, launched = false): void {
    if (cost) book.record(key, { kind: 'retry-refunded', at: ports.now(), cost, launched, reservedAt });
  }

  function deliver(landing: Landing & { response: Response }, phase: Phase): Result {
    refund(paid.get(landing.attempt), true);
    if (phase.kind === 'waiting' || phase.kind === 'held') refund(phase.cost);
    if (flights.launched === 1 && !saysNothing(landing, facts)) {
      book.record(key, { kind: 'first-try-succeeded', at: ports.now() });
    }
    if (troubled) call.tell({ type: 'recovered', attempts: counted, status: landing.response.status });
    return { response: landing.response };
  }

  function giveUp(reason: GiveUpReason): Result {
    const theirs = flights.launched > 0 && reason !== 'offline' && (flights.response || !facts.choosy);
    if (theirs) book.record(key, { kind: 'request-failed', at: ports.now(), launchedAt: lastLaunchedAt });
    const status = counted > 0 ? flights.response?.status : undefined;
    call.tell({ type: 'gave-up', attempts: counted, status, reason });
    return flights.response ? { response: flights.response } : { error: flights.failure?.error };
  }

  // Only at the worker's start; a warm worker sends at once.
  const loading = book.loading(policy.circuit === 'reject' ? REJECT_LOAD_MS : LOAD_MS);
  if (loading && !call.raced) await loading;
  if (call.signal?.aborted) return { error: call.signal.reason };
  const preload = call.first && (await isUnderWay(call.first)) ? call.first : undefined;
  // What the browser has sent already is not held back.
  for (let phase = preload ? launch({ preload }) : call.raced ? launch({}) : start(); ; ) {
    if (call.signal?.aborted) {
      abandon(phase, 'aborted');
      return { error: call.signal.reason };
    }
    if (phase.kind === 'stopped' && flights.inFlight.size === 0) return giveUp(phase.reason);
    const landing = await nextLanding(phase);
    if (call.signal?.aborted) {
      if (landing) keep(landing, flights);
      continue;
    }
    if (landing !== undefined) {
      const newest = landing.attempt === flights.launched && phase.kind === 'flying';
      keep(landing, flights);
      const final = 'response' in landing && isFinal(landing.outcome, facts, policy);
      testify(landing.attempt, verdictOn(landing, final));
      if (final) return deliver(landing, phase);
      learn(landing.outcome);
      failedBy(landing.outcome);
      if (newest) {
        phase = await react(landing.outcome);
      } else if (phase.kind === 'waiting' && saysMore(landing.outcome)) {
        refund(phase.cost);
        phase = await react(landing.outcome);
      } else if (phase.kind !== 'stopped') {
        await freeConnection();
      }
    } else if (phase.kind !== 'flying' && (await isInVain())) {
      abandon(phase, 'client-gone');
      return flights.failure ?? { error: new DOMException('the client has gone', 'AbortError') };
    } else {
      phase = await timeIsUp(phase);
    }
  }

  /** The time of a phase has come, or a parked request was called. */
  function timeIsUp(phase: Phase): Phase | Promise<Phase> {
    switch (phase.kind) {
      case 'flying':
        return overtake();
      case 'waiting':
        return endOfWait(phase);
      case 'offline':
        return askOnline();
      case 'held':
        return endOfHold(phase);
      case 'parked':
        return look(phase.place);
      case 'stopped':
        return phase;
    }
  }

  function endOfWait({ cost }: Phase & { kind: 'waiting' }): Phase {
    const at = ports.now();
    const record = book.look(key);
    // The circuit may have opened meanwhile: then nobody retries alone, and the price of it comes back.
    if (circuitState(record.circuit, at) !== 'closed') {
      refund(cost);
      return parks(record, at) ? park() : { kind: 'stopped', reason: 'circuit' };
    }
    // A machine that slept through the deadline gets what there is; only if there is nothing, one more attempt.
    const nothing = !(wholeAnswer(flights) || flights.failure || flights.inFlight.size);
    if (startsInTime(now(), deadline) || nothing) return start(cost);
    refund(cost);
    return { kind: 'stopped', reason: 'deadline' };
  }
}

/** What starts an attempt besides itself. */
interface Launch {
  /** What it was paid for. */
  readonly cost?: number | undefined;
  readonly as?: 'probe' | 'released' | undefined;
  /** What the browser has sent already. */
  readonly preload?: Promise<Response | undefined>;
}

const howOf = (outcome: Outcome): number | string => (outcome.kind === 'response' ? outcome.status : outcome.kind);

/** Where there is no preload the browser gives a promise, too: of nothing, and kept already. */
async function isUnderWay(preload: Promise<Response | undefined>): Promise<boolean> {
  try {
    return (await Promise.race([preload, true])) !== undefined;
  } catch {
    return true;
  }
}

const aborted = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });

/** Whoever may not read an answer cannot tell good from bad, nor a lost connection from an answer that is refused. */
const saysNothing = (landing: Landing, { choosy }: RequestFacts): boolean =>
  'response' in landing ? landing.response.type === 'opaque' : choosy;

/** An overtaken attempt that brings a time after all knows more than the clock did. */
const saysMore = (outcome: Outcome): boolean =>
  outcome.kind === 'response' && (outcome.time?.retryAfter ?? null) !== null;

/** What a request with `keepalive` has once its page is gone. */
const KEEPALIVE = { attempts: 2, totalMs: 10_000 };
const ASK_CLIENT_MS = 100;
/** How long the first requests of a worker wait for the stored state; one that may be refused has more at stake. */
const LOAD_MS = 20;
const REJECT_LOAD_MS = 200;
/** How far requests that waited for the network are spread when it is back. */
const ONLINE_SPREAD_MS = 1_000;
/** Chromium has no `online` event in workers, so the device is asked. */
const ASK_ONLINE_MS = 500;
