import {
  additiveJitter,
  type Backoff,
  decorrelatedJitter,
  equalJitter,
  exponential,
  fullJitter,
  list,
  MAX_DELAY_MS,
  proportionalJitter,
} from '../../src/policy/backoff.ts';
import { checkRetryOptions } from '../../src/policy/check.ts';
import { IDEMPOTENT_METHODS } from '../../src/policy/eligibility.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import {
  DEFAULTS,
  MAX_TOTAL_MS,
  type RetryOptions,
  type RetryPolicy,
  resolvePolicy,
  type StatusRule,
} from '../../src/policy/policy.ts';
import type { GivenPolicy, Row } from './row.ts';

/** Our policy for a row's; or why there is none that says the same. */
export type Mapped = { readonly policy: RetryPolicy; readonly chancy: boolean } | { readonly cannot: string };

/** Longer than anything takes: a row without a deadline has none. */
const ENDLESS_MS = 1e13;

export function toPolicy({ given }: Row): Mapped {
  const { policy: theirs, method = 'GET' } = given;
  const statuses = byMethod(theirs.statuses_by_method) ?? toStatuses(theirs.statuses);
  if (statuses === 'unknown') return { cannot: `statuses ${JSON.stringify(theirs.statuses)} are in words` };
  if (theirs.on_timeout === 'fail')
    return { cannot: 'a timeout is followed by the next attempt, never the end by itself' };
  const backoff = toBackoff(theirs);
  if (backoff === undefined) return { cannot: `jitter ${JSON.stringify(theirs.jitter)} is not known` };
  const { total_ms: totalMs } = theirs;
  const options: RetryOptions = {
    attempts: theirs.attempts,
    statuses,
    backoff,
    ...toMethods(theirs.methods, method),
    retryAfter: {
      // They take the server's time instead of their own, where ours would not wait less than it would anyway.
      mode: theirs.retry_after === false ? 'ignore' : 'replace',
      statuses: theirs.ra_statuses ?? 'retried',
      maxMs: Math.min(theirs.ra_max_ms ?? MAX_DELAY_MS, MAX_DELAY_MS),
      // Without a word of what follows a time that is too long, it is cut: a timer takes no more than so much.
      overMax: theirs.ra_over === 'giveup' ? 'give-up' : 'truncate',
    },
    // Theirs end an attempt and the whole by the clock, where ours would go on waiting for what may still come.
    cancelTimedOut: theirs.timeout_ms != null,
    hardTotal: totalMs != null,
    attemptTimeoutMs: theirs.timeout_ms ?? MAX_DELAY_MS,
    ...(totalMs != null && totalMs <= MAX_TOTAL_MS ? { totalMs } : {}),
  } as RetryOptions;
  try {
    checkRetryOptions(options, 'policy');
  } catch (refused) {
    if (refused instanceof RetryLayerError) return { cannot: `our options refuse it: ${refused.message}` };
    throw refused;
  }
  return {
    // What keeps a browser's worker alive is no limit of the engine.
    policy: { ...resolvePolicy(options, DEFAULTS), totalMs: totalMs ?? ENDLESS_MS },
    chancy: theirs.jitter !== undefined && !['none', 'b=1'].includes(theirs.jitter),
  };
}

/** What is retried of every method, and what of GET besides. */
const byMethod = (theirs: GivenPolicy['statuses_by_method']): readonly StatusRule[] | undefined =>
  theirs && [
    ...theirs['*'],
    ...theirs.GET.filter((status) => !theirs['*'].includes(status)).map((status) => ({ status, only: 'get' as const })),
  ];

/** `429, 5xx but 501`: numbers and hundreds, and those that are left out. */
function toStatuses(theirs: GivenPolicy['statuses']): readonly StatusRule[] | undefined | 'unknown' {
  if (theirs === undefined) return undefined;
  const wanted = typeof theirs === 'string' ? inWords(theirs) : theirs;
  if (wanted === undefined) return 'unknown';
  // Without a time a body that is too large stays too large (RFC 9110 §15.5.14).
  return wanted
    .filter((status) => status >= 100)
    .map((status) => (status === 413 ? { status, only: 'retry-after' } : status));
}

