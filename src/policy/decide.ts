import { delayMs, MAX_DELAY_MS } from './backoff.js';
import type { CircuitState } from './circuit.js';
import { startsInTime } from './deadline.js';
import type { RequestFacts } from './eligibility.js';
import { type Cause, causeOf, isThrottled, type Outcome, retriesAllowed, retriesAtOnce } from './outcome.js';
import { RETRY_AFTER_JITTER, type RetryPolicy } from './policy.js';
import { rateLimitWaitMs } from './rate-limit.js';
import { asksForNow, serverWaitMs, type TimeHeaders } from './retry-after.js';

/** Everything a decision hangs on: what happened, what is allowed, what time it is, and a source of chance. */
export interface Situation {
  readonly outcome: Outcome;
  readonly request: RequestFacts;
  readonly policy: RetryPolicy;
  /** Attempts counted so far, the failed one included. */
  readonly attempt: number;
  /** Those of them that failed by the same cause and status, this one included. @defaultValue `attempt` */
  readonly alike?: number;
  readonly now: number;
  readonly deadline: number;
  /** Can the request be sent again: is its body still whole, and can it get past the browser's cache? */
  readonly replayable: boolean;
  /** False only if the device says that it is offline. */
  readonly online: boolean;
  /** Does the budget of this origin and group pay for a retry of this outcome? */
  readonly affordable: boolean;
  /** What the circuit of this origin and group says. @defaultValue closed, and as many attempts as the policy has */
  readonly circuit?: { readonly state: CircuitState; readonly parked: boolean; readonly attempts: number };
  readonly previousDelayMs: number | undefined;
  /** Another server is asked next: what the one that failed asked for does not count. @defaultValue false */
  readonly elsewhere?: boolean;
  /** The latest time that an earlier answer of the next server has named (see {@link askedUntil}). */
  readonly notBefore?: number;
  readonly random: () => number;
}

/** Why a request that failed is not tried again. */
export type GiveUpReason =
  | 'attempts'
  | 'budget'
  | 'deadline'
  | 'retry-after'
  | 'circuit'
  | 'hold'
  | 'not-replayable'
  | 'aborted'
  | 'client-gone'
  | 'offline';

/** Whose time a wait is: ours, the one the server named, or the one it hinted at. */
export type WaitBy = 'backoff' | 'retry-after' | 'rate-limit';

/** What to do about an attempt's outcome, and why. */
export type Decision =
  | { readonly do: 'deliver'; readonly reason: 'success' | 'final-status' }
  | { readonly do: 'retry'; readonly reason: Cause; readonly delayMs: number; readonly by: WaitBy }
  | { readonly do: 'wait-online'; readonly reason: 'offline' }
  /** Wait until a success shows that the server is back. */
  | { readonly do: 'park'; readonly reason: 'circuit' }
  | { readonly do: 'give-up'; readonly reason: GiveUpReason };

/** What follows an attempt that failed. */
export type NextStep = Exclude<Decision, { do: 'deliver' }>;

/**
 * The one place where it is decided what follows an attempt. Pure: the engine, the tests and the simulator share it.
 */
export function decide(situation: Situation): Decision {
  const { outcome, request, policy } = situation;
  if (!isFinal(outcome, request, policy)) return afterFailure(situation);
  return { do: 'deliver', reason: outcome.kind === 'response' && outcome.status >= 400 ? 'final-status' : 'success' };
}

/** Is this outcome the page's, whatever the situation? Split from the rest so that a good answer costs no more. */
export const isFinal = (outcome: Outcome, request: RequestFacts, policy: RetryPolicy): boolean =>
  retriesAllowed(outcome, request, policy) === 0;

/** {@link decide} for an outcome that is not final. */
export function afterFailure(situation: Situation): NextStep {
  const { outcome, request, policy, attempt, alike = attempt, now, deadline } = situation;
  // The device's own network spends no attempt: it is not the server that failed.
  const offline = outcome.kind === 'network-error' && !situation.online;
  const used = attempt >= policy.attempts || alike > retriesAllowed(outcome, request, policy);
  if (used && !offline) return giveUp('attempts');
  if (!situation.replayable) return giveUp('not-replayable');
  if (offline) return startsInTime(now, deadline) ? { do: 'wait-online', reason: 'offline' } : giveUp('offline');
  const wait = waitFor(situation);
  if (wait === 'too-long') return giveUp('retry-after');
  const { circuit } = situation;
  if (circuit?.parked) return { do: 'park', reason: 'circuit' };
  if (circuit && (circuit.state !== 'closed' || attempt >= circuit.attempts)) return giveUp('circuit');
  if (!startsInTime(now + wait.delayMs, deadline)) return giveUp('deadline');
  if (!situation.affordable) return giveUp('budget');
  return { do: 'retry', reason: causeOf(outcome), ...wait };
}

