import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constant, decorrelatedJitter, exponential, fullJitter, list } from '../../src/policy/backoff.ts';
import {
  afterFailure,
  askedUntil,
  type Decision,
  decide,
  isFinal,
  type Situation,
  type WaitBy,
} from '../../src/policy/decide.ts';
import type { Outcome } from '../../src/policy/outcome.ts';
import { DEFAULTS, NAVIGATION_DEFAULTS, type RetryAfterPolicy, type RetryPolicy } from '../../src/policy/policy.ts';
import { serverWaitMs } from '../../src/policy/retry-after.ts';
import { anyBackoff, chance, durationMs } from '../support/arbitraries.ts';
import { imf } from '../support/http-dates.ts';
import { requestFacts } from '../support/request-facts.ts';

const NOW = Date.UTC(2026, 6, 5, 12);
const HIGHEST = 1 - 2 ** -53;

const answer = (status: number, retryAfter: string | null = null, date: string | null = null): Outcome => ({
  kind: 'response',
  status,
  time: { retryAfter, date, age: null },
});
const NETWORK_ERROR: Outcome = { kind: 'network-error' };
const TIMEOUT: Outcome = { kind: 'timeout', afterMs: 10_000 };

/** Waits of 2 s after everything, so that what a row says about waiting is seen in the number. */
const policyWith = (over: Partial<RetryPolicy> = {}, retryAfter: Partial<RetryAfterPolicy> = {}): RetryPolicy => ({
  ...DEFAULTS,
  backoff: constant(2_000),
  throttledBackoff: constant(2_000),
  ...over,
  retryAfter: { ...DEFAULTS.retryAfter, ...retryAfter },
});

const situation = (over: Partial<Situation> = {}): Situation => ({
  outcome: answer(503),
  request: requestFacts(),
  policy: policyWith(),
  attempt: 1,
  now: NOW,
  deadline: NOW + 25_000,
  replayable: true,
  online: true,
  affordable: true,
  previousDelayMs: undefined,
  random: () => 0,
  ...over,
});

const retry = (delayMs: number, by: WaitBy = 'backoff', reason = 'status') => ({
  do: 'retry',
  reason,
  delayMs,
  by,
});
const giveUp = (reason: string) => ({ do: 'give-up', reason });
const SUCCESS = { do: 'deliver', reason: 'success' };
const FINAL = { do: 'deliver', reason: 'final-status' };
const WAIT_ONLINE = { do: 'wait-online', reason: 'offline' };

describe('every answer and every reason', () => {
  test.each<{ name: string; given: Partial<Situation>; decision: object }>([
    { name: '200', given: { outcome: { kind: 'response', status: 200 } }, decision: SUCCESS },
    { name: '304', given: { outcome: { kind: 'response', status: 304 } }, decision: SUCCESS },
    { name: '399', given: { outcome: { kind: 'response', status: 399 } }, decision: SUCCESS },
    { name: 'an opaque answer', given: { outcome: { kind: 'response', status: 0 } }, decision: SUCCESS },
    { name: '400', given: { outcome: answer(400) }, decision: FINAL },
    { name: '404', given: { outcome: answer(404) }, decision: FINAL },
    { name: '501', given: { outcome: answer(501) }, decision: FINAL },
    { name: '505', given: { outcome: answer(505) }, decision: FINAL },
    { name: '404 with Retry-After', given: { outcome: answer(404, '1') }, decision: FINAL },
    { name: '409 without a key', given: { outcome: answer(409) }, decision: FINAL },
    { name: '413 without Retry-After', given: { outcome: answer(413) }, decision: FINAL },
    {
      name: '500 of a PUT',
      given: { outcome: answer(500), request: requestFacts({ method: 'PUT' }) },
      decision: FINAL,
    },
    { name: '503', given: {}, decision: retry(2_000) },
    { name: '503 of the third attempt', given: { attempt: 3 }, decision: retry(2_000) },
    { name: '413 with Retry-After', given: { outcome: answer(413, '3') }, decision: retry(3_000, 'retry-after') },
    {
      name: '409 with a key',
      given: { outcome: answer(409), request: requestFacts({ method: 'POST', keyed: true }) },
      decision: retry(2_000),
    },
    { name: 'a network error', given: { outcome: NETWORK_ERROR }, decision: retry(2_000, 'backoff', 'network-error') },
    { name: 'a timeout', given: { outcome: TIMEOUT }, decision: retry(2_000, 'backoff', 'timeout') },
    {
      name: 'a server that names its time',
      given: { outcome: answer(503, '7') },
      decision: retry(7_000, 'retry-after'),
    },
    { name: 'a first 425', given: { outcome: answer(425) }, decision: retry(0) },
    { name: 'offline', given: { outcome: NETWORK_ERROR, online: false }, decision: WAIT_ONLINE },
    {
      name: 'offline past the deadline',
      given: { outcome: NETWORK_ERROR, online: false, deadline: NOW },
      decision: giveUp('offline'),
    },
    { name: 'the last attempt', given: { attempt: 4 }, decision: giveUp('attempts') },
    { name: 'more attempts than allowed', given: { attempt: 5 }, decision: giveUp('attempts') },
    { name: 'a first 425 after a 503', given: { outcome: answer(425), attempt: 2, alike: 1 }, decision: retry(0) },
    { name: 'a second 425', given: { outcome: answer(425), attempt: 2 }, decision: giveUp('attempts') },
    {
      name: 'a network error with integrity',
      given: { outcome: NETWORK_ERROR, request: requestFacts({ choosy: true }) },
      decision: retry(2_000, 'backoff', 'network-error'),
    },
    {
      name: 'a second one with integrity',
      given: { outcome: NETWORK_ERROR, request: requestFacts({ choosy: true }), attempt: 2 },
      decision: giveUp('attempts'),
    },
    { name: 'no budget', given: { affordable: false }, decision: giveUp('budget') },
    { name: 'no time', given: { deadline: NOW + 1_999 }, decision: giveUp('deadline') },
    { name: 'a server that asks for too much', given: { outcome: answer(503, '16') }, decision: giveUp('retry-after') },
    { name: 'a body that is gone', given: { replayable: false }, decision: giveUp('not-replayable') },
  ])('$name: $decision.do, $decision.reason', ({ given, decision }) => {
    expect(decide(situation(given))).toEqual(decision);
  });
});