function inWords(text: string): number[] | undefined {
  const statuses: number[] = [];
  for (const part of text.split(',')) {
    const [, from = '', but] = /^\s*(\d{1,3}|\dxx)(?:\s+but\s+(\d{3}))?\s*$/.exec(part) ?? [];
    if (from === '') return undefined;
    const hundred = Number(from[0]) * 100;
    const all = from.endsWith('xx') ? Array.from({ length: 100 }, (_, index) => hundred + index) : [Number(from)];
    statuses.push(...all.filter((status) => status !== Number(but)));
  }
  return statuses;
}

/** A list of theirs that holds a method which is not idempotent is ours with `retryNonIdempotent`. */
function toMethods(theirs: GivenPolicy['methods'], method: string): RetryOptions {
  if (theirs === undefined) return {};
  if (theirs === 'any') return { retryNonIdempotent: true };
  const listed = theirs.map((name) => name.toUpperCase());
  const isIdempotent = (name: string) => (IDEMPOTENT_METHODS as readonly string[]).includes(name);
  return {
    methods: listed.filter(isIdempotent),
    retryNonIdempotent: !isIdempotent(method) && listed.includes(method.toUpperCase()),
  };
}

/** Explicit waits, or an exponential backoff; then the jitter around it, after the cap. */
function toBackoff(theirs: GivenPolicy): Backoff | undefined {
  const { jitter = 'none' } = theirs;
  const [, times, by] = /^x(\d*\.?\d+)(?:-(\d*\.?\d+))?$/.exec(jitter) ?? [];
  if (times !== undefined) {
    const [low, high] = [Number(times), Number(by ?? times)];
    const scaled = waits(theirs, (ms) => (ms * (low + high)) / 2);
    return low === high ? scaled : proportionalJitter(scaled, (high - low) / (high + low), 'after-cap');
  }
  const [, least, most] = /^add (\d+)-(\d+)$/.exec(jitter) ?? [];
  if (least !== undefined) {
    const shifted = Number(least) === 0 ? waits(theirs) : list(explicit(theirs).map((ms) => ms + Number(least)));
    return additiveJitter(shifted, Number(most) - Number(least), 'after-cap');
  }
  const [, percent] = /^\+-(\d+)%$/.exec(jitter) ?? [];
  if (percent !== undefined) return proportionalJitter(waits(theirs), Number(percent) / 100, 'after-cap');
  switch (jitter) {
    case 'none':
    // Of what is multiplied by a chance b.
    case 'b=1':
      return waits(theirs);
    case 'full':
      return fullJitter(waits(theirs));
    case 'equal':
      return equalJitter(waits(theirs));
    case 'decorrelated':
      return decorrelatedJitter(waits(theirs));
    default:
      return undefined;
  }
}

function waits(theirs: GivenPolicy, scale: (ms: number) => number = (ms) => ms): Backoff {
  const { delays_ms: delays, base_ms = 500, factor = 2, cap_ms } = theirs;
  if (delays !== undefined && delays.length > 0) return list(delays.map(scale));
  return exponential({
    baseMs: scale(base_ms),
    factor,
    maxMs: Math.min(scale(cap_ms ?? MAX_DELAY_MS), MAX_DELAY_MS),
  });
}

/** The waits before all the retries there may be. */
function explicit(theirs: GivenPolicy): number[] {
  const { attempts = DEFAULTS.attempts, delays_ms: delays, base_ms = 500, factor = 2, cap_ms } = theirs;
  if (delays !== undefined && delays.length > 0) return [...delays];
  return Array.from({ length: Math.max(1, attempts - 1) }, (_, retry) =>
    Math.min(base_ms * factor ** retry, cap_ms ?? MAX_DELAY_MS, MAX_DELAY_MS),
  );
}
