import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL, EMPTY, eventsOf, filtered, heardOf, MOST_EVENTS, withEvents } from '../../src/devtools/model.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { about, anyEvent, entry, notice } from '../support/events.ts';

const rowsOf = (...events: LayerEvent[]) => withEvents(EMPTY, events).rows;
const retry = (id: string, attempt = 1, at = 2_000): LayerEvent => ({
  type: 'retry-scheduled',
  ...about,
  id,
  at,
  elapsedMs: at - 1_000,
  attempt,
  delayMs: 100,
  cause: 'status',
  status: 503,
  by: 'backoff',
});

describe('rows', () => {
  test('a request has one, from its beginning to what became of it', () => {
    const goingOn = retry('r1');
    expect(rowsOf(goingOn)).toMatchObject([
      {
        kind: 'request',
        state: 'going-on',
        method: 'GET',
        origin: 'https://app.test',
        path: '/a',
        startedAt: 1_000,
        attempts: 1,
      },
    ]);
    const recovered: LayerEvent = { type: 'recovered', ...about, at: 3_000, attempts: 2, status: 200 };
    expect(rowsOf(goingOn, recovered)).toMatchObject([
      { state: 'recovered', endedAt: 3_000, attempts: 2, status: 200 },
    ]);
    const gaveUp: LayerEvent = { type: 'gave-up', ...about, attempts: 2, lastStatus: 503, reason: 'attempts' };
    expect(rowsOf(goingOn, gaveUp)).toMatchObject([{ state: 'gave-up', status: 503, attempts: 2 }]);
    expect(rowsOf(goingOn, { ...gaveUp, attempts: 4 })).toMatchObject([{ attempts: 4 }]);
  });

  test('a type of event that nobody knows belongs to its request', () => {
    const rebased = { type: 'rebased', ...about, offset: 10 } as unknown as LayerEvent;
    expect(rowsOf(retry('r1'), rebased)).toMatchObject([{ kind: 'request', state: 'going-on', events: { length: 2 } }]);
  });

  test('a download that goes on after a break has recovered, until it breaks off once more', () => {
    const resumed: LayerEvent = { type: 'resumed', ...about, resumptions: 1, fromByte: 10 };
    expect(rowsOf(retry('r1'), resumed)).toMatchObject([{ state: 'recovered', endedAt: resumed.at, attempts: 2 }]);
    expect(rowsOf({ ...resumed, resumptions: 3 })).toMatchObject([{ attempts: 4 }]);
    expect(rowsOf(retry('r1'), resumed, retry('r1'))).toMatchObject([{ state: 'going-on' }]);
  });

  test('an entry that was set aside is delivered in the end', () => {
    const rows = rowsOf(
      { type: 'queued', ...entry },
      { type: 'queue-failed', ...entry, reason: 'refused', status: 422, sends: 1 },
      { type: 'queue-sent', ...entry, at: 9_000, status: 201, sends: 2 },
    );
    expect(rows).toMatchObject([
      { kind: 'outbox', state: 'delivered', group: 'orders', attempts: 2, status: 201, endedAt: 9_000 },
    ]);
    expect(rowsOf({ type: 'queue-failed', ...entry, reason: 'expired', sends: 3 })).toMatchObject([
      { state: 'set-aside', attempts: 3 },
    ]);
  });

  test('two requests that could not be stored are two rows', () => {
    const lost: LayerEvent = { type: 'queue-failed', ...entry, id: '', reason: 'not-stored', sends: 0 };
    expect(rowsOf(lost, lost)).toHaveLength(2);
  });

  test('a hold goes on until it is told to be over; the next one is another row', () => {
    const started = (at: number, path?: string): LayerEvent => ({
      type: 'hold-started',
      ...notice,
      at,
      until: at + 1_000,
      ...(path === undefined ? {} : { path }),
    });
    expect(rowsOf(started(0), started(500))).toMatchObject([{ kind: 'hold', state: 'going-on', startedAt: 0 }]);
    const ended: LayerEvent = { type: 'hold-ended', ...notice, at: 1_500 };
    expect(rowsOf(started(0), ended, started(2_000, '/p'))).toMatchObject([
      { state: 'over', endedAt: 1_500 },
      { state: 'going-on', path: '/p' },
    ]);
    expect(rowsOf(started(0), started(5_000))).toHaveLength(2);
    expect(rowsOf(ended)).toMatchObject([{ kind: 'hold', state: 'over' }]);
    // What is over is not over once more.
    expect(rowsOf(started(0), ended, { ...ended, at: 1_800 })).toMatchObject([
      { endedAt: 1_500 },
      { startedAt: 1_800 },
    ]);
  });

  test('a circuit is one row from its opening until it is closed', () => {
    const to = (
      from: 'closed' | 'open' | 'half-open',
      to: 'closed' | 'open' | 'half-open',
      at: number,
    ): LayerEvent => ({
      type: 'circuit-changed',
      ...notice,
      at,
      from,
      to,
    });
    const first = [to('closed', 'open', 1), to('open', 'half-open', 2), to('half-open', 'closed', 3)];
    expect(rowsOf(...first, to('closed', 'open', 9))).toMatchObject([
      { kind: 'circuit', state: 'over', endedAt: 3, events: { length: 3 } },
      { kind: 'circuit', state: 'going-on', startedAt: 9 },
    ]);
    expect(rowsOf(...first.slice(0, 2))).toMatchObject([{ kind: 'circuit', state: 'going-on' }]);
  });
});