test.each<{ outcome: Outcome; final: boolean }>([
  { outcome: { kind: 'response', status: 200 }, final: true },
  { outcome: { kind: 'response', status: 0 }, final: true },
  { outcome: answer(404), final: true },
  { outcome: answer(503), final: false },
  { outcome: NETWORK_ERROR, final: false },
  { outcome: TIMEOUT, final: false },
])('$outcome.kind $outcome.status is final: $final', ({ outcome, final }) => {
  expect(isFinal(outcome, requestFacts(), DEFAULTS)).toBe(final);
});

describe('which reason comes first', () => {
  const gone = { replayable: false };
  const offline = { outcome: NETWORK_ERROR, online: false };
  const lastAttempt = { attempt: 4 };
  const tooLong = { outcome: answer(503, '16') };
  const late = { deadline: NOW };
  const broke = { affordable: false };
  test.each<{ first: string; than: string; given: Partial<Situation>; decision: object }>([
    {
      first: 'success',
      than: 'every reason to give up',
      given: { ...gone, ...lastAttempt, ...late, ...broke, online: false, outcome: { kind: 'response', status: 200 } },
      decision: SUCCESS,
    },
    {
      first: 'a final status',
      than: 'every reason to give up',
      given: { ...gone, ...lastAttempt, ...late, ...broke, online: false, outcome: answer(404, '16') },
      decision: FINAL,
    },
    { first: 'not replayable', than: 'offline', given: { ...offline, ...gone }, decision: giveUp('not-replayable') },
    { first: 'not replayable', than: 'too long', given: { ...tooLong, ...gone }, decision: giveUp('not-replayable') },
    { first: 'not replayable', than: 'budget', given: { ...broke, ...gone }, decision: giveUp('not-replayable') },
    { first: 'offline', than: 'attempts', given: { ...lastAttempt, ...offline }, decision: WAIT_ONLINE },
    { first: 'offline', than: 'budget', given: { ...broke, ...offline }, decision: WAIT_ONLINE },
    { first: 'offline', than: 'deadline', given: { ...late, ...offline }, decision: giveUp('offline') },
    { first: 'attempts', than: 'too long', given: { ...tooLong, ...lastAttempt }, decision: giveUp('attempts') },
    { first: 'attempts', than: 'deadline', given: { ...late, ...lastAttempt }, decision: giveUp('attempts') },
    { first: 'attempts', than: 'budget', given: { ...broke, ...lastAttempt }, decision: giveUp('attempts') },
    { first: 'too long', than: 'deadline', given: { ...late, ...tooLong }, decision: giveUp('retry-after') },
    { first: 'too long', than: 'budget', given: { ...broke, ...tooLong }, decision: giveUp('retry-after') },
    { first: 'deadline', than: 'budget', given: { ...broke, ...late }, decision: giveUp('deadline') },
  ])('$first before $than', ({ given, decision }) => {
    expect(decide(situation(given))).toEqual(decision);
  });

  test('a body that the last attempt used up is a matter of attempts', () => {
    const request = requestFacts({ method: 'PUT', hasBody: true });
    expect(decide(situation({ request, attempt: 4, replayable: false }))).toEqual(giveUp('attempts'));
  });
});

describe('offline', () => {
  test('an answer came from somewhere, so that it is no matter of being offline', () => {
    expect(decide(situation({ online: false }))).toEqual(retry(2_000));
  });

  test('a network error while online, or not known to be offline, spends an attempt', () => {
    expect(decide(situation({ outcome: NETWORK_ERROR, attempt: 4 }))).toEqual(giveUp('attempts'));
  });

  test.each([
    { deadline: NOW + 1, decision: WAIT_ONLINE },
    { deadline: NOW, decision: giveUp('offline') },
    { deadline: NOW - 1, decision: giveUp('offline') },
  ])('with the deadline at $deadline: $decision.do', ({ deadline, decision }) => {
    expect(decide(situation({ outcome: NETWORK_ERROR, online: false, deadline }))).toEqual(decision);
  });
});

