import { describe, expect, test } from 'vitest';
import type { OriginRecord } from '../../src/policy/origin-record.ts';
import {
  classic,
  type Flight,
  failingScenario,
  type Hands,
  naive,
  type Scenario,
  type Strategy,
  simulate,
  steadfetch,
  type Why,
} from '../../src/sim/index.ts';
import { BOUNDS, STEADFETCH } from './expected.ts';

test('the same seed gives the same figures, another one others', () => {
  const scenario = failingScenario('50 % random', '1/s');
  const run = (seed: number) => simulate(scenario, steadfetch(), { seed, requests: 500 });
  expect(run(1)).toEqual(run(1));
  expect(run(1)).not.toEqual(run(2));
});

test.each([
  { failing: '10 s blip', traffic: '1/s' },
  { failing: '5 min outage', traffic: '0.1/s' },
  { failing: '30 % random', traffic: '5/s' },
  { failing: '95 % random', traffic: '30 a minute at once' },
] as const)('$failing at $traffic is what the table says', ({ failing, traffic }) => {
  const figures = simulate(failingScenario(failing, traffic), steadfetch(), { seed: 11, requests: 5_000 });
  const [success, attempts] = STEADFETCH[failing][traffic];
  expect(Math.abs(100 * figures.successShare - success)).toBeLessThanOrEqual(BOUNDS.points);
  expect(Math.abs(figures.attemptsPerRequest - attempts)).toBeLessThanOrEqual(BOUNDS.attempts);
});

test('without guards every request of an outage has all its attempts', () => {
  const figures = simulate(failingScenario('5 min outage', '1/s'), naive, { seed: 1, requests: 500 });
  expect(figures).toMatchObject({ successShare: 0, attemptsPerRequest: 4 });
});

test('a healthy server is asked once, whatever the strategy', () => {
  const scenario = { ...failingScenario('10 s blip', '5/s'), origin: { latencyMs: 100 } };
  for (const strategy of [steadfetch(), naive, classic()]) {
    expect(simulate(scenario, strategy, { seed: 1 })).toMatchObject({ successShare: 1, attemptsPerRequest: 1 });
  }
});

test('a scenario of one’s own: told when to come back, nobody is lost, and the server is spared', () => {
  const scenario: Scenario = {
    origin: { latencyMs: 100, faults: [{ as: 503, untilMs: 10_000 }], retryAfter: '2' },
    traffic: { kind: 'poisson', perSecond: 2 },
    durationMs: 60_000,
  };
  const run = (strategy: (hands: Hands) => Strategy) => simulate(scenario, strategy, { seed: 1, requests: 1_000 });
  const [ours, theirs] = [run(steadfetch()), run(naive)];
  expect(ours.successShare).toBeGreaterThan(theirs.successShare);
  expect(ours.attemptsPerRequest).toBeLessThan(theirs.attemptsPerRequest);
});

test('a classic breaker opens once half of the last ten have failed, and then nothing is retried', () => {
  const rich = { tokens: 1e6, successCredit: 0, window: 10, openMs: 15_000 };
  const attempts = (failureRatio: number) =>
    simulate(failingScenario('5 min outage', '5/s'), classic({ ...rich, failureRatio }), { seed: 1, requests: 1_000 })
      .attemptsPerRequest;
  expect(attempts(0.5)).toBeLessThan(1.2);
  expect(attempts(1.1)).toBe(4);
});

describe('whatever happens to one client', () => {
  const failings = ['10 s blip', '30 s blip', '5 min outage', '50 % random', '80 % random', '95 % random'] as const;
  const traffics = ['0.1/s', '1/s', '5/s', '30 a minute at once'] as const;

  test.each(failings.flatMap((failing) => traffics.map((traffic) => ({ failing, traffic }))))(
    '$failing, $traffic: tokens stay in their bounds, nothing starts after a deadline, one probe at a time',
    ({ failing, traffic }) => {
      const launches: { flight: Flight; why: Why; at: number }[] = [];
      const records: OriginRecord[] = [];
      const ended: Flight[] = [];
      simulate(
        failingScenario(failing, traffic),
        steadfetch(undefined, (record) => records.push(record)),
        {
          seed: 5,
          onLaunch: (flight, why) => launches.push({ flight, why, at: flight.launchedAt }),
          onEnd: (flight) => ended.push(flight),
        },
      );
      expect(records.every(({ budget }) => budget.tokens >= 0 && budget.tokens <= 20)).toBe(true);
      expect(launches.every(({ flight, at }) => at < flight.deadline + 50)).toBe(true);
      expect(ended.every(({ attempts, state }) => attempts >= 1 && attempts <= 4 && state !== 'running')).toBe(true);
      const held = ended.filter(
        ({ endedAt, deadline, launchedAt }) => endedAt > Math.max(deadline, launchedAt + 10_000),
      );
      expect(held).toEqual([]);
      const probes = launches.filter(({ why }) => why === 'probe').map(({ at }) => at);
      expect(probes.every((at, index) => index === 0 || at - (probes[index - 1] ?? 0) >= 130)).toBe(true);
    },
  );
});
