import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attemptFailed,
  attemptSucceeded,
  attemptsAllowed,
  CIRCUIT_DEFAULTS,
  type Circuit,
  CLOSED,
  circuitState,
  close,
  halfOpen,
  mayProbe,
  probing,
  releases,
  requestFailed,
} from '../../src/policy/circuit.ts';

const T0 = Date.UTC(2026, 6, 5, 12);
const P = CIRCUIT_DEFAULTS;
const circuit = (over: Partial<Circuit>): Circuit => ({ ...CLOSED, ...over });
const opened = (over: Partial<Circuit> = {}): Circuit =>
  circuit({ openUntil: T0 + 2_000, openMs: 2_000, changedAt: T0, ...over });

test('defaults, frozen', () => {
  expect(P).toEqual({
    failures: 2,
    window: 10,
    failureRatio: 0.9,
    openMs: 2_000,
    openFactor: 2,
    maxOpenMs: 120_000,
    resetMs: 10_000,
    probeMs: 10_000,
    probes: 1,
    parking: true,
    sameFailureMs: 250,
    attemptsDivisor: 2,
  });
  expect(Object.isFrozen(P)).toBe(true);
});

test.each([
  { at: T0 - 1, state: 'open' },
  { at: T0 + 1_999, state: 'open' },
  { at: T0 + 2_000, state: 'half-open' },
  { at: T0 + 86_400_000, state: 'half-open' },
])('opened for 2 s it is $state at $at', ({ at, state }) => {
  expect(circuitState(opened(), at)).toBe(state);
});

test.each([
  { failures: 0, attempts: 4, allowed: 4 },
  { failures: 1, attempts: 4, allowed: 2 },
  { failures: 2, attempts: 4, allowed: 1 },
  { failures: 9, attempts: 4, allowed: 1 },
  { failures: 1, attempts: 3, allowed: 2 },
  { failures: 1, attempts: 1, allowed: 1 },
])('after $failures failed requests $attempts attempts are $allowed', ({ failures, attempts, allowed }) => {
  expect(attemptsAllowed(circuit({ failures }), attempts, P)).toBe(allowed);
  expect(attemptsAllowed(circuit({ failures }), attempts, { ...P, attemptsDivisor: 1 })).toBe(attempts);
});

describe('requests that fail one after the other', () => {
  const failOnce = requestFailed(CLOSED, T0, T0, P);

  test('the second opens it for 2 s', () => {
    expect(failOnce).toEqual(circuit({ failures: 1, failedAt: T0 }));
    expect(requestFailed(failOnce, T0, T0 + 251, P)).toEqual(
      circuit({ openUntil: T0 + 2_251, openMs: 2_000, changedAt: T0 + 251, failures: 2, failedAt: T0 + 251 }),
    );
  });

  test('within 250 ms they are one', () => {
    expect(requestFailed(failOnce, T0, T0 + 250, P)).toBe(failOnce);
  });

  test('a success between them starts over', () => {
    const between = attemptSucceeded(failOnce, { at: T0 + 300, launchedAt: T0 + 200 }, P);
    expect(between.failures).toBe(0);
    expect(circuitState(requestFailed(between, T0, T0 + 600, P), T0 + 600)).toBe('closed');
  });

  test('an attempt that was launched before the last change, and anything while it is open, counts for nothing', () => {
    const later = close(opened(), T0 + 5_000);
    expect(requestFailed(later, T0 + 4_999, T0 + 6_000, P)).toBe(later);
    const open = opened();
    expect(requestFailed(open, T0 + 10, T0 + 20, P)).toBe(open);
  });
});

describe('attempts', () => {
  const after = (pattern: string, start = CLOSED): Circuit =>
    [...pattern].reduce(
      (before, attempt, index) =>
        (attempt === '1' ? attemptSucceeded : attemptFailed)(before, { at: T0 + index, launchedAt: T0 + index }, P),
      start,
    );

  test.each([
    { pattern: '000000000', state: 'closed' },
    { pattern: '0000000000', state: 'open' },
    { pattern: '1000000000', state: 'open' },
    { pattern: '1100000000', state: 'closed' },
    { pattern: '11000000000', state: 'open' },
    { pattern: '01010101010101010101', state: 'closed' },
  ])('$pattern: $state', ({ pattern, state }) => {
    expect(circuitState(after(pattern), T0 + pattern.length)).toBe(state);
  });

  test('a failure that was launched before it closed counts for nothing', () => {
    const closed = close(opened(), T0 + 5_000);
    expect(attemptFailed(closed, { at: T0 + 6_000, launchedAt: T0 + 4_000 }, P)).toBe(closed);
    expect(attemptSucceeded(closed, { at: T0 + 6_000, launchedAt: T0 + 4_000 }, P)).toBe(closed);
  });
});