describe('the deadline', () => {
  test.each([
    { inMs: 2_001, decision: retry(2_000) },
    { inMs: 2_000, decision: giveUp('deadline') },
    { inMs: 1_999, decision: giveUp('deadline') },
    { inMs: -60_000, decision: giveUp('deadline') },
  ])('$inMs ms ahead of a wait of 2 s: $decision.do', ({ inMs, decision }) => {
    expect(decide(situation({ deadline: NOW + inMs }))).toEqual(decision);
  });

  test.each([
    { inMs: 3_001, decision: retry(3_000, 'retry-after') },
    { inMs: 3_000, decision: giveUp('deadline') },
  ])('$inMs ms ahead of 3 s that the server asks for: $decision.do', ({ inMs, decision }) => {
    expect(decide(situation({ outcome: answer(503, '3'), deadline: NOW + inMs }))).toEqual(decision);
  });

  test('a retry at once needs time, too', () => {
    expect(decide(situation({ outcome: answer(425), deadline: NOW + 1 }))).toEqual(retry(0));
    expect(decide(situation({ outcome: answer(425), deadline: NOW }))).toEqual(giveUp('deadline'));
  });
});

describe('the backoff', () => {
  test.each([
    { attempt: 1, waits: 10 },
    { attempt: 2, waits: 200 },
    { attempt: 3, waits: 3_000 },
  ])('after attempt $attempt is that of retry $attempt', ({ attempt, waits }) => {
    const policy = policyWith({ backoff: list([10, 200, 3_000]) });
    expect(decide(situation({ outcome: NETWORK_ERROR, policy, attempt }))).toMatchObject({ delayMs: waits });
  });

  test.each<{ outcome: Outcome; waits: number }>([
    { outcome: answer(429), waits: 900 },
    { outcome: answer(503), waits: 900 },
    { outcome: answer(503, 'soon'), waits: 900 },
    { outcome: answer(500), waits: 100 },
    { outcome: answer(502), waits: 100 },
    { outcome: answer(504), waits: 100 },
    { outcome: NETWORK_ERROR, waits: 100 },
    { outcome: TIMEOUT, waits: 100 },
  ])('$outcome.kind $outcome.status waits $waits ms', ({ outcome, waits }) => {
    const policy = policyWith({ backoff: constant(100), throttledBackoff: constant(900) });
    expect(decide(situation({ outcome, policy }))).toMatchObject({ delayMs: waits, by: 'backoff' });
  });

  test('the one for servers short of capacity is for those that name no time', () => {
    const policy = policyWith({ backoff: constant(2_000), throttledBackoff: constant(9_000) });
    expect(decide(situation({ outcome: answer(503, '1'), policy }))).toEqual(retry(2_000, 'backoff'));
    expect(decide(situation({ outcome: answer(503, '3'), policy }))).toEqual(retry(3_000, 'retry-after'));
  });

  test('the wait before is carried on', () => {
    const policy = policyWith({ backoff: decorrelatedJitter(exponential({ baseMs: 100, maxMs: 10_000 })) });
    const given = { outcome: NETWORK_ERROR, policy, random: () => 0.5 };
    expect(decide(situation(given))).toMatchObject({ delayMs: 200 });
    expect(decide(situation({ ...given, attempt: 2, previousDelayMs: 200 }))).toMatchObject({ delayMs: 350 });
    expect(decide(situation({ ...given, attempt: 3, previousDelayMs: 350 }))).toMatchObject({ delayMs: 575 });
  });

  test.each([
    { outcome: NETWORK_ERROR, attempt: 1, waits: 250 },
    { outcome: NETWORK_ERROR, attempt: 2, waits: 500 },
    { outcome: NETWORK_ERROR, attempt: 3, waits: 1_000 },
    { outcome: answer(503), attempt: 1, waits: 500 },
    { outcome: answer(429), attempt: 2, waits: 1_000 },
    { outcome: answer(503), attempt: 3, waits: 2_000 },
  ])('by default $outcome.kind $outcome.status of attempt $attempt waits $waits ms', ({ outcome, attempt, waits }) => {
    expect(decide(situation({ outcome, attempt, policy: DEFAULTS, random: () => 0.5 }))).toMatchObject({
      delayMs: waits,
    });
  });

  test('row 8: 1 s × 2 with 0–100 ms on top, 4 attempts: three retries and an end', () => {
    const policy = policyWith({
      backoff: {
        kind: 'additive-jitter',
        of: exponential({ baseMs: 1_000, maxMs: 30_000 }),
        upToMs: 100,
        order: 'before-cap',
      },
    });
    const given = { outcome: NETWORK_ERROR, policy, random: () => 0.5 };
    expect([1, 2, 3, 4].map((attempt) => decide(situation({ ...given, attempt })))).toEqual([
      retry(1_050, 'backoff', 'network-error'),
      retry(2_050, 'backoff', 'network-error'),
      retry(4_050, 'backoff', 'network-error'),
      giveUp('attempts'),
    ]);
  });
});

