import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAsking } from '../../src/devtools/asking.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const world = (againMs?: number) => {
  const asked: number[] = [];
  const startedAt = Date.now();
  const seen = { is: true };
  const asking = createAsking(
    async () => {
      asked.push(Date.now() - startedAt);
      return againMs;
    },
    () => seen.is,
  );
  return { asked, asking, seen };
};

test('of many who want to know, one asks, and not again too soon', async () => {
  const { asked, asking } = world();
  for (const ms of [250, 0, 1_000]) asking.within(ms);
  await vi.advanceTimersByTimeAsync(300);
  asking.within(0);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toEqual([250, 500]);
});

test('nobody asks for whom cannot see it, also if that is so only when it is time', async () => {
  const { asked, asking, seen } = world();
  asking.within(100);
  seen.is = false;
  await vi.advanceTimersByTimeAsync(1_000);
  asking.within(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([]);
  seen.is = true;
  asking.within(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([2_000]);
});

test('a click asks at once, and the one who waits need not', async () => {
  const { asked, asking, seen } = world();
  asking.within(200);
  seen.is = false;
  await asking.now();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([0]);
});

test('as long as it is seen, it is asked again', async () => {
  const { asked, asking, seen } = world(1_000);
  void asking.now();
  await vi.advanceTimersByTimeAsync(2_500);
  seen.is = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toEqual([0, 1_000, 2_000]);
});

test('a click while an answer is awaited does not make two rows of questions of one', async () => {
  const { asked, asking } = world(1_000);
  void asking.now();
  await asking.now();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(asked).toEqual([0, 0, 1_000, 2_000]);
});

test('stopped is stopped', async () => {
  const { asked, asking } = world();
  asking.within(100);
  asking.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([]);
});