const giveUp = (reason: GiveUpReason): NextStep => ({ do: 'give-up', reason });

type Wait = { readonly delayMs: number; readonly by: WaitBy };

function waitFor(situation: Situation): Wait | 'too-long' {
  const { outcome, request, policy, now, notBefore = now, elsewhere = false } = situation;
  const askedMs = Math.max((elsewhere ? 0 : askedMsBy(outcome, request, policy, now)) ?? 0, notBefore - now);
  // Zero said so is "now"; a date in the past only says that waiting is no longer asked for: the backoff still is.
  const asksNow =
    askedMs === 0 && !elsewhere && counts(outcome, policy) && asksForNow(outcome.time?.retryAfter ?? null);
  const server = askedMs > 0 || asksNow;
  const { maxMs, overMax, mode } = policy.retryAfter;
  if (askedMs > maxMs && overMax === 'give-up') return 'too-long';
  const backoff = backoffWait(situation, server);
  if (!server) return elsewhere ? backoff : hintedWait(situation, backoff);
  const delayMs = upwards(Math.min(askedMs, maxMs), situation.random);
  const extended = mode === 'extend' && !asksNow && backoff.delayMs > delayMs;
  return extended ? backoff : { delayMs, by: 'retry-after' };
}

/**
 * A `RateLimit` that has nothing left is a hint: it makes a wait longer that there would be anyway, and is passed over
 * where it would end the request.
 */
function hintedWait({ outcome, policy, now, deadline, random }: Situation, backoff: Wait): Wait {
  const hintMs = (counts(outcome, policy) && rateLimitWaitMs(outcome.time.rateLimit)) || 0;
  if (hintMs === 0 || hintMs > policy.retryAfter.maxMs) return backoff;
  const delayMs = upwards(hintMs, random);
  return delayMs > backoff.delayMs && startsInTime(now + delayMs, deadline) ? { delayMs, by: 'rate-limit' } : backoff;
}

function backoffWait(
  { outcome, policy, attempt, alike = attempt, random, previousDelayMs }: Situation,
  timed: boolean,
): Wait {
  // Once: a server that says it again means something else.
  if (retriesAtOnce(outcome) && alike === 1) return { delayMs: 0, by: 'backoff' };
  const backoff = isThrottled(outcome) && !timed ? policy.throttledBackoff : policy.backoff;
  return { delayMs: delayMs(backoff, attempt, random, previousDelayMs), by: 'backoff' };
}

/** The instant before which the server asks not to be asked again; `undefined` if it names none or it does not count. */
export function askedUntil(
  outcome: Outcome,
  request: RequestFacts,
  policy: RetryPolicy,
  now: number,
): number | undefined {
  const askedMs = askedMsBy(outcome, request, policy, now);
  return askedMs === undefined ? undefined : now + askedMs;
}

const askedMsBy = (outcome: Outcome, request: RequestFacts, policy: RetryPolicy, now: number): number | undefined =>
  counts(outcome, policy) ? serverWaitMs(outcome.time, now, request.sameOrigin) : undefined;

/** Does this policy listen to the time that this outcome names? */
function counts(outcome: Outcome, policy: RetryPolicy): outcome is Outcome & { kind: 'response'; time: TimeHeaders } {
  const { mode, statuses } = policy.retryAfter;
  if (outcome.kind !== 'response' || outcome.time === undefined || mode === 'ignore') return false;
  return statuses === 'retried' || statuses.includes(outcome.status);
}

/** Upward jitter, so that everybody who was told the same time does not come back together, and nobody earlier. */
function upwards(waitMs: number, random: () => number): number {
  const jitterMs = random() * Math.min(waitMs * RETRY_AFTER_JITTER.ratio, RETRY_AFTER_JITTER.maxMs);
  return Math.min(MAX_DELAY_MS, Math.ceil(waitMs + jitterMs));
}