describe('Retry-After', () => {
  test.each<{
    name: string;
    retryAfter: string | null;
    mode?: 'extend' | 'replace' | 'ignore';
    status?: number;
    statuses?: 'retried' | readonly number[];
    decision: object;
  }>([
    { name: 'longer', retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'shorter', retryAfter: '1', decision: retry(2_000, 'backoff') },
    { name: 'as long as the backoff', retryAfter: '2', decision: retry(2_000, 'retry-after') },
    { name: 'now', retryAfter: '0', decision: retry(0, 'retry-after') },
    { name: 'a date', retryAfter: imf(NOW + 3_000), decision: retry(3_000, 'retry-after') },
    { name: 'a date that is past', retryAfter: imf(NOW - 3_600_000), decision: retry(2_000) },
    { name: 'this very second', retryAfter: imf(NOW), decision: retry(2_000) },
    { name: 'malformed', retryAfter: 'soon', decision: retry(2_000) },
    { name: 'negative', retryAfter: '-1', decision: retry(2_000) },
    { name: 'two values', retryAfter: '2, 5', decision: retry(2_000) },
    { name: 'hidden', retryAfter: null, decision: retry(2_000) },
    { name: 'as much as allowed', retryAfter: '15', decision: retry(15_000, 'retry-after') },
    { name: 'a second more than allowed', retryAfter: '16', decision: giveUp('retry-after') },
    { name: '30 days', retryAfter: '2592000', decision: giveUp('retry-after') },
    { name: 'more than any timer takes', retryAfter: '4294967296', decision: giveUp('retry-after') },
    { name: 'endless digits', retryAfter: '9'.repeat(400), decision: giveUp('retry-after') },
    { name: 'the year 9999', retryAfter: 'Fri, 31 Dec 9999 23:59:59 GMT', decision: giveUp('retry-after') },
    { name: 'longer', mode: 'replace', retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'shorter', mode: 'replace', retryAfter: '1', decision: retry(1_000, 'retry-after') },
    { name: 'now', mode: 'replace', retryAfter: '0', decision: retry(0, 'retry-after') },
    { name: 'a date that is past', mode: 'replace', retryAfter: imf(NOW - 3_600_000), decision: retry(2_000) },
    { name: 'malformed', mode: 'replace', retryAfter: 'soon', decision: retry(2_000) },
    { name: 'too much', mode: 'replace', retryAfter: '16', decision: giveUp('retry-after') },
    { name: 'longer', mode: 'ignore', retryAfter: '3', decision: retry(2_000) },
    { name: 'now', mode: 'ignore', retryAfter: '0', decision: retry(2_000) },
    { name: 'too much', mode: 'ignore', retryAfter: '2592000', decision: retry(2_000) },
    { name: 'on a 502', status: 502, retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'on a 408', status: 408, retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'on a 500', status: 500, retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'on a 425', status: 425, retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'listed', statuses: [429, 503], retryAfter: '3', decision: retry(3_000, 'retry-after') },
    { name: 'not listed', statuses: [429, 503], status: 502, retryAfter: '3', decision: retry(2_000) },
    { name: 'too much, not listed', statuses: [429], retryAfter: '2592000', decision: retry(2_000) },
    { name: 'listed nowhere', statuses: [], retryAfter: '3', decision: retry(2_000) },
  ])('$mode, $name ($retryAfter): $decision.do $decision.delayMs', (row) => {
    const { retryAfter, mode = 'extend', status = 503, statuses = 'retried', decision } = row;
    const policy = policyWith({}, { mode, statuses });
    expect(decide(situation({ outcome: answer(status, retryAfter), policy }))).toEqual(decision);
  });

  test('is not asked about where nothing is known of the headers', () => {
    expect(decide(situation({ outcome: { kind: 'response', status: 503 } }))).toEqual(retry(2_000));
  });

  test.each([
    { retryAfter: '120', waits: 60_000 },
    { retryAfter: '3600', waits: 60_000 },
    { retryAfter: imf(NOW + 7_200_000), waits: 60_000 },
    { retryAfter: '61', waits: 60_000 },
    { retryAfter: '60', waits: 60_000 },
    { retryAfter: '59', waits: 59_000 },
    { retryAfter: '9'.repeat(400), waits: 60_000 },
  ])('row 45: truncated at 60 s: $retryAfter waits $waits ms', ({ retryAfter, waits }) => {
    for (const mode of ['extend', 'replace'] as const) {
      const policy = policyWith({}, { mode, maxMs: 60_000, overMax: 'truncate' });
      const deadline = NOW + 100_000;
      expect(decide(situation({ outcome: answer(503, retryAfter), policy, deadline }))).toEqual(
        retry(waits, 'retry-after'),
      );
    }
  });

  test('row 9: a cap of 24 hours is expressible', () => {
    const policy = policyWith({}, { maxMs: 86_400_000 });
    const given = { policy, deadline: NOW + 90_000_000 };
    expect(decide(situation({ ...given, outcome: answer(503, '86400') }))).toEqual(retry(86_400_000, 'retry-after'));
    expect(decide(situation({ ...given, outcome: answer(503, '86401') }))).toEqual(giveUp('retry-after'));
  });

  test('S11 in line a navigation waits 5 s at most', () => {
    const given = { policy: NAVIGATION_DEFAULTS, request: requestFacts({ navigation: true, mode: 'navigate' }) };
    expect(decide(situation({ ...given, outcome: answer(503, '5') }))).toMatchObject({ do: 'retry', delayMs: 5_000 });
    expect(decide(situation({ ...given, outcome: answer(503, '6') }))).toEqual(giveUp('retry-after'));
  });

  test.each([
    { asks: '4', random: 0, waits: 4_000 },
    { asks: '4', random: 0.5, waits: 4_500 },
    { asks: '4', random: HIGHEST, waits: 5_000 },
    { asks: '15', random: 0.5, waits: 16_875 },
    { asks: '20', random: HIGHEST, waits: 25_000 },
    { asks: '40', random: 0.5, waits: 42_500 },
    { asks: '40', random: HIGHEST, waits: 45_000 },
    { asks: '86400', random: HIGHEST, waits: 86_405_000 },
  ])('$asks s at chance $random wait $waits ms: at most a quarter and 5 s later', ({ asks, random, waits }) => {
    for (const mode of ['extend', 'replace'] as const) {
      const policy = policyWith({}, { mode, maxMs: 86_400_000 });
      const given = { outcome: answer(503, asks), policy, random: () => random, deadline: NOW + 1e9 };
      expect(decide(situation(given))).toEqual(retry(waits, 'retry-after'));
    }
  });

  test('the longest wait there is stays one that a timer takes, jitter included', () => {
    const policy = policyWith({}, { maxMs: 2_147_483_647, overMax: 'truncate' });
    const given = { outcome: answer(503, '9'.repeat(30)), policy, random: () => HIGHEST, deadline: NOW + 1e12 };
    expect(decide(situation(given))).toEqual(retry(2_147_483_647, 'retry-after'));
  });

  test('a part of a millisecond is never rounded down to before the time the server named', () => {
    const given = { outcome: answer(503, imf(NOW + 3_000)), now: NOW + 0.25 };
    expect(decide(situation(given))).toEqual(retry(3_000, 'retry-after'));
  });

  test.each<{ name: string; server: number; age: string | null; sameOrigin: boolean; decision: object }>([
    { name: 'ahead', server: 3_600_000, age: null, sameOrigin: true, decision: retry(3_000, 'retry-after') },
    { name: 'behind', server: -3_600_000, age: null, sameOrigin: true, decision: retry(3_000, 'retry-after') },
    { name: 'ahead, with Age', server: 3_600_000, age: '7200', sameOrigin: true, decision: giveUp('retry-after') },
    { name: 'ahead, cross-origin', server: 3_600_000, age: null, sameOrigin: false, decision: giveUp('retry-after') },
    { name: 'behind, with Age', server: -3_600_000, age: '7200', sameOrigin: true, decision: retry(2_000) },
    { name: 'behind, cross-origin', server: -3_600_000, age: null, sameOrigin: false, decision: retry(2_000) },
  ])('a server clock $name: $decision.do', ({ server, age, sameOrigin, decision }) => {
    const time = { retryAfter: imf(NOW + server + 3_000), date: imf(NOW + server), age };
    const request = requestFacts({ sameOrigin });
    expect(decide(situation({ outcome: { kind: 'response', status: 503, time }, request }))).toEqual(decision);
  });
});

