import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constant, exponential, fullJitter } from '../../src/policy/backoff.ts';
import {
  DEFAULTS,
  frozen,
  MAX_TOTAL_MS,
  NAVIGATION_DEFAULTS,
  RETRY_AFTER_JITTER,
  type RetryOptions,
  type RetryPolicy,
  resolvePolicy,
} from '../../src/policy/policy.ts';
import { anyBackoff } from '../support/arbitraries.ts';

const DEFAULT_NUMBERS = {
  attempts: 4,
  methods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', 'TRACE'],
  retryNonIdempotent: false,
  statuses: [
    408,
    { status: 409, only: 'idempotency-key' },
    { status: 413, only: 'retry-after' },
    { status: 425, retries: 1 },
    429,
    { status: 500, only: 'safe-method' },
    502,
    503,
    504,
    521,
    522,
    523,
    524,
  ],
  backoff: { kind: 'full-jitter', of: { kind: 'exponential', baseMs: 500, factor: 2, maxMs: 10_000 } },
  throttledBackoff: { kind: 'full-jitter', of: { kind: 'exponential', baseMs: 1_000, factor: 2, maxMs: 10_000 } },
  retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 15_000, overMax: 'give-up' },
  attemptTimeoutMs: 10_000,
  cancelTimedOut: false,
  totalMs: 25_000,
  hardTotal: false,
  hedge: false,
  mirrors: [],
  mirrorStatuses: 'retried',
  mirrorCredentials: false,
  retryAttemptHeader: false,
  maxReplayBytes: 1_048_576,
  holdScope: 'auto',
  circuit: 'suppress',
  mediaRanges: false,
  resume: false,
  holdBody: false,
};

/** What `initialDelay` and `backoffFactor` come to: every wait. */
function growing(baseMs: number, factor: number, maxMs = 10_000) {
  const backoff = fullJitter(exponential({ baseMs, factor, maxMs }));
  return { backoff, throttledBackoff: backoff };
}

/** Every object and list in it, itself included. */
function partsOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

describe('defaults', () => {
  test('for everything but navigations', () => {
    expect(DEFAULTS).toEqual(DEFAULT_NUMBERS);
  });

  test('for navigations: fewer, sooner, shorter', () => {
    expect(NAVIGATION_DEFAULTS).toEqual({
      ...DEFAULT_NUMBERS,
      attempts: 3,
      attemptTimeoutMs: 8_000,
      totalMs: 12_000,
      retryAfter: { ...DEFAULT_NUMBERS.retryAfter, maxMs: 5_000 },
    });
  });

  test('of what is no option', () => {
    expect(RETRY_AFTER_JITTER).toEqual({ ratio: 0.25, maxMs: 5_000 });
    expect(MAX_TOTAL_MS).toBe(50_000);
  });

  test.each<{ name: string; policy: RetryPolicy }>([
    { name: 'DEFAULTS', policy: DEFAULTS },
    { name: 'NAVIGATION_DEFAULTS', policy: NAVIGATION_DEFAULTS },
  ])('$name survive structuredClone', ({ policy }) => {
    expect(structuredClone(policy)).toEqual(policy);
  });

  test.each<{ name: string; policy: RetryPolicy }>([
    { name: 'DEFAULTS', policy: DEFAULTS },
    { name: 'NAVIGATION_DEFAULTS', policy: NAVIGATION_DEFAULTS },
  ])('$name are frozen to the last list, so that nobody changes them for everybody', ({ policy }) => {
    expect(partsOf(policy).filter((part) => !Object.isFrozen(part))).toEqual([]);
  });
});

