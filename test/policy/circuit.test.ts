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
  probeAt,
  probed,
  probing,
  releases,
  requestFailed,
} from '../../src/policy/circuit.ts';
import { circuitPolicy } from '../support/arbitraries.ts';

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

function take(before: Circuit, { kind, at, launchedAt, as }: Step, policy = P): Circuit {
  const ended = { at, launchedAt, ...(as ? { as } : {}) };
  switch (kind) {
    case 'good':
      return attemptSucceeded(before, ended, policy);
    case 'bad':
      return attemptFailed(before, ended, policy);
    case 'request':
      return requestFailed(before, launchedAt, at, policy);
    case 'probe':
      return mayProbe(before, at, policy) ? probing(before, at, at + policy.probeMs) : before;
    case 'close':
      return close(before, at);
    default:
      return halfOpen(before, at);
  }
}

test('whatever happens, in whatever order of time, it stays a circuit and opens for 2 s to 2 min', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const end = steps.reduce((circuit, one) => take(circuit, one), CLOSED as Circuit);
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
      const end = steps.reduce((circuit, one) => take(circuit, one), CLOSED as Circuit);
      expect(circuitState(end, at)).toBe('closed');
      expect(attemptsAllowed(end, 4, P)).toBe(4);
    }),
  );
});

test('closed is closed, and stays so', () => {
  expect(CLOSED).toEqual({ openUntil: 0, openMs: 0, probes: [], changedAt: 0, failures: 0, failedAt: 0, recent: '' });
  expect(Object.isFrozen(CLOSED) && Object.isFrozen(CLOSED.probes)).toBe(true);
});

describe('several probes', () => {
  const two = { ...P, probes: 2 };
  const at = T0 + 3_000;
  const running = (...probes: number[]) => opened({ probes });

  test('they are kept soonest first, without those whose time is over', () => {
    expect(probing(running(at, at + 9), at, at + 4).probes).toEqual([at + 4, at + 9]);
    expect(probing(running(at + 1), at, at + 9).probes).toEqual([at + 1, at + 9]);
  });

  test.each([
    { probes: [], next: T0 + 2_000 },
    { probes: [at + 5], next: T0 + 2_000 },
    { probes: [at + 5, at + 9], next: at + 5 },
    { probes: [at + 5, at + 9, at + 12], next: at + 9 },
    { probes: [T0 + 1, T0 + 2], next: T0 + 2_000 },
  ])('with $probes under way the next may go at $next', ({ probes, next }) => {
    expect(probeAt(running(...probes), two)).toBe(next);
    expect(mayProbe(running(...probes), next - 1, two)).toBe(false);
    expect(mayProbe(running(...probes), next, two)).toBe(true);
  });

  test('one that ends gives its own place back, and once', () => {
    expect(probed(running(at + 5, at + 5, at + 9), at + 5).probes).toEqual([at + 5, at + 9]);
    expect(probed(running(at + 5, at + 9), at + 9).probes).toEqual([at + 5]);
    const other = running(at + 5);
    expect(probed(other, at + 6)).toBe(other);
  });

  test('a released request that fails takes all places for half a second', () => {
    const taken = (...probes: number[]) =>
      attemptFailed(running(...probes), { at, launchedAt: at, as: 'released' }, two).probes;
    expect(taken()).toEqual([at + 500, at + 500]);
    expect(taken(at + 100)).toEqual([at + 500, at + 500]);
    expect(taken(at + 900)).toEqual([at + 500, at + 900]);
    expect(taken(at + 900, at + 100)).toEqual([at + 500, at + 900]);
    // A place whose time is over just now is free.
    expect(taken(at, at + 900)).toEqual([at + 500, at + 900]);
    // More than there are now: a setting was changed.
    expect(taken(at + 1, at + 2, at + 900)).toEqual([at + 500, at + 500, at + 900]);
  });
});

