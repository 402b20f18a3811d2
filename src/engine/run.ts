import { isParked, refusal } from '../policy/admit.js';
import { costOf } from '../policy/budget.js';
import { attemptsAllowed, circuitState, mayProbe, probeAt } from '../policy/circuit.js';
import { deadlineAt, startsInTime } from '../policy/deadline.js';
import { afterFailure, isFinal, type NextStep } from '../policy/decide.js';
import { mayHedge } from '../policy/hedge.js';
import { HOLD_SPREAD_MS } from '../policy/hold.js';
import type { GiveUpReason, Outcome, RetryPolicy } from '../policy/index.js';
import { attemptsOver, rotates } from '../policy/mirrors.js';
import type { OriginRecord } from '../policy/origin-record.js';
import { isThrottled } from '../policy/outcome.js';
import { rateLimitWaitMs } from '../policy/rate-limit.js';
import { mayRace } from '../policy/replay.js';
import type { WaitCause } from '../protocol/index.js';
import { createAim } from './aim.js';
import { isInVain } from './asker.js';
import { type Landing, land } from './attempt.js';
import { keepBody } from './body.js';
import type { Call, Engine } from './call.js';
import { runClock } from './clock.js';
import { cancelBody, discard } from './discard.js';
import { type As, createEvidence, isUnfixable, saysNothing } from './evidence.js';
import { cutOff, type Flights, hopes, keep, looksAt, type Result, wholeAnswer } from './flights.js';
import type { HeadStart } from './head-start.js';
import { nextLanding } from './next-landing.js';
import type { Place } from './parking.js';
import { createPayments } from './payments.js';
import { isLong, isOurs, type LongPhase, type Phase, waits, wakeAt } from './phase.js';
import { refuse } from './refusal.js';
import { createSender } from './send.js';
import { type Target, targetsOf } from './target.js';

/**
 * Sends a request as often as its policy allows until an answer is final. `first`: its first attempt, where that is under
 * way already. Throws only if the engine itself fails.
 */
