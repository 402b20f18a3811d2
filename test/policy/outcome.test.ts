import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { causeOf, isThrottled, type Outcome, retriesAllowed, retriesAtOnce } from '../../src/policy/outcome.ts';
import { DEFAULTS, type RetryPolicy, type StatusRule } from '../../src/policy/policy.ts';
import { requestFacts } from '../support/request-facts.ts';

const STATUSES = Array.from({ length: 500 }, (_, index) => 100 + index);
const answer = (status: number, retryAfter: string | null = null): Outcome => ({
  kind: 'response',
  status,
  time: { retryAfter, date: null, age: null },
});
const withStatuses = (...statuses: StatusRule[]): RetryPolicy => ({ ...DEFAULTS, statuses });
const keyedPost = requestFacts({ method: 'POST', keyed: true, hasBody: true });

const UNLIMITED = Number.POSITIVE_INFINITY;
const ALWAYS = {
  408: UNLIMITED,
  425: 1,
  429: UNLIMITED,
  502: UNLIMITED,
  503: UNLIMITED,
  504: UNLIMITED,
  521: UNLIMITED,
  522: UNLIMITED,
  523: UNLIMITED,
  524: UNLIMITED,
};

/** Every status from 100 to 599 that is retried at all, with the retries it allows. */
const retriedStatuses = (request: RequestFacts, policy: RetryPolicy, retryAfter: string | null = null) =>
  Object.fromEntries(
    STATUSES.map((status) => [status, retriesAllowed(answer(status, retryAfter), request, policy)]).filter(
      ([, retries]) => retries !== 0,
    ),
  );

describe('by default the statuses from 100 to 599 that are retried', () => {
  test.each([
    ...['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE'].map((method) => ({
      method,
      keyed: false,
      more: { 500: UNLIMITED },
    })),
    ...['PUT', 'DELETE'].map((method) => ({ method, keyed: false, more: {} })),
    ...['PUT', 'DELETE', 'POST', 'PATCH', 'PURGE'].map((method) => ({
      method,
      keyed: true,
      more: { 409: UNLIMITED },
    })),
    { method: 'GET', keyed: true, more: { 409: UNLIMITED, 500: UNLIMITED } },
    // Taken because of `retryNonIdempotent`: no better than a PUT.
    { method: 'POST', keyed: false, more: {} },
  ])('of $method, with a key: $keyed', ({ method, keyed, more }) => {
    const request = requestFacts({ method, keyed });
    expect(retriedStatuses(request, DEFAULTS)).toEqual({ ...ALWAYS, ...more });
    expect(retriedStatuses(request, DEFAULTS, '1')).toEqual({ ...ALWAYS, 413: UNLIMITED, ...more });
  });
});

describe('413 is retried only with a Retry-After', () => {
  test.each([
    { retryAfter: '5', retries: UNLIMITED },
    { retryAfter: '0', retries: UNLIMITED },
    { retryAfter: 'Sun, 06 Nov 1994 08:49:37 GMT', retries: UNLIMITED },
    { retryAfter: null, retries: 0 },
    // Malformed is absent.
    { retryAfter: '', retries: 0 },
    { retryAfter: 'soon', retries: 0 },
    { retryAfter: '-1', retries: 0 },
    { retryAfter: '1.5', retries: 0 },
    { retryAfter: 'Sun, 05 Jul 2026 12:00:10 +0000', retries: 0 },
  ])('Retry-After $retryAfter allows $retries retries', ({ retryAfter, retries }) => {
    expect(retriesAllowed(answer(413, retryAfter), requestFacts(), DEFAULTS)).toBe(retries);
  });

  test('and not when nothing is known of the headers', () => {
    expect(retriesAllowed({ kind: 'response', status: 413 }, requestFacts(), DEFAULTS)).toBe(0);
  });
});

describe('rules of a policy', () => {
  test.each<{ name: string; rule: StatusRule; request: RequestFacts; retries: number }>([
    { name: 'a bare status', rule: 404, request: requestFacts(), retries: UNLIMITED },
    { name: 'a rule without a condition', rule: { status: 404 }, request: keyedPost, retries: UNLIMITED },
    { name: 'a limit', rule: { status: 404, retries: 2 }, request: requestFacts(), retries: 2 },
    { name: 'a limit of none', rule: { status: 404, retries: 0 }, request: requestFacts(), retries: 0 },
    { name: 'safe: GET', rule: { status: 404, only: 'safe-method' }, request: requestFacts(), retries: UNLIMITED },
    {
      name: 'safe: PUT',
      rule: { status: 404, only: 'safe-method' },
      request: requestFacts({ method: 'PUT' }),
      retries: 0,
    },
    { name: 'safe: keyed POST', rule: { status: 404, only: 'safe-method' }, request: keyedPost, retries: 0 },
    { name: 'keyed', rule: { status: 404, only: 'idempotency-key' }, request: keyedPost, retries: UNLIMITED },
    { name: 'not keyed', rule: { status: 404, only: 'idempotency-key' }, request: requestFacts(), retries: 0 },
    {
      name: 'keyed, with a limit',
      rule: { status: 404, only: 'idempotency-key', retries: 1 },
      request: keyedPost,
      retries: 1,
    },
  ])('$name: $retries retries', ({ rule, request, retries }) => {
    expect(retriesAllowed(answer(404), request, withStatuses(rule))).toBe(retries);
    expect(retriesAllowed(answer(503), request, withStatuses(rule))).toBe(0);
  });

  test('the list is the whole list: without statuses only the network is retried', () => {
    const networkOnly = withStatuses();
    expect(retriedStatuses(requestFacts(), networkOnly, '1')).toEqual({});
    expect(retriesAllowed({ kind: 'network-error' }, requestFacts(), networkOnly)).toBe(UNLIMITED);
    expect(retriesAllowed({ kind: 'timeout', afterMs: 10_000 }, requestFacts(), networkOnly)).toBe(UNLIMITED);
  });
});