describe('how long it opens', () => {
  const reopened = (over: Partial<Circuit>, policy = P) =>
    attemptFailed(opened(over), { at: T0 + 3_000, launchedAt: T0 + 2_500, as: 'probe' }, policy);

  test('never for longer than the maximum, also where `openMs` is above it', () => {
    const policy = { ...P, failures: 1, openMs: 180_000 };
    expect(requestFailed(CLOSED, T0, T0, policy)).toMatchObject({ openMs: 120_000, openUntil: T0 + 120_000 });
    expect(reopened({ recent: '1' }, policy).openMs).toBe(120_000);
  });

  test('never for no time: one that is said to have been open for none opens for 2 s', () => {
    expect(reopened({ openMs: 0 })).toMatchObject({ openMs: 2_000, openUntil: T0 + 5_000 });
  });

  test('its attempts begin anew, and its probes are over', () => {
    expect(reopened({ recent: '1', probes: [T0 + 9_000] })).toMatchObject({
      recent: '',
      probes: [],
      changedAt: T0 + 3_000,
    });
  });

  test('as long as before within ten seconds, without factor', () => {
    const closed = { ...close(opened({ openMs: 4_000 }), T0), failures: 1, failedAt: T0 };
    expect(requestFailed(closed, T0 + 1_000, T0 + 1_000, P).openMs).toBe(4_000);
  });
});

describe('the edges', () => {
  test('what was launched just when it changed counts', () => {
    const closed = close(opened(), T0 + 5_000);
    const ended = { at: T0 + 6_000, launchedAt: T0 + 5_000 };
    expect(attemptFailed(closed, ended, P).recent).toBe('0');
    expect(attemptSucceeded(closed, ended, P).recent).toBe('1');
    expect(requestFailed(closed, T0 + 5_000, T0 + 6_000, P).failures).toBe(1);
  });

  test('a request that fails while half-open is no consecutive failure', () => {
    const half = opened();
    expect(requestFailed(half, T0 + 2_500, T0 + 3_000, P)).toBe(half);
  });

  test('a first failure counts whenever the last one was', () => {
    expect(requestFailed(circuit({ failures: 0, failedAt: T0 }), T0, T0 + 1, P).failures).toBe(1);
  });

  test('back online it starts over with what it knows', () => {
    const before = opened({ probes: [T0 + 9_000], recent: '0' });
    expect(halfOpen(before, T0 + 10)).toEqual({ ...before, openUntil: T0 + 10, probes: [], changedAt: T0 + 10 });
    const half = opened();
    expect(halfOpen(half, T0 + 2_000)).toBe(half);
  });

  test('closed it knows how long it was open, and nothing else', () => {
    expect(close(opened({ failures: 2, recent: '0', probes: [1] }), T0 + 9)).toEqual(
      circuit({ openMs: 2_000, changedAt: T0 + 9 }),
    );
  });
});

describe('properties under any policy', () => {
  test('no open time above the maximum, no more probes than there are, and what was given stays as it was', () => {
    fc.assert(
      fc.property(circuitPolicy, fc.array(step, { maxLength: 60 }), (policy, steps) => {
        let before: Circuit = CLOSED;
        for (const one of steps) {
          const given = structuredClone(before);
          const after = take(before, one, policy);
          expect(before).toEqual(given);
          expect(after.openMs).toBeLessThanOrEqual(policy.maxOpenMs);
          expect(after.openMs === 0 || after.openMs >= Math.min(policy.openMs, policy.maxOpenMs)).toBe(true);
          expect(after.probes.filter((until) => until > one.at).length).toBeLessThanOrEqual(policy.probes);
          expect([...after.probes].sort((a, b) => a - b)).toEqual(after.probes);
          expect(after.recent.length).toBeLessThanOrEqual(policy.window);
          before = after;
        }
      }),
    );
  });

  test('a success opens nothing, and a failure closes nothing', () => {
    fc.assert(
      fc.property(circuitPolicy, fc.array(step, { maxLength: 30 }), step, (policy, steps, last) => {
        const before = steps.reduce((circuit, one) => take(circuit, one, policy), CLOSED as Circuit);
        expect(take(before, { ...last, kind: 'good' }, policy).openUntil).toBe(before.openUntil);
        for (const kind of ['bad', 'request'] as const) {
          const after = take(before, { ...last, kind }, policy);
          expect(after.openUntil === 0 && before.openUntil !== 0).toBe(false);
        }
      }),
    );
  });

  test('a probe that begins and ends leaves the places as they were', () => {
    const instants = fc.array(instant, { maxLength: 4 });
    fc.assert(
      fc.property(instants, instant, instant, (probes, now, until) => {
        const before = opened({ probes: probes.filter((one) => one > now).sort((a, b) => a - b) });
        expect(probed(probing(before, now, until), until)).toEqual(before);
      }),
    );
  });
});
