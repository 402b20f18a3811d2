import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import {
  type Backoff,
  constant,
  decorrelatedJitter,
  delayMs,
  equalJitter,
  exponential,
  fullJitter,
  proportionalJitter,
} from '../../src/policy/backoff.ts';
import { MAX_DELAY_MS } from '../../src/policy/index.ts';
import type { RetryAfterPolicy } from '../../src/policy/policy.ts';
import { createWorld, rejection } from '../support/engine-world.ts';
import { imf } from '../support/http-dates.ts';
import { createVirtualTime, START } from '../support/virtual-time.ts';

const KEY = { origin: 'https://app.test', group: 'data' };
const HIGHEST = 1 - 2 ** -53;
const CHANCES = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, HIGHEST];
const gaps = (times: readonly number[]) => times.slice(1).map((at, index) => at - (times[index] ?? 0));

describe('backoff', () => {
  test('go-retryablehttp-188 a wait of one’s own', async () => {
    const policy = { attempts: 5, statuses: [500], backoff: constant(1) };
    const world = createWorld({ script: [500, 500, 500, 500, 200], policy });
    expect((await world.serve()).status).toBe(200);
    expect(gaps(world.network.times())).toEqual([1, 1, 1, 1]);
  });

  test('httpc-266 ±10 % around 200 ms', () => {
    const of = proportionalJitter(exponential({ baseMs: 100 }), 0.1);
    const waits = CHANCES.map((chance) => delayMs(of, 2, () => chance));
    expect([waits.at(0), waits.at(-1)]).toEqual([180, 220]);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
  });

  test.each<{ id: string; jitter: (of: Backoff) => Backoff }>([
    { id: 'cockatiel-331', jitter: fullJitter },
    { id: 'cockatiel-332', jitter: equalJitter },
  ])('$id from nothing to min(30 s, 128 ms × 2^n)', ({ jitter }) => {
    const of = jitter(exponential({ baseMs: 128, maxMs: 30_000 }));
    const outside = Array.from({ length: 99 }, (_, index) => index).flatMap((index) =>
      CHANCES.map((chance) => delayMs(of, index + 1, () => chance)).filter(
        (ms) => !(ms >= 0 && ms <= Math.min(30_000, 128 * 2 ** (index + 1))),
      ),
    );
    expect(outside).toEqual([]);
  });

  test('cockatiel-334 decorrelated: never below nothing, nor no number, for 2,999 retries', () => {
    const of = decorrelatedJitter(exponential({ baseMs: 45_000, maxMs: 900_000 }));
    for (const chance of CHANCES) {
      let previous: number | undefined;
      for (let retry = 1; retry < 3_000; retry += 1) {
        previous = delayMs(of, retry, () => chance, previous);
        if (!(previous >= 45_000 && previous <= 900_000)) expect.fail(`${previous} ms before retry ${retry}`);
      }
    }
  });

  // H is a server short of capacity, T anything else. There the first letter is how the series began, and sets no wait.
  test.each([
    { id: 'smithy-459', errors: 'HHH', waits: [500, 1_000], left: [495, 490] },
    { id: 'smithy-460', errors: 'HTH', waits: [100, 1_000], left: [490, 485] },
    { id: 'smithy-461', errors: 'THT', waits: [500, 200], left: [495, 485] },
    {
      id: 'smithy-463',
      errors: 'HHHHHHHH',
      waits: [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000],
      left: [495, 490, 485, 480, 475, 470, 465],
    },
  ])('$id $errors: waits and prices by what failed', async ({ errors, waits, left }) => {
    const letters = [...errors.slice(1), errors[0]];
    const exact = (baseMs: number) => exponential({ baseMs, maxMs: 20_000 });
    const world = createWorld({
      script: letters.map((letter) => (letter === 'H' ? 429 : 502)),
      budget: { capacity: 500, retryCost: 10, throttledCost: 5, refillPerSecond: 0 },
      policy: { attempts: errors.length, totalMs: 100_000, backoff: exact(100), throttledBackoff: exact(500) },
    });
    const tokens: number[] = [];
    const call = world.call();
    const tell: typeof call.tell = (step) => {
      if (step.type === 'retry-scheduled') tokens.push(world.book.look(KEY).budget.tokens);
    };
    await world.time.until(serve({ ...call, tell }, world.engine, () => {}));
    expect(gaps(world.network.times())).toEqual(waits);
    expect(tokens).toEqual(left);
  });
});

describe('Retry-After', () => {
  const long: RetryAfterPolicy = { mode: 'replace', statuses: 'retried', maxMs: MAX_DELAY_MS, overMax: 'give-up' };

  test('ky-021 a leap second is the second after :59', async () => {
    const midnight = Date.UTC(2026, 0, 16);
    const time = createVirtualTime(midnight - 2_000_000);
    const leap = 'Thu, 15 Jan 2026 23:59:60 GMT';
    const script = [{ status: 429, headers: { 'Retry-After': leap } }, 200];
    const world = createWorld({ time, script, policy: { retryAfter: long, totalMs: 1e9, backoff: constant(13) } });
    await world.serve();
    expect(imf(midnight - 1_000)).toBe('Thu, 15 Jan 2026 23:59:59 GMT');
    expect(gaps(world.network.times())).toEqual([2_000_000]);
  });

  test('got-085 a 413 that names a date is asked once more, not before it', async () => {
    const script = [{ status: 413, headers: { 'Retry-After': imf(START + 2_000) } }, 413];
    const world = createWorld({ script, policy: { attempts: 2 } });
    expect((await world.serve()).status).toBe(413);
    expect(world.network.times()).toEqual([0, 2_000]);
  });

  test.each([
    { chance: 0, planned: 1_000 },
    // Theirs adds 50 ms at most; here up to a quarter, and never less than the server said.
    { chance: HIGHEST, planned: 1_250 },
  ])('nurago-230 jitter only on top: $planned ms, and called off at 50', async ({ chance, planned }) => {
    const script = [{ status: 503, headers: { 'Retry-After': '1' } }, 200];
    const world = createWorld({ script, policy: { throttledBackoff: constant(1) }, random: () => chance });
    const controller = new AbortController();
    const answer = serve({ ...world.call(), signal: controller.signal }, world.engine, () => {});
    await world.time.advance(50);
    controller.abort('off');
    expect(await rejection(world.time.until(answer))).toBe('off');
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps).toContainEqual(
      expect.objectContaining({ type: 'retry-scheduled', decision: expect.objectContaining({ delayMs: planned }) }),
    );
  });

  test('grpc-415 a server’s own time starts no new series: the backoff goes on where it was', async () => {
    const script = [{ status: 503, headers: { 'Retry-After': '1' } }, 503, 200];
    const backoff = exponential({ baseMs: 100 });
    const world = createWorld({ script, policy: { backoff, throttledBackoff: backoff } });
    await world.serve();
    expect(gaps(world.network.times())).toEqual([1_000, 200]);
  });

  test.each(['-1', '-1000', 'never'])('grpc-429 grpc-398 a Retry-After of %s is none', async (value) => {
    const script = [{ status: 503, headers: { 'Retry-After': value } }, 200];
    const world = createWorld({ script, policy: { throttledBackoff: constant(10) } });
    await world.serve();
    expect(gaps(world.network.times())).toEqual([10]);
  });
});