describe('without an answer', () => {
  test.each<{ name: string; outcome: Outcome; request: RequestFacts; retries: number }>([
    { name: 'network error', outcome: { kind: 'network-error' }, request: requestFacts(), retries: UNLIMITED },
    { name: 'network error, keyed POST', outcome: { kind: 'network-error' }, request: keyedPost, retries: UNLIMITED },
    {
      name: 'network error with integrity',
      outcome: { kind: 'network-error' },
      request: requestFacts({ choosy: true, destination: 'script' }),
      retries: 1,
    },
    { name: 'timeout', outcome: { kind: 'timeout', afterMs: 10_000 }, request: requestFacts(), retries: UNLIMITED },
    {
      name: 'timeout with integrity',
      outcome: { kind: 'timeout', afterMs: 10_000 },
      request: requestFacts({ choosy: true }),
      retries: UNLIMITED,
    },
    {
      name: '503 with integrity',
      outcome: answer(503),
      request: requestFacts({ choosy: true }),
      retries: UNLIMITED,
    },
    {
      name: 'opaque answer',
      outcome: { kind: 'response', status: 0 },
      request: requestFacts({ mode: 'no-cors', destination: 'image' }),
      retries: 0,
    },
    {
      name: 'opaque redirect',
      outcome: { kind: 'response', status: 0 },
      request: requestFacts({ navigation: true, mode: 'navigate', destination: 'document' }),
      retries: 0,
    },
  ])('$name: $retries retries', ({ outcome, request, retries }) => {
    expect(retriesAllowed(outcome, request, DEFAULTS)).toBe(retries);
  });
});

test('only 425 is repeated at once, only 429 and 503 start higher', () => {
  expect(STATUSES.filter((status) => retriesAtOnce(answer(status)))).toEqual([425]);
  expect(STATUSES.filter((status) => isThrottled(answer(status)))).toEqual([429, 503]);
  for (const outcome of [{ kind: 'network-error' }, { kind: 'timeout', afterMs: 1 }] as const) {
    expect(retriesAtOnce(outcome)).toBe(false);
    expect(isThrottled(outcome)).toBe(false);
  }
});

test.each<{ outcome: Outcome; cause: string }>([
  { outcome: answer(503), cause: 'status' },
  { outcome: { kind: 'network-error' }, cause: 'network-error' },
  { outcome: { kind: 'timeout', afterMs: 10_000 }, cause: 'timeout' },
])('what failed by $outcome.kind is told as $cause', ({ outcome, cause }) => {
  expect(causeOf(outcome)).toBe(cause);
});

test.each([
  { name: 'neither holds', keyed: false, retryAfter: null, retries: 0 },
  { name: 'the first holds', keyed: true, retryAfter: null, retries: 1 },
  { name: 'the second holds', keyed: false, retryAfter: '1', retries: 3 },
  { name: 'both hold', keyed: true, retryAfter: '1', retries: 3 },
])('of two rules for one status, $name: $retries retries', ({ keyed, retryAfter, retries }) => {
  const policy = withStatuses(
    { status: 409, only: 'idempotency-key', retries: 1 },
    { status: 409, only: 'retry-after', retries: 3 },
  );
  const outcome = { kind: 'response', status: 409, time: { retryAfter, date: null, age: null } } as const;
  expect(retriesAllowed(outcome, requestFacts({ keyed }), policy)).toBe(retries);
});

test('property: whatever the list, a status that is not in it is final and the count is never negative', () => {
  const rule: fc.Arbitrary<StatusRule> = fc.oneof(
    fc.integer({ min: 100, max: 599 }),
    fc.record(
      {
        status: fc.integer({ min: 100, max: 599 }),
        only: fc.constantFrom('safe-method' as const, 'idempotency-key' as const, 'retry-after' as const),
        retries: fc.nat({ max: 10 }),
      },
      { requiredKeys: ['status'] },
    ),
  );
  fc.assert(
    fc.property(fc.array(rule), fc.integer({ min: 0, max: 599 }), fc.boolean(), (statuses, status, keyed) => {
      const retries = retriesAllowed(answer(status), requestFacts({ keyed }), withStatuses(...statuses));
      const listed = statuses.some((one) => (typeof one === 'number' ? one : one.status) === status);
      expect(listed ? retries >= 0 : retries === 0).toBe(true);
    }),
  );
});

test.each([
  { outcome: { kind: 'response', status: 200, verdict: 'retry' }, retries: Number.POSITIVE_INFINITY },
  { outcome: { kind: 'response', status: 503, verdict: 'deliver' }, retries: 0 },
  { outcome: { kind: 'network-error', verdict: 'deliver' }, retries: 0 },
  { outcome: { kind: 'timeout', afterMs: 5, verdict: 'deliver' }, retries: 0 },
] as const)('what the user says of $outcome counts before the rules: $retries', ({ outcome, retries }) => {
  expect(retriesAllowed(outcome, requestFacts({ choosy: true }), DEFAULTS)).toBe(retries);
});
