import { describe, expect, test } from 'vitest';
import { EMPTY, type Row, withEvents } from '../../src/devtools/model.ts';
import { attemptsOf, clock, stateOf, story, subjectOf } from '../../src/devtools/row-words.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { about, entry, notice } from '../support/events.ts';

const rowOf = (...events: LayerEvent[]) => withEvents(EMPTY, events).rows[0] as Row;
const retry: LayerEvent = {
  type: 'retry-scheduled',
  ...about,
  attempt: 1,
  delayMs: 400,
  cause: 'status',
  status: 503,
  by: 'backoff',
};

describe('how a row stands', () => {
  test.each<[LayerEvent[], number, string]>([
    [[retry], 2_100, 'retrying'],
    [[retry], 302_001, 'no news'],
    [[{ type: 'waiting', ...about, cause: 'circuit' }], 2_100, 'parked'],
    [[{ type: 'waiting', ...about, cause: 'hold' }], 2_100, 'held'],
    [[{ type: 'waiting', ...about, cause: 'offline' }], 2_100, 'offline'],
    [[{ type: 'recovered', ...about, attempts: 2, status: 200 }], 9e9, 'recovered'],
    [[{ type: 'gave-up', ...about, attempts: 2, reason: 'budget' }], 9e9, 'gave up'],
    [[{ type: 'queued', ...entry }], 9e9, 'kept'],
    [[{ type: 'queue-sent', ...entry, status: 201, sends: 1 }], 9e9, 'delivered'],
    [[{ type: 'queue-failed', ...entry, reason: 'expired', sends: 1 }], 9e9, 'set aside'],
    [[{ type: 'hold-started', ...notice, until: 3_000 }], 2_999, 'on hold'],
    [[{ type: 'hold-started', ...notice, until: 3_000 }], 3_000, 'hold over'],
    [
      [
        { type: 'hold-started', ...notice, until: 3_000 },
        { type: 'hold-ended', ...notice },
      ],
      2_500,
      'hold over',
    ],
    [[{ type: 'circuit-changed', ...notice, from: 'closed', to: 'open' }], 2_100, 'circuit open'],
    [[{ type: 'budget-exhausted', ...notice }], 2_100, 'budget empty'],
  ])('%j at %d: %s', (events, now, words) => expect(stateOf(rowOf(...events), now).words).toBe(words));
});

test('the next attempt counts from its time on, before anything is told of it', () => {
  expect([2_399, 2_400].map((now) => attemptsOf(rowOf(retry), now))).toEqual([1, 2]);
  expect(attemptsOf(rowOf(retry, { type: 'recovered', ...about, attempts: 2, status: 200 }), 9e9)).toBe(2);
});

test('what is drawn is told as well, in the order of time', () => {
  expect(story(rowOf(retry), 2_500).replaceAll('\u00a0', ' ')).toBe(
    'attempt 1: got 503, 1.00 s; wait, by backoff, 0.40 s; attempt 2: under way, 0.10 s',
  );
});

test('a row is about a path, or about all of an origin and group', () => {
  expect(subjectOf(rowOf(retry))).toBe('/a');
  expect(subjectOf(rowOf({ type: 'budget-exhausted', ...notice }))).toBe('data from app.test');
  expect(subjectOf(rowOf({ type: 'hold-started', ...notice, until: 1, path: '/p' }))).toBe('/p');
  expect(clock(0)).toMatch(/^\d\d:\d\d:00$/);
});