describe('room', () => {
  test('is for 10 000 events; then the oldest go, and a row goes with its last', () => {
    const many = Array.from({ length: MOST_EVENTS + 1 }, (_, index) => retry(`r${index}`));
    const model = withEvents(EMPTY, many);
    expect(model).toMatchObject({ size: MOST_EVENTS, forgotten: 1 });
    expect(model.rows).toHaveLength(MOST_EVENTS);
    expect(model.rows[0]?.key).toBe('request r1');
    const more = withEvents(model, [retry('r1', 2), retry('r1', 3)]);
    expect(more).toMatchObject({ size: MOST_EVENTS, forgotten: 3 });
    expect(more.rows[0]).toMatchObject({ key: 'request r1', attempts: 3, events: { length: 2 } });
  });

  test('is not taken by holds and circuits whose rows had to go', () => {
    const holds = Array.from(
      { length: 50 },
      (_, index): LayerEvent => ({ type: 'hold-started', ...notice, path: `/${index}`, until: 9_000 }),
    );
    expect(withEvents(EMPTY, holds, 5).goingOn.size).toBe(5);
    expect(withEvents(withEvents(EMPTY, holds, 5), Array(5).fill(retry('r1')), 5).goingOn.size).toBe(0);
  });

  test('what had to go is not forgotten in the count of what was heard', () => {
    const model = withEvents(EMPTY, [retry('r1'), retry('r2'), retry('r3')], 2);
    expect([model.size, heardOf(model)]).toEqual([2, 3]);
  });

  test('whatever comes, in whatever portions: nothing is lost but the oldest, and nothing is told twice', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(anyEvent, { maxLength: 12 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (portions, most) => {
          const all = portions.flat();
          const model = portions.reduce((before, portion) => withEvents(before, portion, most), EMPTY);
          expect(eventsOf(model)).toEqual(all.slice(-most));
          expect(model.size).toBe(Math.min(most, all.length));
          expect(model.size + model.forgotten).toBe(all.length);
          expect(model.rows.flatMap(({ events }) => events)).toHaveLength(model.size);
          expect(new Set(model.rows.map(({ key }) => key)).size).toBe(model.rows.length);
        },
      ),
    );
  });

  test('how the events were portioned makes no difference', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (events, most) => {
        const oneByOne = events.reduce((model, event) => withEvents(model, [event], most), EMPTY);
        const keysOf = (model: typeof EMPTY) => model.order;
        if (events.length <= most) expect(oneByOne).toEqual(withEvents(EMPTY, events, most));
        else expect(keysOf(oneByOne)).toHaveLength(most);
      }),
    );
  });
});

describe('a filter', () => {
  const model = withEvents(EMPTY, [
    retry('r1'),
    { type: 'recovered', ...about, id: 'r2', url: 'https://b.test/orders', attempts: 2, status: 200 },
    { type: 'gave-up', ...about, id: 'r3', attempts: 4, lastStatus: 503, reason: 'budget' },
    { type: 'queued', ...entry },
    { type: 'budget-exhausted', ...notice },
    { type: 'queue-sent', ...entry, id: 'e2', status: 201, sends: 1 },
    { type: 'queue-failed', ...entry, id: 'e3', reason: 'refused', status: 422, sends: 1 },
    { type: 'hold-started', ...notice, until: 9_000 },
    { type: 'circuit-changed', ...notice, from: 'closed', to: 'open' },
  ]);
  const hold = 'hold https://app.test data  7';
  const circuit = 'circuit https://app.test data 8';
  const keys = (filter: Partial<typeof ALL>) => filtered(model.rows, { ...ALL, ...filter }).map(({ key }) => key);

  test('of nothing leaves the list as it is', () => expect(filtered(model.rows, ALL)).toBe(model.rows));
  test.each([
    [{ text: 'b.TEST  recovered' }, ['request r2']],
    [{ text: 'budget' }, ['request r3', 'budget 4']],
    [{ text: 'nowhere' }, []],
    [{ origin: 'https://b.test' }, ['request r2']],
    [{ outcome: 'going-on' }, ['request r1', 'outbox e1', hold, circuit]],
    [{ outcome: 'good' }, ['request r2', 'outbox e2']],
    [{ outcome: 'bad' }, ['request r3', 'outbox e3']],
    [{ outcome: 'notices' }, ['budget 4', hold, circuit]],
    [{ text: 'refused' }, ['outbox e3']],
    [{ text: '503' }, ['request r3']],
    [{ outcome: 'bad', text: 'get', origin: 'https://app.test' }, ['request r3']],
  ] as const)('%j shows %j', (filter, shown) => expect(keys(filter)).toEqual(shown));
});