describe('what a user says is put over the base', () => {
  test.each<{ name: string; options: RetryOptions; changes: Partial<RetryPolicy> }>([
    { name: 'nothing', options: {}, changes: {} },
    { name: 'attempts', options: { attempts: 2 }, changes: { attempts: 2 } },
    { name: 'retries', options: { retries: 4 }, changes: { attempts: 5 } },
    { name: 'no retries', options: { retries: 0 }, changes: { attempts: 1 } },
    { name: 'both, agreeing', options: { attempts: 3, retries: 2 }, changes: { attempts: 3 } },
    { name: 'maxAttempts, which counts retries', options: { maxAttempts: 4 }, changes: { attempts: 5 } },
    { name: 'no maxAttempts', options: { maxAttempts: 0 }, changes: { attempts: 1 } },
    { name: 'all three, agreeing', options: { attempts: 3, retries: 2, maxAttempts: 2 }, changes: { attempts: 3 } },
    { name: 'maxAge', options: { maxAge: 9_000 }, changes: { totalMs: 9_000 } },
    { name: 'both ways to say so', options: { maxAge: 9_000, totalMs: 9_000 }, changes: { totalMs: 9_000 } },
    { name: 'initialDelay', options: { initialDelay: 200 }, changes: growing(200, 2) },
    { name: 'backoffFactor', options: { backoffFactor: 3 }, changes: growing(500, 3) },
    { name: 'both of them', options: { initialDelay: 200, backoffFactor: 1.5 }, changes: growing(200, 1.5) },
    { name: 'no initialDelay', options: { initialDelay: 0 }, changes: growing(0, 2) },
    { name: 'an initialDelay above the cap', options: { initialDelay: 30_000 }, changes: growing(30_000, 2, 30_000) },
    {
      name: 'initialDelay, but not for 429 and 503',
      options: { initialDelay: 200, throttledBackoff: constant(7) },
      changes: { ...growing(200, 2), throttledBackoff: constant(7) },
    },
    {
      name: 'the words of Fetch Retry together',
      options: { maxAttempts: 2, initialDelay: 100, backoffFactor: 2, maxAge: 5_000, retryNonIdempotent: true },
      changes: { attempts: 3, ...growing(100, 2), totalMs: 5_000, retryNonIdempotent: true },
    },
    { name: 'a flag that is false', options: { retryNonIdempotent: false }, changes: {} },
    {
      name: 'a flag',
      options: { retryNonIdempotent: true, mediaRanges: true },
      changes: { retryNonIdempotent: true, mediaRanges: true },
    },
    { name: 'statuses replace the whole list', options: { statuses: [404] }, changes: { statuses: [404] } },
    { name: 'no statuses', options: { statuses: [] }, changes: { statuses: [] } },
    { name: 'methods', options: { methods: ['GET'] }, changes: { methods: ['GET'] } },
    { name: 'a body of no byte', options: { maxReplayBytes: 0 }, changes: { maxReplayBytes: 0 } },
    { name: 'clocks', options: { attemptTimeoutMs: 1, totalMs: 2 }, changes: { attemptTimeoutMs: 1, totalMs: 2 } },
    {
      name: 'one field of retryAfter',
      options: { retryAfter: { maxMs: 0 } },
      changes: { retryAfter: { ...DEFAULTS.retryAfter, maxMs: 0 } },
    },
    {
      name: 'every field of retryAfter',
      options: { retryAfter: { mode: 'ignore', statuses: [503], maxMs: 1, overMax: 'truncate' } },
      changes: { retryAfter: { mode: 'ignore', statuses: [503], maxMs: 1, overMax: 'truncate' } },
    },
    {
      name: 'a backoff, which then is every wait',
      options: { backoff: constant(7) },
      changes: { backoff: constant(7), throttledBackoff: constant(7) },
    },
    {
      name: 'a backoff for 429 and 503 alone',
      options: { throttledBackoff: constant(7) },
      changes: { throttledBackoff: constant(7) },
    },
    {
      name: 'both backoffs',
      options: { backoff: constant(7), throttledBackoff: constant(9) },
      changes: { backoff: constant(7), throttledBackoff: constant(9) },
    },
  ])('$name', ({ options, changes }) => {
    expect(resolvePolicy(options, DEFAULTS)).toEqual({ ...DEFAULTS, ...changes });
    const base = { ...NAVIGATION_DEFAULTS, retryAfter: DEFAULTS.retryAfter };
    expect(resolvePolicy(options, base)).toEqual({ ...base, ...changes });
  });

  // Programs that put options together leave such keys behind; absent means inherited.
  test.each<{ name: string; options: Record<string, unknown> }>([
    ...Object.keys(DEFAULTS).map((key) => ({ name: key, options: { [key]: undefined } })),
    ...['retries', 'maxAttempts', 'initialDelay', 'backoffFactor', 'maxAge'].map((name) => ({
      name,
      options: { [name]: undefined },
    })),
    ...Object.keys(DEFAULTS.retryAfter).map((key) => ({
      name: `retryAfter.${key}`,
      options: { retryAfter: { [key]: undefined } },
    })),
  ])('row 36: $name: undefined is inherited', ({ options }) => {
    expect(resolvePolicy(options as RetryOptions, DEFAULTS)).toStrictEqual({ ...DEFAULTS });
  });

  test('an undefined backoff does not pass itself on to 429 and 503', () => {
    const options = { backoff: undefined, throttledBackoff: undefined, attempts: 2 } as unknown as RetryOptions;
    expect(resolvePolicy(options, DEFAULTS)).toEqual({ ...DEFAULTS, attempts: 2 });
  });

  test('limits come from the merged options: the base keeps what nobody overrode', () => {
    const base = resolvePolicy({ totalMs: 1_000, retryAfter: { maxMs: 500 } }, DEFAULTS);
    const call = resolvePolicy({ attempts: 2, retryAfter: { mode: 'replace' } }, base);
    expect(call).toEqual({
      ...DEFAULTS,
      attempts: 2,
      totalMs: 1_000,
      retryAfter: { ...DEFAULTS.retryAfter, mode: 'replace', maxMs: 500 },
    });
  });

  test.each<{ name: string; base: RetryOptions; options: RetryOptions; backoff: RetryPolicy['backoff'] }>([
    {
      name: 'the factor and the cap of a backoff of this kind',
      base: { backoff: fullJitter(exponential({ baseMs: 300, factor: 3, maxMs: 4_000 })) },
      options: { initialDelay: 50 },
      backoff: fullJitter(exponential({ baseMs: 50, factor: 3, maxMs: 4_000 })),
    },
    {
      name: 'the first wait of it',
      base: { initialDelay: 300 },
      options: { backoffFactor: 4 },
      backoff: fullJitter(exponential({ baseMs: 300, factor: 4, maxMs: 10_000 })),
    },
    {
      name: 'ours, where it is of another kind',
      base: { backoff: exponential({ baseMs: 300, factor: 3, maxMs: 4_000 }) },
      options: { initialDelay: 50 },
      backoff: fullJitter(exponential({ baseMs: 50, factor: 2, maxMs: 10_000 })),
    },
    {
      name: 'ours, where only its jitter is of this kind',
      base: { backoff: fullJitter(constant(5)) },
      options: { backoffFactor: 3 },
      backoff: fullJitter(exponential({ baseMs: 500, factor: 3, maxMs: 10_000 })),
    },
  ])('what initialDelay and backoffFactor leave out is inherited: $name', ({ base, options, backoff }) => {
    expect(resolvePolicy(options, resolvePolicy(base, DEFAULTS)).backoff).toEqual(backoff);
  });

  test('the base is not changed by it', () => {
    const before = structuredClone(DEFAULTS);
    resolvePolicy({ attempts: 2, retryAfter: { maxMs: 1 }, statuses: [404], backoff: constant(1) }, DEFAULTS);
    expect(DEFAULTS).toEqual(before);
  });

  test('what the user does to the options afterwards changes no policy', () => {
    const options = {
      statuses: [503, { status: 404, retries: 1 }],
      methods: ['GET'],
      backoff: { kind: 'list' as const, delaysMs: [1, 2] },
      retryAfter: { statuses: [503] },
    };
    const policy = resolvePolicy(options, DEFAULTS);
    const before = structuredClone(policy);
    options.statuses.push(200);
    options.methods.push('POST');
    options.backoff.delaysMs.push(Number.NaN);
    options.retryAfter.statuses.push(200);
    expect(policy).toEqual(before);
  });

  test('who says nothing inherits a frozen policy as it is, and a copy of one that may change', () => {
    expect(resolvePolicy({}, DEFAULTS)).toBe(DEFAULTS);
    const own = { ...DEFAULTS, attempts: 7, methods: ['GET'] };
    const policy = resolvePolicy({}, own);
    own.methods.push('POST');
    expect(policy).toEqual({ ...DEFAULTS, attempts: 7, methods: ['GET'] });
    expect(partsOf(policy).filter((part) => !Object.isFrozen(part))).toEqual([]);
  });

  test('row 12: a policy is frozen to its last list', () => {
    const policy = resolvePolicy(
      { statuses: [404], backoff: fullJitter(constant(5)), retryAfter: { maxMs: 1 } },
      DEFAULTS,
    );
    expect(partsOf(policy).filter((part) => !Object.isFrozen(part))).toEqual([]);
  });

  test('options that are watched by a framework become a policy that survives structuredClone', () => {
    const watched = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (object, key, receiver) => {
          const value = Reflect.get(object, key, receiver);
          return typeof value === 'object' && value !== null ? watched(value) : value;
        },
      });
    const options = watched<RetryOptions>({ statuses: [404], backoff: fullJitter(exponential({ baseMs: 5 })) });
    const policy = resolvePolicy(options, DEFAULTS);
    expect(structuredClone(policy)).toMatchObject({
      statuses: [404],
      backoff: { kind: 'full-jitter', of: { kind: 'exponential', baseMs: 5 } },
    });
  });
});

