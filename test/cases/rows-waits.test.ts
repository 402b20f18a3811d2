import { describe, expect, test } from 'vitest';
import {
  additiveJitter,
  type Backoff,
  constant,
  decorrelatedJitter,
  delayMs,
  equalJitter,
  exponential,
  fullJitter,
  linear,
  list,
  proportionalJitter,
} from '../../src/policy/backoff.ts';
import type { RetryAfterPolicy } from '../../src/policy/policy.ts';
import { createWorld } from '../support/engine-world.ts';
import { asctime, imf, rfc850 } from '../support/http-dates.ts';
import type { Answer } from '../support/scripted-network.ts';
import { START } from '../support/virtual-time.ts';

const HIGHEST = 1 - 2 ** -53;
const DAY_MS = 86_400_000;
const asking = (value: string, status = 503): Answer => ({ status, headers: { 'Retry-After': value } });
const waits = (of: Backoff, chance: number, retries = [1, 2, 3, 4]) =>
  retries.map((retry) => delayMs(of, retry, () => chance));

describe('row 8: 4 attempts, 1 s × 2, up to 100 ms on top, the computed wait at most 30 s', () => {
  const of = additiveJitter(exponential({ baseMs: 1_000, maxMs: 30_000 }), 100);

  test.each([
    { chance: 0, sentAt: [0, 1_000, 3_000, 7_000] },
    { chance: 0.5, sentAt: [0, 1_050, 3_100, 7_150] },
  ])('the schedule at chance $chance', async ({ chance, sentAt }) => {
    const policy = { attempts: 4, backoff: of, throttledBackoff: of };
    const world = createWorld({ script: [503], policy, random: () => chance });
    await world.serve();
    expect(world.network.times()).toEqual(sentAt);
  });

  test('the cap', () => {
    expect(waits(of, HIGHEST, [5, 6, 20])).toEqual([16_100, 30_000, 30_000]);
  });
});