describe('RateLimit', () => {
  const limited = (t: number, status = 429, retryAfter: string | null = null): Outcome => ({
    kind: 'response',
    status,
    time: { retryAfter, date: null, age: null, rateLimit: `"default";r=0;t=${t}` },
  });
  test.each<{ name: string; given: Partial<Situation>; decision: object }>([
    { name: 'lengthens the wait', given: { outcome: limited(3) }, decision: retry(3_000, 'rate-limit') },
    {
      name: 'on any status that is retried',
      given: { outcome: limited(3, 502) },
      decision: retry(3_000, 'rate-limit'),
    },
    {
      name: 'and everybody comes back a little later',
      given: { outcome: limited(3), random: () => HIGHEST },
      decision: retry(3_750, 'rate-limit'),
    },
    { name: 'shorter than the backoff', given: { outcome: limited(1) }, decision: retry(2_000) },
    { name: 'as long as the backoff', given: { outcome: limited(2) }, decision: retry(2_000) },
    { name: 'as long as may be', given: { outcome: limited(15) }, decision: retry(15_000, 'rate-limit') },
    { name: 'longer: passed over', given: { outcome: limited(16) }, decision: retry(2_000) },
    { name: 'now', given: { outcome: limited(0) }, decision: retry(2_000) },
    {
      name: 'past the deadline: passed over',
      given: { outcome: limited(5), deadline: NOW + 5_000 },
      decision: retry(2_000),
    },
    {
      name: 'just before the deadline',
      given: { outcome: limited(5), deadline: NOW + 5_001 },
      decision: retry(5_000, 'rate-limit'),
    },
    {
      name: 'beside a Retry-After, which counts',
      given: { outcome: limited(9, 429, '3') },
      decision: retry(3_000, 'retry-after'),
    },
    { name: 'beside a malformed one', given: { outcome: limited(9, 429, 'x') }, decision: retry(9_000, 'rate-limit') },
    {
      name: 'beside a time that an earlier answer named',
      given: { outcome: limited(9), notBefore: NOW + 3_000 },
      decision: retry(3_000, 'retry-after'),
    },
    {
      name: 'also where a Retry-After replaces the backoff',
      given: { outcome: limited(3), policy: policyWith({}, { mode: 'replace' }) },
      decision: retry(3_000, 'rate-limit'),
    },
    {
      name: 'ignored with Retry-After',
      given: { outcome: limited(3), policy: policyWith({}, { mode: 'ignore' }) },
      decision: retry(2_000),
    },
    {
      name: 'ignored on a status whose times do not count',
      given: { outcome: limited(3), policy: policyWith({}, { statuses: [503] }) },
      decision: retry(2_000),
    },
    { name: 'the last attempt', given: { outcome: limited(3), attempt: 4 }, decision: giveUp('attempts') },
    { name: 'on a good answer', given: { outcome: limited(3, 200) }, decision: SUCCESS },
  ])('$name: $decision', ({ given, decision }) => {
    expect(decide(situation(given))).toEqual(decision);
  });

  test('it holds nobody: it is no time that the server named', () => {
    expect(askedUntil(limited(3), requestFacts(), DEFAULTS, NOW)).toBeUndefined();
  });

  test('property: it never ends a request, and never shortens a wait', () => {
    fc.assert(
      fc.property(
        fc.record({
          t: fc.nat({ max: 40 }),
          attempt: fc.integer({ min: 1, max: 5 }),
          leftMs: fc.nat({ max: 40_000 }),
          status: fc.constantFrom(404, 425, 429, 503),
          mode: fc.constantFrom('extend' as const, 'replace' as const, 'ignore' as const),
          luck: chance,
        }),
        ({ t, attempt, leftMs, status, mode, luck }) => {
          const given = {
            attempt,
            deadline: NOW + leftMs,
            policy: policyWith({}, { mode }),
            random: () => luck,
          };
          const plain = decide(situation({ ...given, outcome: answer(status) }));
          const hinted = decide(situation({ ...given, outcome: limited(t, status) }));
          if (plain.do !== 'retry' || hinted.do !== 'retry') expect(hinted).toEqual(plain);
          else expect(hinted.delayMs).toBeGreaterThanOrEqual(plain.delayMs);
        },
      ),
    );
  });
});