export async function run(call: Call, flights: Flights, engine: Engine, first?: HeadStart): Promise<Result> {
  const { request, facts } = call;
  const { ports, book, races, hedging, guards } = engine;
  const targets = targetsOf(call);
  const policy: RetryPolicy =
    targets.length === 1 ? call.policy : { ...call.policy, attempts: attemptsOver(call.policy, targets.length) };
  const sender = createSender(call, flights, engine);
  const evidence = createEvidence(call, flights, engine);
  const clock = runClock(ports, first?.startedAt);
  const { now } = clock;
  const startedAt = first?.startedAt.wall ?? now();
  /** Moves while a page keeps the worker alive. */
  const deadline = (): number => deadlineAt(startedAt, Math.min(policy.totalMs, call.ceilingMs?.() ?? policy.totalMs));
  const hedges = policy.hedge && mayHedge(facts) && !ports.savesData() ? policy.hedge : undefined;
  const aim = createAim(targets, facts.path, { policy, clock, deadline }, engine);
  const payments = createPayments(aim, engine);
  /** Attempts that count against the limit: those that failed while the device was offline do not. */
  let counted = call.spent ?? 0;
  /** How often an attempt has failed by each status or cause: some allow fewer retries than others. */
  const failures = new Map<number | string, number>();
  /** Has the last of them failed by something that says nothing about the server? */
  let unfixable = false;
  let firstStartedAt = startedAt;
  let lastStartedAt = startedAt;
  let previousDelayMs: number | undefined;
  /** Has anybody been told of trouble? Then they are told how it ended. */
  let troubled = false;
  let waitingFor: WaitCause | undefined;
  /** This request goes through a hold, because it has less time than that lasts: no retries. */
  let passing = false;

  /** Starts an attempt unless the server has asked for time; `cost` is what it was paid for. */
  function start(cost?: number, as?: As): Phase {
    const refuses = policy.circuit === 'reject' && flights.launched === 0 && as === undefined;
    const refused = refuses ? refusal(book.look(aim.target.key), ports.now(), guards) : 'none';
    if (refused === 'refuse') return refuseNow();
    const admitted = aim.admission();
    if (refused === 'probe' && admitted.do !== 'wait') {
      // One attempt is all that a probe has.
      passing = true;
      evidence.takePlace(aim.target);
      return launch({ cost, as: 'probe' });
    }
    if (as === undefined && refused === 'none' && admitted.do === 'go' && aim.mayTry()) {
      evidence.takePlace(aim.target);
      return launch({ cost, as: 'probe' });
    }
    if (admitted.do === 'go' || (admitted.do === 'pass-through' && flights.launched === 0)) {
      passing = admitted.do === 'pass-through';
      return launch({ cost, as, disproves: passing });
    }
    if (admitted.do === 'wait') {
      wait('hold');
      return { kind: 'held', until: clock.fromWall(admitted.until), spread: false, cost, as };
    }
    payments.refund(cost);
    evidence.handOn(as, aim.target);
    return { kind: 'stopped', reason: 'hold' };
  }

  /** Answered without being sent. */
  function refuseNow(): Phase {
    const { circuit } = book.look(aim.target.key);
    flights.response = refuse(aim.target.key.origin, probeAt(circuit, guards.circuit) - ports.now());
    return { kind: 'stopped', reason: 'circuit' };
  }

  /** The time that the server asked for is over, or it has asked for more. One goes at once, the others spread. */
  function endOfHold(phase: Phase & { kind: 'held' }): Phase {
    if (aim.admission().do !== 'go') return start(phase.cost, phase.as);
    if (!phase.spread && !engine.parking.isFirstAfter(aim.target.key, clock.toWall(phase.until))) {
      const spreadMs = ports.random() * Math.min(HOLD_SPREAD_MS, Math.max(0, deadline() - now() - 1));
      return { ...phase, until: now() + spreadMs, spread: true };
    }
    release('hold');
    return start(phase.cost, phase.as);
  }

  function park(): Phase {
    flights.place?.leave();
    flights.place = engine.parking.park(aim.target.key);
    wait('circuit');
    return look(flights.place);
  }

  /** Is it this one's turn to try? A success has called it, or the circuit is half-open and nobody else tries. */
  function look(place: Place): Phase {
    const at = ports.now();
    const called = place.take() === 'go';
    const { circuit } = book.look(aim.target.key);
    const inTime = startsInTime(now(), deadline());
    const probes = inTime && !called && mayProbe(circuit, at, guards.circuit);
    if (probes) evidence.takePlace(aim.target);
    if (inTime && (called || probes || circuitState(circuit, at) === 'closed')) {
      if (!called) place.leave();
      release('circuit');
      return start(undefined, called ? 'released' : probes ? 'probe' : undefined);
    }
    if (!inTime || circuit.openUntil >= clock.toWall(deadline())) {
      place.leave();
      // Whoever is called too late hands the call on.
      if (called) evidence.handOn('released', aim.target);
      return { kind: 'stopped', reason: 'circuit' };
    }
    const next = clock.fromWall(probeAt(circuit, guards.circuit));
    return { kind: 'parked', place, lookAt: Math.min(deadline(), next) };
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

  function launch({ cost, as, preload, hedge = false, disproves = false }: Launch): Phase {
    const attempt = flights.launched + 1;
    if (attempt === 1) prepare();
    if (sender.cutsOff) cutOff(flights);
    lastStartedAt = now();
    if (attempt === 1) firstStartedAt = lastStartedAt;
    counted += 1;
    evidence.launched(attempt, aim.target, { launchedAt: ports.now(), as, passing: disproves });
    const sent = preload
      ? preload.then((first) => first ?? ports.fetch(request))
      : sender.send(aim.target, counted >= policy.attempts);
    flights.latest = land(attempt, sent, {
      policy,
      holds: request.method !== 'HEAD',
      now: ports.now,
      classify: call.classify,
      onHeaders: () => flights.answered.add(attempt),
      isCalledOff: () => flights.controllers.get(attempt)?.signal.aborted === true,
    });
    flights.launched = attempt;
    payments.spend(attempt, cost);
    flights.inFlight.set(attempt, flights.latest);
    call.tell({ type: 'attempt', ...(hedge ? { hedge } : {}) });
    return flying(as);
  }

  /** Goes on with an attempt that is under way. */
  function adopt({ startedAt: { wall }, landing }: HeadStart): Phase {
    counted += 1;
    flights.inFlight.set(1, landing);
    evidence.launched(1, aim.target, { launchedAt: wall, passing: false });
    return flying();
  }

  function flying(as?: As): Phase {
    const alone = as !== undefined || passing;
    const hedgeMs = hedges && !alone ? hedging.afterMs(aim.target.key, hedges) : undefined;
    if (!overtakes() && as !== 'probe') return { kind: 'flying' };
    const overtakeAt = lastStartedAt + policy.attemptTimeoutMs;
    const hedgeAt = hedgeMs === undefined ? undefined : lastStartedAt + hedgeMs;
    return { kind: 'flying', overtakeAt, hedgeAt: hedgeAt !== undefined && hedgeAt < overtakeAt ? hedgeAt : undefined };
  }

  /** Not before something is sent: a body that turns out to be too large is not kept for an attempt to come. */
  function prepare(): void {
    if (facts.hasBody) flights.body = keepBody(request, policy.maxReplayBytes, engine.ledger, ports);
    if (guards.budget.kind === 'windowed') book.record(aim.target.key, { kind: 'request-began', at: ports.now() });
    if (hedges) hedging.began(aim.target.key);
  }

  const overtakes = (): boolean => (mayRace(facts) || sender.cutsOff) && counted < policy.attempts && !passing;

  const parks = (record: OriginRecord, at: number): boolean =>
    isParked(record, { now: at, deadline: clock.toWall(deadline()), policy, guards });

  /** What follows an attempt that failed or is overdue; a retry is paid for. Moves on to the next server if there is one. */
  async function decide(outcome: Outcome, failed: Target): Promise<{ decision: NextStep; cost: number }> {
    // A retry waits anyway: what it may cost is decided by what is stored, however long that takes to read.
    await loadedInTime();
    if (failed === aim.target && rotates(outcome, policy)) aim.moveOn();
    const { target } = aim;
    const replayable = (await flights.body?.isReplayable()) !== false && sender.canPass(target);
    // Whoever reloads asks anew, and has waited already.
    const cost = facts.reloaded ? 0 : costOf(isThrottled(outcome), guards.budget);
    const how = howOf(outcome);
    const alike = failures.get(how) ?? 1;
    const at = ports.now();
    const record = book.look(target.key);
    const { circuit } = record;
    const { notBefore } = target;
    const attempts = Math.min(policy.attempts, call.mostAttempts?.() ?? policy.attempts);
    const decision = afterFailure({
      outcome,
      elsewhere: failed !== target,
      request: target.facts,
      policy: { ...policy, attempts },
      attempt: passing ? attempts : counted,
      alike,
      now: now(),
      deadline: deadline(),
      replayable,
      circuit: {
        state: aim.circuitState(),
        parked: aim.circuitState() !== 'closed' && parks(record, at),
        attempts: attemptsAllowed(circuit, attempts, guards.circuit),
      },
      online: ports.isOnline(),
      affordable: book.affords(target.key, cost),
      previousDelayMs,
      ...(notBefore === undefined ? {} : { notBefore }),
      random: ports.random,
    });
    if (decision.do === 'wait-online') {
      failures.set(how, alike - 1);
      counted -= 1;
    }
    // At once: others decide meanwhile.
    if (decision.do === 'retry') payments.reserve(cost);
    return { decision, cost };
  }

  /** Nothing that is hoped for is under way any more: what now? */
  async function react(outcome: Outcome, failed: Target): Promise<Phase> {
    const { decision, cost } = await decide(outcome, failed);
    switch (decision.do) {
      case 'give-up':
        if (decision.reason === 'budget' && book.noticesExhaustion(aim.target.key))
          call.tell({ type: 'budget-exhausted' });
        return { kind: 'stopped', reason: decision.reason };
      case 'wait-online':
        if (call.waitsOffline === false) return { kind: 'stopped', reason: 'offline' };
        wait('offline');
        return askLater();
      case 'park':
        await freeConnection();
        return park();
      case 'retry': {
        const until = now() + decision.delayMs;
        previousDelayMs = decision.delayMs;
        call.keepAlive(book.written());
        await freeConnection();
        tellOfRetry(outcome, decision);
        return { kind: 'waiting', until, cost };
      }
    }
  }

  /** One of several has failed: another takes its place at once, unless waiting is called for. Then the others are waited for. */
  async function replace(outcome: Outcome, failed: Target, phase: Phase): Promise<Phase> {
    const { decision, cost } = await decide(outcome, failed);
    const goes =
      decision.do === 'retry' && decision.by === 'backoff' && aim.admission().do === 'go' && !looksAt(flights);
    if (goes) tellOfRetry(outcome, { ...decision, delayMs: 0 });
    else if (decision.do === 'retry') payments.refund(cost);
    // At once: what lands while a connection is freed may be the answer.
    const next = goes ? launch({ cost }) : phase;
    await freeConnection();
    return next;
  }

  /** Of a store that does not answer, a request that has to end in time does not wait for the end. */
  async function loadedInTime(): Promise<void> {
    const loading = book.loading();
    if (loading === undefined || !policy.hardTotal) return loading;
    const limit = ports.sleep(Math.max(0, deadline() - now()));
    await Promise.race([loading, limit.done]);
    limit.cancel();
  }

  function tellOfRetry(outcome: Outcome, decision: NextStep & { do: 'retry' }): void {
    troubled = true;
    const { mirror, key } = aim.target;
    call.tell({
      type: 'retry-scheduled',
      attempt: counted,
      outcome,
      decision,
      ...(mirror ? { mirror: key.origin } : {}),
    });
  }

  /** No answer yet: one more beside it, if it does no harm. */
  function hedge(phase: Phase & { kind: 'flying' }, { max }: { readonly max: number }): Phase {
    const { key } = aim.target;
    const { circuit } = book.look(key);
    const cost = costOf(false, guards.budget);
    const may =
      counted < attemptsAllowed(circuit, policy.attempts, guards.circuit) &&
      hopes(flights) <= max &&
      !looksAt(flights) &&
      circuitState(circuit, ports.now()) === 'closed' &&
      aim.admission().do === 'go' &&
      (aim.target.notBefore ?? 0) <= now() &&
      startsInTime(now(), deadline()) &&
      ports.isOnline() &&
      // What is stored may be less than what is remembered here.
      book.loading() === undefined &&
      book.affords(key, cost);
    if (!may || !hedging.take(key, ports.now())) return { ...phase, hedgeAt: undefined };
    payments.reserve(cost);
    troubled = true;
    call.tell({ type: 'hedge-launched', attempt: counted + 1 });
    return launch({ cost, hedge: true });
  }

  /** A server that has nothing left for us gets nothing extra. */
  function hint(response: Response, { key }: Target): void {
    const waitMs = rateLimitWaitMs(response.headers.get('RateLimit'));
    if (waitMs !== undefined) hedging.pause(key, ports.now() + Math.min(waitMs, MOST_HINTED_MS));
  }

  /** No connection is held through a wait. */
  async function freeConnection(): Promise<void> {
    if (flights.response === undefined || flights.response === flights.kept?.response) return;
    const kept = await discard(flights.response, facts.navigation, ports);
    if (kept.whole || !flights.kept?.whole) flights.kept = kept;
    flights.response = flights.kept.response;
  }

  const askLater = (): Phase => ({ kind: 'offline', askAt: Math.min(now() + ASK_ONLINE_MS, deadline()) });

  /** Is the device back? Then go, but not all at the same moment. */
  function askOnline(): Phase {
    const leftMs = deadline() - now();
    if (leftMs <= 0) return { kind: 'stopped', reason: 'offline' };
    if (!ports.isOnline()) return askLater();
    engine.device.changed(ports.now());
    book.backOnline();
    release('offline');
    const until = Math.max(aim.target.notBefore ?? 0, now() + ports.random() * Math.min(ONLINE_SPREAD_MS, leftMs));
    if (until > deadline()) return { kind: 'stopped', reason: 'retry-after' };
    return { kind: 'waiting', until, cost: 0 };
  }

  /** The newest attempt is overdue: the next may start beside it, if not too many of this origin are overtaken. */
  async function overtake(): Promise<Phase> {
    const newest = flights.launched;
    if (looksAt(flights)) return { kind: 'flying' };
    if (!overtakes()) {
      // A probe that does not answer has found out enough.
      evidence.overdue(newest);
      return { kind: 'flying' };
    }
    const dueAt = lastStartedAt + policy.attemptTimeoutMs + (flights.body?.uploadMs() ?? 0);
    if (now() < dueAt) return { kind: 'flying', overtakeAt: dueAt };
    const { key } = evidence.targetOf(newest);
    const leave = sender.cutsOff ? () => {} : races.enter(key.origin);
    if (leave === undefined) return { kind: 'flying' };
    let overtaken = false;
    try {
      const stuck = Promise.all(flights.inFlight.values());
      for (const attempt of flights.inFlight.keys()) evidence.overdue(attempt);
      flights.overdueUpTo = newest;
      const timeout = { kind: 'timeout', afterMs: policy.attemptTimeoutMs } as const;
      const verdict = await call.classify?.(timeout, newest, {});
      failedBy(timeout);
      const next = await react(verdict === undefined ? timeout : { ...timeout, verdict }, evidence.targetOf(newest));
      overtaken = next.kind === 'waiting' || next.kind === 'parked';
      if (overtaken) void stuck.then(leave);
      return next;
    } finally {
      if (!overtaken) leave();
    }
  }

  const failedBy = (outcome: Outcome): void => {
    unfixable = isUnfixable(outcome);
    failures.set(howOf(outcome), (failures.get(howOf(outcome)) ?? 0) + 1);
  };

  /** When something is to be done, if no attempt lands before. */
  const dueAt = (phase: Phase): number =>
    Math.min(wakeAt(phase) ?? NEVER, policy.hardTotal && !looksAt(flights) ? deadline() : NEVER);

  /** A wait is looked at every now and then: is there still somebody who waits, and who keeps the worker alive? */
  const lookAt = (phase: Phase): number =>
    waits(phase) && (call.ceilingMs || (call.isGone && flights.launched > 0)) ? now() + LOOK_MS : NEVER;

  /** No further attempt will start: what was paid for and called for is given back. */
  function letGo(phase: Phase): void {
    if (phase.kind === 'waiting' || phase.kind === 'held') payments.refund(phase.cost);
    if (phase.kind === 'held') evidence.handOn(phase.as, aim.target);
    if (phase.kind === 'parked' && phase.place.take() === 'go') evidence.handOn('released', aim.target);
    evidence.letGo();
  }

  /** Nobody keeps the worker alive for as long as this wait would take. */
  function endWait(phase: LongPhase): Phase {
    payments.refund(phase.cost);
    if (phase.kind === 'held') evidence.handOn(phase.as, aim.target);
    return { kind: 'stopped', reason: 'deadline' };
  }

  /** Whoever asked does not want to know any more. That says nothing about the server. */
  function abandon(phase: Phase, reason: 'aborted' | 'client-gone'): void {
    if (flights.response) cancelBody(flights.response);
    letGo(phase);
    if (troubled) call.tell({ type: 'gave-up', attempts: counted, status: flights.response?.status, reason });
  }

  function deliver(landing: Landing & { response: Response }, phase: Phase): Result {
    const { key } = evidence.targetOf(landing.attempt);
    payments.giveBack(landing.attempt);
    evidence.letGo();
    if (phase.kind === 'waiting' || phase.kind === 'held') payments.refund(phase.cost);
    if (flights.launched === 1 && !saysNothing(landing, facts)) {
      book.record(key, { kind: 'first-try-succeeded', at: ports.now() });
    }
    // Where the answer came from elsewhere, the first would have taken longer still.
    if (hedges && (landing.attempt === 1 || flights.inFlight.has(1))) {
      hedging.took(evidence.targetOf(1).key, now() - firstStartedAt);
    }
    if (troubled) call.tell({ type: 'recovered', attempts: counted, status: landing.response.status });
    return { response: landing.response };
  }

  function giveUp(reason: GiveUpReason): Result {
    const counts = !unfixable && (flights.response !== undefined || !facts.choosy);
    if (flights.launched > 0 && reason !== 'offline' && counts) evidence.failed();
    const status = counted > 0 ? flights.response?.status : undefined;
    call.tell({ type: 'gave-up', attempts: counted, status, reason });
    if (flights.response) return { response: flights.response };
    const nothing = () => new DOMException(`no answer within ${policy.totalMs} ms`, 'TimeoutError');
    return { error: flights.failure ? flights.failure.error : nothing() };
  }

  /** The first attempt, at once or as soon as it may go; or the reason of whoever has called it off meanwhile. */
  async function begin(): Promise<Phase | Result> {
    if (first) return adopt(first);
    // Only at the worker's start; a warm worker sends at once.
    const loading = book.loading(policy.circuit === 'reject' ? REJECT_LOAD_MS : LOAD_MS);
    if (loading && !call.raced) await loading;
    if (call.signal?.aborted) return { error: call.signal.reason };
    const preload = call.first && (await isUnderWay(call.first)) ? call.first : undefined;
    // What the browser has sent already is not held back.
    if (preload || call.raced) return launch({ preload });
    aim.avoidBusy();
    return start();
  }

  const begun = await begin();
  if (!('kind' in begun)) return begun;
  for (let phase = begun; ; ) {
    if (call.signal?.aborted) {
      abandon(phase, 'aborted');
      return { error: call.signal.reason };
    }
    if (phase.kind === 'stopped' && flights.inFlight.size === 0) return giveUp(phase.reason);
    const nap = isOurs(phase) ? engine.waker.enter(aim.target.key.origin) : undefined;
    let wokenMs: number | undefined;
    const woken = nap?.woken.then((ms) => {
      wokenMs = ms;
    });
    let isCalled = false;
    const calledNow =
      phase.kind === 'parked' &&
      phase.place.signal().then(() => {
        isCalled = true;
      });
    const called = calledNow || woken;
    const [due, peek] = [dueAt(phase), lookAt(phase)];
    const at = Math.min(due, peek);
    const afterMs = at === NEVER ? undefined : at - now();
    const landing = await nextLanding(flights, { afterMs, called, signal: call.signal }, ports);
    nap?.leave();
    if (call.signal?.aborted) {
      if (landing) keep(landing, flights);
      continue;
    }
    // A browser that passes a page's abort on says so by an error that is no server's.
    if (landing && 'error' in landing && request.signal.aborted) {
      keep(landing, flights);
      abandon(phase, 'aborted');
      return { error: request.signal.reason };
    }
    if (landing !== undefined) {
      const next = await settle(landing, phase);
      if (!('kind' in next)) return next;
      phase = next;
    } else if (wokenMs !== undefined) {
      phase = hasten(phase, wokenMs);
    } else if (policy.hardTotal && now() >= deadline() && !looksAt(flights)) {
      // Whatever had no answer until now has failed, unless it never could have one.
      if (phase.kind !== 'offline') for (const late of flights.inFlight.keys()) evidence.overdue(late);
      letGo(phase);
      return giveUp(phase.kind === 'offline' ? 'offline' : 'deadline');
    } else if (
      waits(phase) &&
      flights.launched > 0 &&
      (await isInVain(call, { attempts: counted, elapsedMs: now() - startedAt }, ports))
    ) {
      abandon(phase, 'client-gone');
      return flights.failure ?? { error: new DOMException('the client has gone', 'AbortError') };
    } else if (peek < due && !isCalled) {
      if (isLong(phase) && phase.until > deadline()) phase = endWait(phase);
      if (phase.kind === 'parked' && phase.lookAt > deadline()) phase = look(phase.place);
    } else {
      phase = await timeIsUp(phase);
    }
  }

  /** An attempt has come to something: the answer, or what follows. */
  async function settle(landing: Landing, phase: Phase): Promise<Phase | Result> {
    const { attempt, outcome } = landing;
    const from = evidence.targetOf(attempt);
    keep(landing, flights);
    // What has won the browser's own race is with the page already.
    const has = 'response' in landing && call.raced === true && attempt === 1 && landing.response.ok;
    const final = has || ('response' in landing && isFinal(outcome, facts, policy));
    evidence.landed(landing, final);
    if (hedges && 'response' in landing) hint(landing.response, from);
    if (final) return deliver(landing, phase);
    evidence.learn(outcome, from, now());
    failedBy(outcome);
    if (phase.kind === 'flying' && attempt > flights.overdueUpTo) {
      return hopes(flights) > 0 ? replace(outcome, from, phase) : react(outcome, from);
    }
    if (phase.kind === 'waiting' && from === aim.target && saysMore(outcome)) {
      payments.refund(phase.cost);
      return react(outcome, from);
    }
    if (phase.kind !== 'stopped') await freeConnection();
    return phase;
  }

  /** A wait that nobody has asked for but ourselves ends sooner: its next attempt starts in `delayMs`. */
  function hasten(phase: Phase, delayMs: number): Phase {
    const at = Math.max(now() + delayMs, aim.target.notBefore ?? 0);
    if (phase.kind === 'waiting') return { ...phase, until: Math.min(phase.until, at), woken: true };
    if (phase.kind !== 'offline') return phase;
    release('offline');
    return { kind: 'waiting', until: at, cost: 0, woken: true };
  }

  /** The time of a phase has come, or a parked request was called. */
  function timeIsUp(phase: Phase): Phase | Promise<Phase> {
    switch (phase.kind) {
      case 'flying':
        return hedges && phase.hedgeAt !== undefined ? hedge(phase, hedges) : overtake();
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
    // An answer that has begun is looked at before anything else is sent.
    if (looksAt(flights)) return { kind: 'waiting', until: now() + LOOK_AGAIN_MS, cost };
    const at = ports.now();
    const record = book.look(aim.target.key);
    // The circuit may have opened meanwhile: then nobody retries alone, and the price of it comes back.
    if (aim.circuitState() !== 'closed') {
      payments.refund(cost);
      return parks(record, at) ? park() : { kind: 'stopped', reason: 'circuit' };
    }
    // A machine that slept through the deadline gets what there is; only if there is nothing, one more attempt.
    const nothing = !(wholeAnswer(flights) || flights.failure || flights.inFlight.size);
    if (startsInTime(now(), deadline()) || nothing) return start(cost);
    payments.refund(cost);
    return { kind: 'stopped', reason: 'deadline' };
  }
}

/** What starts an attempt besides itself. */
interface Launch {
  /** What it was paid for. */
  readonly cost?: number | undefined;
  readonly as?: As | undefined;
  /** What the browser has sent already. */
  readonly preload?: Promise<Response | undefined> | undefined;
  /** It is sent beside one that has not failed. */
  readonly hedge?: boolean;
  /** It goes through a hold, which a good answer ends. */
  readonly disproves?: boolean;
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

/** An overtaken attempt that brings a time after all knows more than the clock did. */
const saysMore = (outcome: Outcome): boolean =>
  outcome.kind === 'response' && (outcome.time?.retryAfter ?? null) !== null;

const LOOK_MS = 1_000;
const LOOK_AGAIN_MS = 50;
/** No server is believed for longer that it has nothing left. */
const MOST_HINTED_MS = 60_000;
const NEVER = Number.POSITIVE_INFINITY;
/** How long the first requests of a worker wait for the stored state; one that may be refused has more at stake. */
const LOAD_MS = 20;
const REJECT_LOAD_MS = 200;
/** How far requests that waited for the network are spread when it is back. */
const ONLINE_SPREAD_MS = 1_000;
/** Chromium has no `online` event in workers, so the device is asked. */
const ASK_ONLINE_MS = 500;
