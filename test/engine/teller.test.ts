import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Step } from '../../src/engine/call.ts';
import { createTeller, type Post } from '../../src/engine/teller.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { parseWorkerMessage, toMessage } from '../../src/protocol/messages.ts';
import { requestFacts } from '../support/request-facts.ts';

let now: number;
beforeEach(() => {
  now = 5_000;
});

const failed = { kind: 'response', status: 503, time: { retryAfter: null, date: null, age: null } } as const;
const STEPS = {
  attempt: { type: 'attempt' },
  scheduled: {
    type: 'retry-scheduled',
    attempt: 1,
    outcome: failed,
    decision: { do: 'retry', reason: 'status', delayMs: 500, by: 'backoff' },
  },
  lost: {
    type: 'retry-scheduled',
    attempt: 2,
    outcome: { kind: 'network-error' },
    decision: { do: 'retry', reason: 'network-error', delayMs: 700, by: 'backoff' },
  },
  overdue: {
    type: 'retry-scheduled',
    attempt: 2,
    outcome: { kind: 'timeout', afterMs: 10_000 },
    decision: { do: 'retry', reason: 'timeout', delayMs: 0, by: 'backoff' },
  },
  waiting: { type: 'waiting', cause: 'offline' },
  released: { type: 'released', cause: 'offline' },
  recovered: { type: 'recovered', attempts: 2, status: 200 },
  gaveUp: { type: 'gave-up', attempts: 4, status: 503, reason: 'attempts' },
  lostAll: { type: 'gave-up', attempts: 4, status: undefined, reason: 'deadline' },
  exhausted: { type: 'budget-exhausted' },
} as const satisfies Record<string, Step>;

function open(onEvent?: (event: LayerEvent) => void, mailbox: Partial<Post> = {}) {
  const posted: [string, LayerEvent][] = [];
  const broadcast: LayerEvent[] = [];
  const problems: unknown[] = [];
  const teller = createTeller(
    {
      post: (clientId, event) => posted.push([clientId, event]),
      broadcast: (event) => broadcast.push(event),
      untold: () => 0,
      ...mailbox,
    },
    () => now,
    onEvent,
    (problem) => problems.push(problem),
  );
  return { teller, posted, broadcast, problems };
}

const facts = requestFacts({ method: 'PUT', url: 'https://app.test/api/items' });

describe('each step is an event', () => {
  test.each<{ step: Step; event: object }>([
    {
      step: STEPS.scheduled,
      event: { type: 'retry-scheduled', attempt: 1, delayMs: 500, cause: 'status', status: 503, by: 'backoff' },
    },
    {
      step: STEPS.lost,
      event: { type: 'retry-scheduled', attempt: 2, delayMs: 700, cause: 'network-error', by: 'backoff' },
    },
    {
      step: STEPS.overdue,
      event: { type: 'retry-scheduled', attempt: 2, delayMs: 0, cause: 'timeout', by: 'backoff' },
    },
    { step: STEPS.waiting, event: { type: 'waiting', cause: 'offline' } },
    { step: STEPS.released, event: { type: 'released', cause: 'offline' } },
    { step: STEPS.recovered, event: { type: 'recovered', attempts: 2, status: 200 } },
    {
      step: { type: 'resumed', resumptions: 2, fromByte: 4_096 },
      event: { type: 'resumed', resumptions: 2, fromByte: 4_096 },
    },
    { step: STEPS.gaveUp, event: { type: 'gave-up', attempts: 4, lastStatus: 503, reason: 'attempts' } },
    { step: STEPS.lostAll, event: { type: 'gave-up', attempts: 4, reason: 'deadline' } },
  ])('$event.type', ({ step, event }) => {
    const heard: LayerEvent[] = [];
    const { teller, posted, problems } = open((told) => heard.push(told));
    const tell = teller.about(facts, 'search', 'client');
    now += 30;
    tell(step);
    const about = { id: expect.any(String), at: 5_030, method: 'PUT', url: facts.url, group: 'search', elapsedMs: 30 };
    expect(posted).toEqual([['client', { ...about, ...event }]]);
    expect(heard).toEqual([posted[0]?.[1]]);
    expect(problems).toEqual([]);
    // A page can read it.
    const message = structuredClone(toMessage({ kind: 'event', seq: '1', event: heard[0] as LayerEvent }));
    expect(parseWorkerMessage(message)).toMatchObject({ kind: 'event' });
  });

  test('the end of a budget is told to all, without a word about the request', () => {
    const { teller, posted, broadcast } = open();
    teller.about(facts, 'data', 'client')(STEPS.exhausted);
    expect(broadcast).toEqual([{ type: 'budget-exhausted', at: 5_000, origin: 'https://app.test', group: 'data' }]);
    expect(posted).toEqual([]);
  });

  test('an attempt is counted and not told', () => {
    const { teller, posted, broadcast } = open();
    teller.about(facts, 'data', 'client')(STEPS.attempt);
    expect([posted, broadcast]).toEqual([[], []]);
  });

  test('the events of one request have one id, those of another have another', () => {
    const { teller, posted } = open();
    const [one, other] = [teller.about(facts, 'data', 'a'), teller.about(facts, 'data', 'a')];
    one(STEPS.scheduled);
    other(STEPS.scheduled);
    one(STEPS.recovered);
    const [first, second, third] = posted.map(([, event]) => ('id' in event ? event.id : ''));
    expect(third).toBe(first);
    expect(second).not.toBe(first);
  });
});