describe('row 9: Retry-After only lengthens', () => {
  const retryAfter: RetryAfterPolicy = { mode: 'extend', statuses: 'retried', maxMs: DAY_MS, overMax: 'give-up' };
  const play = async (backoff: Backoff, value: string, { totalMs = 2 * DAY_MS, chance = 0 } = {}) => {
    const policy = { backoff, throttledBackoff: backoff, retryAfter, totalMs };
    const world = createWorld({ script: [asking(value), 200], policy, random: () => chance });
    await world.serve();
    return world;
  };

  test.each([
    { name: 'longer than the backoff', backoff: constant(4_000), value: '6', at: 6_000 },
    { name: 'shorter than the backoff', backoff: constant(4_000), value: '1', at: 4_000 },
    {
      name: 'above the cap of the backoff',
      backoff: exponential({ baseMs: 500, maxMs: 1_000 }),
      value: '6',
      at: 6_000,
    },
    { name: '24 hours', backoff: constant(4_000), value: '86400', at: DAY_MS },
  ])('$name', async ({ backoff, value, at }) => {
    expect((await play(backoff, value)).network.times()).toEqual([0, at]);
  });

  test.each<{ of: Backoff }>([
    { of: constant(100) },
    { of: linear({ stepMs: 100 }) },
    { of: exponential({ baseMs: 100 }) },
    { of: list([100]) },
    { of: fullJitter(constant(100)) },
    { of: equalJitter(constant(100)) },
    { of: decorrelatedJitter(constant(100)) },
    { of: additiveJitter(constant(100), 10) },
    { of: proportionalJitter(constant(100), 0.1) },
  ])('jitter goes on top of it, never below, whatever the backoff: $of.kind', async ({ of }) => {
    // Half of a quarter of 6 s.
    expect((await play(of, '6', { chance: 0.5 })).network.times()).toEqual([0, 6_750]);
  });

  test('the deadline is the outer bound', async () => {
    const world = await play(constant(100), '6', { totalMs: 5_000 });
    expect([world.network.times(), world.time.elapsed()]).toEqual([[0], 0]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline', status: 503 });
  });
});

describe('row 16: jitter wraps any backoff', () => {
  test.each<{ of: Backoff; plain: number[] }>([
    { of: constant(400), plain: [400, 400, 400, 400] },
    { of: linear({ stepMs: 100, maxMs: 250 }), plain: [100, 200, 250, 250] },
    { of: exponential({ baseMs: 100, maxMs: 500 }), plain: [100, 200, 400, 500] },
    { of: exponential({ baseMs: 100, factor: 1, maxMs: 500 }), plain: [100, 100, 100, 100] },
    { of: list([40, 80]), plain: [40, 80, 80, 80] },
  ])('$of.kind: full jitter is spread evenly from 0 to the wait', ({ of, plain }) => {
    for (const chance of [0, 0.25, 0.5, 0.75]) {
      expect(waits(fullJitter(of), chance)).toEqual(plain.map((ms) => Math.round(ms * chance)));
      expect(waits(equalJitter(of), chance)).toEqual(plain.map((ms) => Math.round(ms * (0.5 + chance / 2))));
    }
    expect(waits(of, 0)).toEqual(plain);
  });
});

describe('row 22: Retry-After in both forms, capped', () => {
  const truncate: RetryAfterPolicy = { mode: 'extend', statuses: 'retried', maxMs: 10_000, overMax: 'truncate' };
  test.each([
    { value: '2', at: 2_000 },
    { value: imf(START + 2_000), at: 2_000 },
    { value: rfc850(START + 2_000), at: 2_000 },
    { value: asctime(START + 2_000), at: 2_000 },
    { value: '86400', at: 10_000 },
    { value: imf(START + DAY_MS), at: 10_000 },
  ])('$value waits $at ms', async ({ value, at }) => {
    const world = createWorld({ script: [asking(value), 200], policy: { retryAfter: truncate } });
    await world.serve();
    expect(world.network.times()).toEqual([0, at]);
  });
});

describe('row 27: kinds of backoff', () => {
  test.each<{ name: string; of: Backoff; chance?: number; sentAt: number[] }>([
    { name: 'constant', of: constant(100), sentAt: [0, 100, 200, 300] },
    { name: 'exponential', of: exponential({ baseMs: 100, factor: 3 }), sentAt: [0, 100, 400, 1_300] },
    { name: 'full', of: fullJitter(exponential({ baseMs: 100 })), chance: 0.5, sentAt: [0, 50, 150, 350] },
    // The custom one is data as well, so that it can be told and simulated: a list knows the number of the retry …
    { name: 'list', of: list([30, 10, 20]), sentAt: [0, 30, 40, 60] },
    // … and this one the wait before: from 100 to three times that, so 200, 350 and 575 at an even chance.
    { name: 'decorrelated', of: decorrelatedJitter(constant(100)), chance: 0.5, sentAt: [0, 200, 550, 1_125] },
  ])('$name', async ({ of, chance = 0, sentAt }) => {
    const world = createWorld({ script: [502], policy: { backoff: of }, random: () => chance });
    await world.serve();
    expect(world.network.times()).toEqual(sentAt);
  });
});

describe('row 39: Retry-After instead of the backoff, on 429 and 503, up to 30 s and within the deadline', () => {
  const retryAfter: RetryAfterPolicy = { mode: 'replace', statuses: [429, 503], maxMs: 30_000, overMax: 'give-up' };
  test.each([
    { name: 'shorter than the backoff', status: 503, value: '1', sentAt: [0, 1_000] },
    { name: 'as long as allowed', status: 429, value: '30', sentAt: [0, 30_000] },
    { name: 'another status', status: 502, value: '1', sentAt: [0, 4_000] },
    { name: 'a second too long', status: 503, value: '31', sentAt: [0], reason: 'retry-after' },
    { name: 'past the deadline', status: 503, value: '20', totalMs: 15_000, sentAt: [0], reason: 'deadline' },
  ])('$name', async ({ status, value, totalMs = 50_000, sentAt, reason }) => {
    const backoff = constant(4_000);
    const policy = { backoff, throttledBackoff: backoff, retryAfter, totalMs };
    const world = createWorld({ script: [asking(value, status), 200], policy });
    const response = await world.serve();
    expect(world.network.times()).toEqual(sentAt);
    if (reason === undefined) return;
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason, status });
  });
});

describe('row 45: Retry-After on any retried status, cut at 60 s, instead of the backoff', () => {
  const retryAfter: RetryAfterPolicy = { mode: 'replace', statuses: 'retried', maxMs: 60_000, overMax: 'truncate' };
  test.each([
    { status: 503, value: '120', at: 60_000 },
    { status: 502, value: '3600', at: 60_000 },
    { status: 500, value: imf(START + 7_200_000), at: 60_000 },
    { status: 408, value: '1', at: 1_000 },
  ])('$status, $value: $at ms', async ({ status, value, at }) => {
    const backoff = constant(4_000);
    const policy = { backoff, throttledBackoff: backoff, retryAfter, totalMs: 100_000 };
    const world = createWorld({ script: [asking(value, status), 200], policy });
    await world.serve();
    expect(world.network.times()).toEqual([0, at]);
  });
});
