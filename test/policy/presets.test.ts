import { describe, expect, test } from 'vitest';
import { checkRetryOptions } from '../../src/policy/check.ts';
import { decide } from '../../src/policy/decide.ts';
import { type Outcome, retriesAllowed } from '../../src/policy/outcome.ts';
import { DEFAULTS, NAVIGATION_DEFAULTS, type RetryOptions, resolvePolicy } from '../../src/policy/policy.ts';
import { presets } from '../../src/policy/presets.ts';
import { requestFacts } from '../support/request-facts.ts';

const STATUSES = Array.from({ length: 500 }, (_, index) => 100 + index);
const READS = [404, 408, 409, 423, 425, 429, 500, 502, 503, 504, 507];
const WRITES = [429, 502, 503];

const answer = (status: number): Outcome => ({ kind: 'response', status });

/** Every status from 100 to 599 that is retried. */
const retried = (options: RetryOptions, method: string): number[] => {
  const policy = resolvePolicy(options, DEFAULTS);
  const request = requestFacts({ method, keyed: true });
  return STATUSES.filter((status) => retriesAllowed(answer(status), request, policy) > 0);
};

describe('the statuses of a preset', () => {
  test.each<{ row: string; name: keyof typeof presets; method: string; statuses: number[] }>([
    { row: 'row 2', name: 'reads', method: 'GET', statuses: READS },
    { row: 'row 2', name: 'reads', method: 'PUT', statuses: READS },
    { row: 'row 3', name: 'writes', method: 'PUT', statuses: WRITES },
    { row: 'row 3', name: 'writes', method: 'POST', statuses: WRITES },
    { row: 'row 3', name: 'writes', method: 'GET', statuses: WRITES },
    { row: 'row 4', name: 'byMethod', method: 'GET', statuses: READS },
    ...['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH', 'PROPFIND'].map((method) => ({
      row: 'row 4',
      name: 'byMethod' as const,
      method,
      statuses: WRITES,
    })),
    { row: 'row 1', name: 'networkOnly', method: 'GET', statuses: [] },
  ])('$row: $name, $method: $statuses', ({ name, method, statuses }) => {
    expect(retried(presets[name], method)).toEqual(statuses);
  });

  test.each(['reads', 'writes', 'byMethod', 'networkOnly'] as const)('%s: network errors are retried', (name) => {
    const policy = resolvePolicy(presets[name], DEFAULTS);
    expect(retriesAllowed({ kind: 'network-error' }, requestFacts(), policy)).toBe(Number.POSITIVE_INFINITY);
  });

  test.each(['api', 'quick', 'download'] as const)('%s: those of the default', (name) => {
    expect(retried(presets[name], 'GET')).toEqual(retried({}, 'GET'));
  });
});

describe('row 51: retries and waits', () => {
  test.each<{ name: keyof typeof presets; upToMs: number[] }>([
    { name: 'api', upToMs: [1_000, 2_000, 4_000] },
    { name: 'quick', upToMs: [500, 1_000] },
    { name: 'download', upToMs: [2_000, 4_000, 8_000, 10_000, 10_000] },
  ])('$name: up to $upToMs, and an end', ({ name, upToMs }) => {
    const policy = resolvePolicy(presets[name], DEFAULTS);
    let now = 0;
    const waits: number[] = [];
    for (let attempt = 1; attempt < 20; attempt += 1) {
      const decision = decide({
        outcome: answer(503),
        request: requestFacts(),
        policy,
        attempt,
        now,
        deadline: policy.totalMs,
        replayable: true,
        online: true,
        affordable: true,
        previousDelayMs: undefined,
        random: () => 1 - 2 ** -53,
      });
      if (decision.do !== 'retry') {
        expect(decision).toEqual({ do: 'give-up', reason: 'attempts' });
        break;
      }
      waits.push(decision.delayMs);
      now += decision.delayMs;
    }
    expect(waits).toEqual(upToMs);
  });
});

describe('as options', () => {
  test.each(Object.entries(presets))('%s is good, plain and frozen', (_, preset) => {
    expect(() => checkRetryOptions(preset, 'retry')).not.toThrow();
    expect(structuredClone(preset)).toEqual(preset);
    expect(Object.isFrozen(preset)).toBe(true);
    expect(Object.values(preset).every(Object.isFrozen)).toBe(true);
  });

  test('none makes a method retry that would not, or touches what it does not name', () => {
    for (const { methods, retryNonIdempotent, retryAfter } of Object.values(presets)) {
      expect([methods, retryNonIdempotent, retryAfter]).toEqual([undefined, undefined, undefined]);
    }
  });

  test('they are spread into others, and what stands later counts', () => {
    const options = { ...presets.api, ...presets.byMethod, attempts: 2 };
    expect(() => checkRetryOptions(options, 'retry')).not.toThrow();
    expect(resolvePolicy(options, NAVIGATION_DEFAULTS)).toEqual({
      ...NAVIGATION_DEFAULTS,
      attempts: 2,
      statuses: presets.byMethod.statuses,
      backoff: presets.api.backoff,
      throttledBackoff: presets.api.backoff,
    });
  });
});