test('a page that is no secure context has no randomUUID, and ids all the same', () => {
  const { getRandomValues } = crypto;
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) });
  const { teller, posted } = open();
  for (const _ of [1, 2]) teller.about(facts, 'search', 'c1')(STEPS.waiting);
  vi.unstubAllGlobals();
  const ids = posted.map(([, event]) => 'id' in event && event.id);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-z]{10,}$/), expect.stringMatching(/^[0-9a-z]{10,}$/)]);
  expect(new Set(ids).size).toBe(2);
});

describe('counters', () => {
  test('count requests, attempts and how they ended', () => {
    const { teller } = open();
    const one = teller.about(facts, 'data', 'a');
    for (const step of [STEPS.attempt, STEPS.scheduled, STEPS.attempt, STEPS.recovered]) one(step);
    const two = teller.about(facts, 'data', 'a');
    for (const step of [STEPS.attempt, STEPS.gaveUp]) two(step);
    const three = teller.about(facts, 'data', 'a');
    for (const step of [STEPS.attempt, STEPS.gaveUp]) three(step);
    const four = teller.about(facts, 'data', 'a');
    for (const step of [STEPS.attempt, STEPS.exhausted, STEPS.lostAll]) four(step);
    expect(teller.counters()).toEqual({
      requests: 4,
      attempts: 5,
      retries: 1,
      hedges: 0,
      untold: 0,
      amplification: 1.25,
      recovered: 1,
      gaveUp: { attempts: 2, deadline: 1 },
    });
  });

  test('how often downloads were gone on with, if any was', () => {
    const { teller } = open();
    expect(teller.counters()).not.toHaveProperty('resumed');
    const tell = teller.about(facts, 'data', 'a');
    for (const fromByte of [5, 10]) tell({ type: 'resumed', resumptions: fromByte / 5, fromByte });
    expect(teller.counters()).toMatchObject({ resumed: 2, recovered: 0 });
  });

  test('what was read of them does not change afterwards, and cannot change them', () => {
    const { teller } = open();
    const before = teller.counters();
    teller.about(facts, 'data', 'a')(STEPS.gaveUp);
    expect(before).toEqual({
      requests: 0,
      attempts: 0,
      retries: 0,
      hedges: 0,
      untold: 0,
      amplification: 1,
      recovered: 0,
      gaveUp: {},
    });
    const read = teller.counters();
    Object.assign(read, { requests: 99 });
    Object.assign(read.gaveUp, { attempts: 99 });
    expect(teller.counters()).toMatchObject({ requests: 1, gaveUp: { attempts: 1 } });
  });
});

describe('a hook that fails harms nothing', () => {
  test('onEvent throws: it is reported, and the page is told all the same', () => {
    const fault = new Error('onEvent');
    const { teller, posted, broadcast, problems } = open(() => {
      throw fault;
    });
    const tell = teller.about(facts, 'data', 'client');
    expect(() => {
      tell(STEPS.scheduled);
      tell(STEPS.exhausted);
    }).not.toThrow();
    expect([posted.length, broadcast.length]).toEqual([1, 1]);
    expect(problems).toEqual([fault, fault]);
    expect(teller.counters().requests).toBe(1);
  });

  test('onEvent rejects: it is reported as well', async () => {
    const fault = new Error('onEvent');
    const rejected = Promise.reject(fault);
    rejected.catch(() => {});
    const { teller, problems } = open(() => rejected);
    teller.about(facts, 'data', 'client')(STEPS.scheduled);
    await new Promise((resolve) => setImmediate(resolve));
    expect(problems).toEqual([fault]);
  });

  test('onEvent changes the event: the page gets it as it was', () => {
    const { teller, posted } = open((event) => {
      Object.assign(event, { url: 'https://evil.test/', more: () => {} });
    });
    try {
      teller.about(facts, 'data', 'client')(STEPS.recovered);
    } catch {}
    expect(posted[0]?.[1]).toMatchObject({ url: facts.url });
    expect(posted[0]?.[1]).not.toHaveProperty('more');
  });

  test('the mailbox throws: it is reported, and counted all the same', () => {
    const fault = new Error('post');
    const broken = () => {
      throw fault;
    };
    const { teller, problems } = open(undefined, { post: broken, broadcast: broken });
    const tell = teller.about(facts, 'data', 'client');
    tell(STEPS.gaveUp);
    tell(STEPS.exhausted);
    expect(problems).toEqual([fault, fault]);
    expect(teller.counters().gaveUp).toEqual({ attempts: 1 });
  });
});
