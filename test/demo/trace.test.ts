import { describe, expect, test } from 'vitest';
import type { HitEvent } from '../../demo/misbehaving-server.ts';
import { layOut, scaleFor } from '../../demo/timeline.ts';
import { beginTrace, isSuccess, type Trace, withEnd, withEvent, withHit } from '../../demo/trace.ts';
import { story } from '../../demo/words.ts';
import { about } from '../support/events.ts';

const hit = (at: number, status: number | null): HitEvent => ({
  id: 'with-1',
  n: 1,
  at,
  method: 'GET',
  origin: 'first',
  path: '/wire/with-1',
  step: {},
  status,
});
const retry = { type: 'retry-scheduled', ...about, at: 1_100, attempt: 1, delayMs: 400, by: 'backoff' } as const;
/** Failed at once, waited, and was answered well. */
const recovered = (): Trace => {
  const failed = withHit(beginTrace('with-1', 7, 1_000), hit(1_050, 503));
  const waited = withEvent(failed, { ...retry, cause: 'status', status: 503 });
  return withEnd(withHit(waited, hit(1_500, 200)), { at: 1_600, kind: 'answer', status: 200 });
};

describe('what is drawn of a request', () => {
  test('is an attempt for each hit at the server, with its status, and the wait between them', () => {
    const pieces = layOut(recovered(), 9_000, 1_000, 1_000);
    expect(pieces).toMatchObject([
      { kind: 'attempt', tone: 'fail', from: 50, to: 100, label: '503' },
      { kind: 'wait', tone: 'backoff', from: 100, to: 500 },
      { kind: 'attempt', tone: 'ok', from: 500, to: 600, label: '200' },
    ]);
  });

  test('a retry that is still to come has its time', () => {
    const waiting = withEvent(withHit(beginTrace('with-1', 1, 1_000), hit(1_000, 503)), { ...retry, cause: 'status' });
    expect(layOut(waiting, 1_200, 1_000, 1_000)).toMatchObject([
      { kind: 'attempt', tone: 'fail' },
      { kind: 'wait', from: 100, to: 200 },
    ]);
    expect(waiting.waits).toMatchObject([{ from: 1_100, until: 1_500 }]);
  });

  test('what was parked is released, and why it gave up is said', () => {
    const parked = withEvent(withHit(beginTrace('with-1', 1, 1_000), hit(1_000, 503)), {
      type: 'waiting',
      ...about,
      at: 1_100,
      cause: 'circuit',
    });
    expect(parked.waits).toMatchObject([{ attempt: 1, by: 'circuit' }]);
    expect(parked.waits[0]?.until).toBeUndefined();
    const free = withEvent(parked, { type: 'released', ...about, at: 1_400, cause: 'circuit' });
    expect(free.waits).toMatchObject([{ until: 1_400 }]);
    const over = withEvent(withEnd(free, { at: 1_500, kind: 'answer', status: 503 }), {
      type: 'gave-up',
      ...about,
      attempts: 1,
      reason: 'budget',
    });
    expect(layOut(over, 1_500, 4_000, 1_000).at(-1)).toMatchObject({
      kind: 'reason',
      label: 'the retry budget is empty',
    });
    expect(story(over)).toContain('failed with 503');
  });

  test('fits, and has one scale for all', () => {
    expect(scaleFor([recovered(), beginTrace('with-2', 1, 1_000)], 4_500)).toBe(4_000);
    expect(scaleFor([], 0)).toBe(1_000);
  });
});

test('a 4xx is no success, nor is a body that was cut', () => {
  expect(isSuccess({ at: 0, kind: 'answer', status: 304 })).toBe(true);
  expect(isSuccess({ at: 0, kind: 'answer', status: 404 })).toBe(false);
  expect(isSuccess({ at: 0, kind: 'cut', status: 200 })).toBe(false);
});

test('in words a request says the same', () => {
  expect(story(recovered()).replaceAll('\u00a0', ' ')).toBe(
    'Request 7 succeeded with 200 after 0.60 s; attempt 1: 503; waits 0.40 s (backoff); attempt 2: 200.',
  );
});