describe('425 (Too Early)', () => {
  test('is repeated once, at once, whatever the backoff', () => {
    const policy = policyWith({ backoff: constant(9_000), throttledBackoff: constant(9_000) });
    const given = { outcome: answer(425), policy, random: () => HIGHEST };
    expect(decide(situation({ ...given, attempt: 1 }))).toEqual(retry(0));
    expect(decide(situation({ ...given, attempt: 2 }))).toEqual(giveUp('attempts'));
  });

  test('a list that does not limit how often waits before the second time', () => {
    const policy = policyWith({ statuses: [425] });
    expect(decide(situation({ outcome: answer(425), policy }))).toEqual(retry(0));
    expect(decide(situation({ outcome: answer(425), policy, attempt: 2 }))).toEqual(retry(2_000));
    expect(decide(situation({ outcome: answer(425), policy, attempt: 3, alike: 1 }))).toEqual(retry(0));
  });

  test('a policy that does not list it delivers it', () => {
    expect(decide(situation({ outcome: answer(425), policy: policyWith({ statuses: [503] }) }))).toEqual(FINAL);
  });
});

describe('properties over arbitrary situations', () => {
  const header = fc.oneof(
    fc.constant(null),
    fc.nat({ max: 100 }).map(String),
    fc.integer({ min: -100_000, max: 100_000 }).map((ms) => imf(NOW + ms)),
    fc.constantFrom('0', 'soon', '-1', '9'.repeat(40), '4294967296'),
    fc.string(),
  );
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    { weight: 1, arbitrary: fc.constant(NETWORK_ERROR) },
    { weight: 1, arbitrary: fc.constant(TIMEOUT) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('response' as const),
        status: fc.oneof(
          fc.constantFrom(0, 200, 404, 409, 413, 425, 429, 500, 503),
          fc.integer({ min: 100, max: 599 }),
        ),
        time: fc.record({ retryAfter: header, date: header, age: fc.constantFrom(null, '0', '7200') }),
      }),
    },
  );
  const request = fc
    .record({
      method: fc.constantFrom('GET', 'PUT', 'POST'),
      keyed: fc.boolean(),
      choosy: fc.boolean(),
      sameOrigin: fc.boolean(),
    })
    .map(requestFacts);
  const policy: fc.Arbitrary<RetryPolicy> = fc
    .record({
      attempts: fc.integer({ min: 2, max: 10_000 }),
      backoff: anyBackoff,
      throttledBackoff: anyBackoff,
      retryAfter: fc.record({
        mode: fc.constantFrom('extend' as const, 'replace' as const, 'ignore' as const),
        statuses: fc.oneof(fc.constant('retried' as const), fc.constant([429, 503])),
        maxMs: durationMs,
        overMax: fc.constantFrom('give-up' as const, 'truncate' as const),
      }),
    })
    .map((over) => ({ ...DEFAULTS, ...over }));
  const anySituation: fc.Arbitrary<Situation> = fc.record({
    outcome,
    request,
    policy,
    attempt: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 10_000 })),
    now: fc.constant(NOW),
    deadline: fc.oneof(fc.integer({ min: -10_000, max: 100_000 }), fc.constant(1e10)).map((ms) => NOW + ms),
    replayable: fc.constantFrom(true, true, true, false),
    online: fc.boolean(),
    affordable: fc.constantFrom(true, true, true, false),
    previousDelayMs: fc.option(fc.nat({ max: 2_147_483_647 }), { nil: undefined }),
    random: chance.map((value) => () => value),
  });
  const ofKind = <Kind extends Decision['do']>(decision: Decision, kind: Kind) =>
    decision.do === kind ? (decision as Extract<Decision, { do: Kind }>) : undefined;

  test('a retry is one that is allowed, can be paid for and starts before the deadline', () => {
    let retries = 0;
    fc.assert(
      fc.property(anySituation, (given) => {
        const decision = ofKind(decide(given), 'retry');
        if (!decision) return;
        retries++;
        expect(Number.isInteger(decision.delayMs)).toBe(true);
        expect(decision.delayMs).toBeGreaterThanOrEqual(0);
        expect(decision.delayMs).toBeLessThanOrEqual(2_147_483_647);
        expect(given.now + decision.delayMs).toBeLessThan(given.deadline);
        expect(given.attempt).toBeLessThan(given.policy.attempts);
        expect(given.replayable && given.affordable).toBe(true);
      }),
      { numRuns: 5_000 },
    );
    expect(retries).toBeGreaterThan(100);
  });

  test('never earlier than the server said, and after its time by a quarter and 5 s at most', () => {
    let told = 0;
    fc.assert(
      fc.property(anySituation, header, header, (other, retryAfter, date) => {
        const outcome = answer(503, retryAfter, date);
        const given = { ...other, outcome, attempt: 1, replayable: true, affordable: true, deadline: NOW + 1e10 };
        const decision = ofKind(decide(given), 'retry');
        const { mode, statuses, maxMs } = given.policy.retryAfter;
        if (!decision || outcome.kind !== 'response' || !outcome.time || mode === 'ignore') return;
        if (statuses !== 'retried' && !statuses.includes(503)) return;
        const asked = serverWaitMs(outcome.time, given.now, given.request.sameOrigin);
        if (asked === undefined) return;
        told++;
        const waits = Math.min(asked, maxMs);
        expect(decision.delayMs).toBeGreaterThanOrEqual(waits);
        if (decision.by === 'retry-after') {
          expect(decision.delayMs).toBeLessThanOrEqual(Math.ceil(waits + Math.min(waits / 4, 5_000)));
        }
      }),
      { numRuns: 5_000 },
    );
    expect(told).toBeGreaterThan(500);
  });

  test('what a server asks for beyond the maximum is given up or cut, never waited for', () => {
    fc.assert(
      fc.property(anySituation, fc.integer({ min: 16, max: 2_000_000_000 }), (given, seconds) => {
        const retryAfter = { ...DEFAULTS.retryAfter, maxMs: 15_000, overMax: given.policy.retryAfter.overMax };
        const decision = decide({
          ...given,
          policy: { ...given.policy, retryAfter },
          outcome: answer(503, String(seconds)),
        });
        const told = ofKind(decision, 'retry');
        if (retryAfter.overMax === 'give-up') expect(told).toBeUndefined();
        else if (told?.by === 'retry-after') expect(told.delayMs).toBeLessThanOrEqual(18_750);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an answer that no rule retries is delivered, whatever else is the case', () => {
    fc.assert(
      fc.property(
        anySituation,
        fc.constantFrom(0, 200, 204, 304, 400, 401, 403, 404, 410, 422, 501, 505),
        (given, status) => {
          const decision = decide({ ...given, outcome: answer(status, '1') });
          expect(decision).toEqual(status >= 400 ? FINAL : SUCCESS);
        },
      ),
    );
  });

  test('a decision is the delivery of what is final and the next step after what is not', () => {
    fc.assert(
      fc.property(anySituation, (given) => {
        const decision = decide(given);
        expect(isFinal(given.outcome, given.request, given.policy)).toBe(decision.do === 'deliver');
        if (decision.do !== 'deliver') expect(afterFailure(given)).toEqual(decision);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a decision is plain data, and the same situation always gives the same', () => {
    fc.assert(
      fc.property(anySituation, (given) => {
        const decision = decide(given);
        expect(structuredClone(decision)).toStrictEqual(decision);
        expect(decide(given)).toStrictEqual(decision);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a time that an earlier answer named', () => {
  const policy = policyWith({ backoff: constant(500) });
  const given = { outcome: NETWORK_ERROR, policy, random: () => 0 };
  test.each([
    {
      name: 'is not undercut by the backoff',
      notBefore: NOW + 3_000,
      decision: retry(3_000, 'retry-after', 'network-error'),
    },
    { name: 'that has passed is nothing', notBefore: NOW - 1, decision: retry(500, 'backoff', 'network-error') },
    {
      name: 'that is nearer than the backoff leaves it',
      notBefore: NOW + 100,
      decision: retry(500, 'backoff', 'network-error'),
    },
    { name: 'that is too far ends the request', notBefore: NOW + 15_001, decision: giveUp('retry-after') },
  ])('$name', ({ notBefore, decision }) => {
    expect(decide(situation({ ...given, notBefore }))).toEqual(decision);
  });

  test('is what askedUntil reads from it, unless the policy ignores it', () => {
    const request = situation({}).request;
    expect(askedUntil(answer(503, '3'), request, policy, NOW)).toBe(NOW + 3_000);
    expect(askedUntil(answer(503, 'soon'), request, policy, NOW)).toBeUndefined();
    expect(askedUntil(answer(503, '3'), request, policyWith({}, { mode: 'ignore' }), NOW)).toBeUndefined();
    expect(askedUntil(NETWORK_ERROR, request, policy, NOW)).toBeUndefined();
  });
});

test('failures that always go on end after the attempts of the policy', () => {
  const policy = policyWith({ attempts: 7, backoff: fullJitter(exponential({ baseMs: 1, maxMs: 10 })) });
  let attempt = 1;
  while (decide(situation({ outcome: NETWORK_ERROR, policy, attempt })).do === 'retry') attempt++;
  expect(attempt).toBe(7);
});

describe('an open circuit', () => {
  const circuit = { state: 'closed', parked: false, attempts: 4 } as const;
  test.each<{ name: string; over: Partial<Situation>; decision: object }>([
    { name: 'closed', over: { circuit }, decision: retry(2_000) },
    {
      name: 'parked',
      over: { circuit: { ...circuit, state: 'open', parked: true } },
      decision: { do: 'park', reason: 'circuit' },
    },
    { name: 'open, and not parked', over: { circuit: { ...circuit, state: 'open' } }, decision: giveUp('circuit') },
    {
      name: 'half-open, and not parked',
      over: { circuit: { ...circuit, state: 'half-open' } },
      decision: giveUp('circuit'),
    },
    { name: 'closed, and fewer attempts', over: { circuit: { ...circuit, attempts: 2 } }, decision: retry(2_000) },
    {
      name: 'closed, and none left',
      over: { circuit: { ...circuit, attempts: 2 }, attempt: 2 },
      decision: giveUp('circuit'),
    },
    // Parked although there is neither time nor budget for a retry of its own.
    {
      name: 'parked, poor and late',
      over: { circuit: { ...circuit, state: 'open', parked: true }, affordable: false, deadline: NOW + 1 },
      decision: { do: 'park', reason: 'circuit' },
    },
    {
      name: 'parked, and the server asks for too much',
      over: { circuit: { ...circuit, state: 'open', parked: true }, outcome: answer(503, '3600') },
      decision: giveUp('retry-after'),
    },
  ])('$name', ({ over, decision }) => expect(decide(situation(over))).toEqual(decision));
});

describe('another server is asked next', () => {
  const asked = answer(503, '10');
  test.each<{ name: string; over: Partial<Situation>; decision: object }>([
    { name: 'what the one that failed asked for does not count', over: { outcome: asked }, decision: retry(2_000) },
    { name: 'nor does its zero', over: { outcome: answer(503, '0') }, decision: retry(2_000) },
    {
      name: 'what that one has asked for does',
      over: { notBefore: NOW + 5_000 },
      decision: retry(5_000, 'retry-after'),
    },
    { name: 'unless it is over', over: { notBefore: NOW - 5_000 }, decision: retry(2_000) },
    { name: 'or too much', over: { notBefore: NOW + 15_001 }, decision: giveUp('retry-after') },
    { name: 'but not more than the most', over: { notBefore: NOW + 15_000 }, decision: retry(15_000, 'retry-after') },
    {
      name: 'a hint of the one that failed does not',
      over: {
        outcome: {
          kind: 'response',
          status: 503,
          time: { retryAfter: null, date: null, age: null, rateLimit: '"a";r=0;t=9' },
        },
      },
      decision: retry(2_000),
    },
  ])('$name', ({ over, decision }) => expect(decide(situation({ elsewhere: true, ...over }))).toEqual(decision));
});

test('a zero is no "now" as long as an earlier answer of the same server holds: the longer of both waits', () => {
  const given = { outcome: answer(503, '0'), notBefore: NOW + 1_000 };
  expect(decide(situation(given))).toEqual(retry(2_000));
  expect(decide(situation({ ...given, notBefore: NOW + 3_000 }))).toEqual(retry(3_000, 'retry-after'));
});
