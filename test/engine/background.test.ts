import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { createWorld, EXACT } from '../support/engine-world.ts';

describe('a request that is wanted less while it is under way', () => {
  /** What it may have from `fromMs` on. */
  async function until(fromMs: number, later: { attempts?: number; totalMs?: number }, script: number[] = [502]) {
    const world = createWorld({ script });
    const isLater = () => world.time.elapsed() >= fromMs;
    const call = {
      ...world.call(),
      mostAttempts: () => (isLater() ? (later.attempts ?? EXACT.attempts) : EXACT.attempts),
      ceilingMs: () => (isLater() ? (later.totalMs ?? EXACT.totalMs) : EXACT.totalMs),
    };
    const response = await world.time.until(serve(call, world.engine, () => {}));
    const sentAt = world.network.sent.map(({ at }) => at);
    return { status: response.status, sentAt, endedAt: world.time.elapsed(), last: world.steps.at(-1) };
  }

  test('has fewer attempts from then on, and gives up with its last answer', async () => {
    expect(await until(100, { attempts: 2 })).toMatchObject({
      status: 502,
      sentAt: [0, 500],
      last: { type: 'gave-up', attempts: 2, reason: 'attempts' },
    });
  });

  test('what was scheduled before still goes, and is the last', async () => {
    expect((await until(600, { attempts: 2 })).sentAt).toEqual([0, 500, 1_500]);
  });

  test('has as many as before if nothing changes', async () => {
    expect((await until(100, {})).sentAt).toEqual([0, 500, 1_500, 3_500]);
  });

  test('that is not wanted any more sends nothing further, and its wait ends within a second', async () => {
    const ended = await until(1_600, { totalMs: 0 });
    expect(ended).toMatchObject({ status: 502, sentAt: [0, 500, 1_500], last: { reason: 'deadline', attempts: 3 } });
    expect(ended.endedAt).toBeLessThanOrEqual(2_600);
  });
});