describe('open', () => {
  test('a success releases and does not end the open time', () => {
    const after = attemptSucceeded(opened(), { at: T0 + 500, launchedAt: T0 + 400 }, P);
    expect(after).toEqual(opened({ recent: '1' }));
  });

  test.each([
    { of: CLOSED, launchedAt: T0, released: false },
    { of: opened(), launchedAt: T0, released: true },
    { of: opened(), launchedAt: T0 - 1, released: false },
  ])('launched at $launchedAt it releases: $released', ({ of, launchedAt, released }) => {
    expect(releases(of, launchedAt)).toBe(released);
  });

  test('a failure changes nothing', () => {
    const open = opened();
    expect(attemptFailed(open, { at: T0 + 500, launchedAt: T0 + 400 }, P)).toBe(open);
  });

  test('back online it is half-open at once', () => {
    expect(circuitState(halfOpen(opened(), T0 + 10), T0 + 10)).toBe('half-open');
    expect(halfOpen(CLOSED, T0)).toBe(CLOSED);
  });
});

describe('half-open', () => {
  const at = T0 + 3_000;
  const fails = (of: Circuit, as?: 'probe' | 'released'): Circuit =>
    attemptFailed(of, { at, launchedAt: at - 100, ...(as ? { as } : {}) }, P);

  test('one probe at a time, and another after 10 s', () => {
    expect(mayProbe(opened(), T0 + 1_999, P)).toBe(false);
    expect(mayProbe(opened(), at, P)).toBe(true);
    const probed = probing(opened(), at, at + 10_000);
    expect(mayProbe(probed, at + 9_999, P)).toBe(false);
    expect(mayProbe(probed, at + 10_000, P)).toBe(true);
    expect(mayProbe(CLOSED, at, P)).toBe(false);
  });

  test('only the end of the probe itself makes room for the next', () => {
    const probed = probing(opened(), at, at + 10_000);
    const ended = { at: at + 100, launchedAt: at };
    expect(mayProbe(attemptSucceeded(probed, ended, P), at + 100, P)).toBe(false);
    expect(mayProbe(attemptSucceeded(probed, { ...ended, as: 'probe', probeUntil: at + 10_000 }, P), at + 100, P)).toBe(
      true,
    );
  });

  test('open again, twice as long, if nothing has succeeded', () => {
    expect(fails(opened(), 'probe')).toEqual(opened({ openUntil: at + 4_000, openMs: 4_000, changedAt: at }));
    expect(fails(opened()).openMs).toBe(4_000);
    expect(fails(opened({ openMs: 100_000 })).openMs).toBe(120_000);
  });

  test('open again for 2 s if something has', () => {
    expect(fails(opened({ openMs: 16_000, recent: '1' }), 'probe').openMs).toBe(2_000);
  });

  test('a released request that fails opens nothing; the next probe waits half a second', () => {
    expect(fails(opened(), 'released')).toEqual(opened({ probes: [at + 500] }));
    expect(fails(opened({ probes: [at + 100] }), 'released')).toEqual(opened({ probes: [at + 500] }));
    expect(fails(opened({ probes: [at + 9_000] }), 'released')).toEqual(opened({ probes: [at + 9_000] }));
  });
});

test('closed for less than 10 s it opens as long as before, later for 2 s', () => {
  const closed = close(opened({ openMs: 16_000 }), T0);
  const again = (at: number): number =>
    requestFailed({ ...closed, failures: 1, failedAt: at - 1_000 }, at, at, P).openMs;
  expect(again(T0 + 9_999)).toBe(16_000);
  expect(again(T0 + 10_000)).toBe(2_000);
});

const instant = fc.integer({ min: T0 - 1_000_000, max: T0 + 1_000_000 });
const step = fc.record({
  kind: fc.constantFrom('good', 'bad', 'request', 'probe', 'close', 'online'),
  at: instant,
  launchedAt: instant,
  as: fc.constantFrom(undefined, 'probe' as const, 'released' as const),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function take(before: Circuit, { kind, at, launchedAt, as }: Step): Circuit {
  const ended = { at, launchedAt, ...(as ? { as } : {}) };
  switch (kind) {
    case 'good':
      return attemptSucceeded(before, ended, P);
    case 'bad':
      return attemptFailed(before, ended, P);
    case 'request':
      return requestFailed(before, launchedAt, at, P);
    case 'probe':
      return mayProbe(before, at, P) ? probing(before, at, at + P.probeMs) : before;
    case 'close':
      return close(before, at);
    default:
      return halfOpen(before, at);
  }
}

test('whatever happens, in whatever order of time, it stays a circuit and opens for 2 s to 2 min', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const end = steps.reduce(take, CLOSED);
      expect(end.recent).toMatch(/^[01]{0,10}$/);
      expect(end.failures).toBeGreaterThanOrEqual(0);
      expect(end.openMs === 0 || (end.openMs >= P.openMs && end.openMs <= P.maxOpenMs)).toBe(true);
      expect(structuredClone(end)).toEqual(end);
    }),
  );
});

test('without failures it never opens', () => {
  const calm = step.filter(({ kind }) => kind !== 'bad' && kind !== 'request');
  fc.assert(
    fc.property(fc.array(calm), instant, (steps, at) => {
      const end = steps.reduce(take, CLOSED);
      expect(circuitState(end, at)).toBe('closed');
      expect(attemptsAllowed(end, 4, P)).toBe(4);
    }),
  );
});