test('property: whatever is said is what the policy has, and the rest is the base', () => {
  const options: fc.Arbitrary<RetryOptions> = fc.record(
    {
      attempts: fc.integer({ min: 1, max: 10_000 }),
      methods: fc.subarray(['GET', 'HEAD', 'PUT']),
      retryNonIdempotent: fc.boolean(),
      statuses: fc.array(fc.integer({ min: 100, max: 599 })),
      backoff: anyBackoff,
      throttledBackoff: anyBackoff,
      attemptTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
      totalMs: fc.integer({ min: 1, max: 50_000 }),
      maxReplayBytes: fc.nat(),
      mediaRanges: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(options, fc.constantFrom(DEFAULTS, NAVIGATION_DEFAULTS), (given, base) => {
      const policy = resolvePolicy(given, base);
      const throttledBackoff = given.throttledBackoff ?? given.backoff ?? base.throttledBackoff;
      expect(policy).toEqual({ ...base, ...given, throttledBackoff });
      expect(structuredClone(policy)).toEqual(policy);
    }),
  );
});

test.each<{ holdBody: RetryOptions['holdBody']; base?: RetryPolicy['holdBody']; is: RetryPolicy['holdBody'] }>([
  { holdBody: undefined, is: false },
  { holdBody: undefined, base: { maxBytes: 5 }, is: { maxBytes: 5 } },
  { holdBody: false, base: { maxBytes: 5 }, is: false },
  { holdBody: true, base: { maxBytes: 5 }, is: { maxBytes: 1_048_576 } },
  { holdBody: {}, is: { maxBytes: 1_048_576 } },
  { holdBody: { maxBytes: 7 }, is: { maxBytes: 7 } },
  { holdBody: { maxBytes: undefined } as object, is: { maxBytes: 1_048_576 } },
])('holdBody $holdBody over $base is $is', ({ holdBody, base = false, is }) => {
  const options = holdBody === undefined ? {} : { holdBody };
  expect(resolvePolicy(options, { ...DEFAULTS, holdBody: base }).holdBody).toEqual(is);
});

test.each<{ name: string; options: RetryOptions; base?: RetryPolicy; hedge: RetryPolicy['hedge'] }>([
  { name: 'nothing', options: {}, hedge: false },
  { name: 'one at a time', options: { hedge: { afterMs: 5 } }, hedge: { afterMs: 5, max: 1 } },
  { name: 'more', options: { hedge: { afterMs: 'p95', max: 3 } }, hedge: { afterMs: 'p95', max: 3 } },
  {
    name: 'inherited',
    options: {},
    base: { ...DEFAULTS, hedge: { afterMs: 5, max: 2 } },
    hedge: { afterMs: 5, max: 2 },
  },
  {
    name: 'none though inherited',
    options: { hedge: false },
    base: { ...DEFAULTS, hedge: { afterMs: 5, max: 2 } },
    hedge: false,
  },
])('hedges: $name', ({ options, base = DEFAULTS, hedge }) => {
  expect(resolvePolicy(options, base).hedge).toEqual(hedge);
});

test('a frozen copy is frozen all the way down, and nothing is still nothing', () => {
  const given = { list: [{ a: 1 }], none: null };
  const copy = frozen(given);
  expect(copy).toEqual(given);
  expect([copy, copy.list, copy.list[0]].every(Object.isFrozen)).toBe(true);
  expect(Object.isFrozen(given.list)).toBe(false);
  expect([frozen(null), frozen(5), frozen(undefined)]).toEqual([null, 5, undefined]);
});
