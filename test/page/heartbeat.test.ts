import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHeartbeat } from '../../src/page/heartbeat.ts';
import type { RequestEvent } from '../../src/protocol/index.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const about = (id: string) => ({ id, at: 0, method: 'GET', url: 'https://app.test/', group: 'data', elapsedMs: 0 });
const waits = (id = 'a'): RequestEvent => ({ type: 'waiting', ...about(id), cause: 'hold' });
const ends = (id = 'a'): RequestEvent => ({ type: 'recovered', ...about(id), attempts: 2, status: 200 });

test('beats at once and every ten seconds while a request waits, and not a moment longer', () => {
  const beat = vi.fn();
  const heart = createHeartbeat(beat);
  expect(vi.getTimerCount()).toBe(0);
  heart.hear(waits());
  expect(beat).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(30_000);
  expect(beat).toHaveBeenCalledTimes(4);
  heart.hear(ends());
  expect(vi.getTimerCount()).toBe(0);
});

test('a download that goes on waits no more', () => {
  const heart = createHeartbeat(() => {});
  heart.hear(waits());
  heart.hear({ type: 'resumed', ...about('a'), resumptions: 1, fromByte: 5 });
  expect(vi.getTimerCount()).toBe(0);
});

test('for as long as the last of several', () => {
  const heart = createHeartbeat(() => {});
  heart.hear(waits('a'));
  heart.hear(waits('b'));
  heart.hear(ends('a'));
  expect(vi.getTimerCount()).toBe(1);
  heart.hear(ends('b'));
  expect(vi.getTimerCount()).toBe(0);
});

test('a request that is heard of no more keeps nothing alive for ever', () => {
  const heart = createHeartbeat(() => {});
  heart.hear(waits());
  vi.advanceTimersByTime(320_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is told of an origin is nobody’s wait, and stopping stops', () => {
  const beat = vi.fn();
  const heart = createHeartbeat(beat);
  heart.hear({ type: 'budget-exhausted', at: 0, origin: 'https://app.test', group: 'data' });
  expect(beat).not.toHaveBeenCalled();
  heart.hear(waits());
  heart.stop();
  expect(vi.getTimerCount()).toBe(0);
});
