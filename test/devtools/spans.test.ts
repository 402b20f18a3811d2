import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inView, layOut, scaleFor } from '../../src/devtools/layout.ts';
import { EMPTY, withEvents } from '../../src/devtools/model.ts';
import { type Span, spansOf } from '../../src/devtools/spans.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { about, anyEvent, entry, notice } from '../support/events.ts';

const at = (ms: number) => ({ ...about, at: 1_000 + ms, elapsedMs: ms });
const rowOf = (...events: LayerEvent[]) => {
  const [row] = withEvents(EMPTY, events).rows;
  if (!row) throw new Error('no row');
  return row;
};
/** `title from–to`, counted from the beginning of the request. */
const drawn = (...events: LayerEvent[]) =>
  spansOf(rowOf(...events))
    .toSorted((a, b) => a.from - b.from || (a.to ?? Number.POSITIVE_INFINITY) - (b.to ?? Number.POSITIVE_INFINITY))
    .map(
      ({ title, from, to, lane }: Span) =>
        `${title} ${from - 1_000}–${to === undefined ? '' : to - 1_000}${lane ? ' beside' : ''}`,
    );
const retry = (ms: number, attempt: number, delayMs: number, more: object = { cause: 'status', status: 503 }) =>
  ({ type: 'retry-scheduled', ...at(ms), attempt, delayMs, by: 'backoff', ...more }) as LayerEvent;

describe('a request is drawn', () => {
  test('attempt by attempt, with the waits between', () => {
    expect(
      drawn(retry(50, 1, 400), retry(500, 2, 1_000), { type: 'recovered', ...at(1_600), attempts: 3, status: 200 }),
    ).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–450',
      'attempt 2: got 503 450–500',
      'wait, by backoff 500–1500',
      'attempt 3: got 200 1500–1600',
    ]);
  });

  test('without an attempt if it was refused before it had one', () => {
    expect(drawn({ type: 'gave-up', ...at(20), attempts: 0, reason: 'not-replayable' })).toEqual([]);
    expect(drawn({ type: 'gave-up', ...at(20), attempts: 1, lastStatus: 503, reason: 'budget' })).toEqual([
      'attempt 1: got 503 0–20',
    ]);
  });

  test('with the name of a wait that only a newer worker knows', () => {
    const later = { type: 'waiting', ...at(60), cause: 'moonrise' } as unknown as LayerEvent;
    const paced = { ...retry(50, 1, 400), by: 'pace' } as unknown as LayerEvent;
    expect(drawn(paced, later)).toEqual(['attempt 1: got 503 0–50', 'pace 50–60', 'moonrise 60–']);
  });

  test('with the attempt that brought it, though it was sent a moment before its wait was over', () => {
    expect(drawn(retry(50, 1, 400), { type: 'recovered', ...at(448), attempts: 2, status: 200 })).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–448',
      'attempt 2: got 200 448–448',
    ]);
  });

  test('with every attempt, though one had failed before its wait was over by the clock', () => {
    const events = [retry(50, 1, 400), retry(440, 2, 100), { type: 'recovered', ...at(535), attempts: 3, status: 200 }];
    expect(drawn(...(events as LayerEvent[]))).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–440',
      'attempt 2: got 503 440–440',
      'wait, by backoff 440–535',
      'attempt 3: got 200 535–535',
    ]);
    expect(drawn(retry(50, 1, 400), { type: 'gave-up', ...at(449), attempts: 2, reason: 'attempts' })).toContain(
      'attempt 2: no answer 449–449',
    );
  });

  test('without a retry that was parked late, as its number tells in the end', () => {
    const parked = [retry(50, 1, 400), { type: 'waiting', ...at(480), cause: 'circuit' } as const];
    expect(
      drawn(
        ...parked,
        { type: 'released', ...at(900), cause: 'circuit' },
        { type: 'recovered', ...at(950), attempts: 2, status: 200 },
      ),
    ).toEqual(['attempt 1: got 503 0–50', 'wait, by backoff 50–450', 'parked 480–900', 'attempt 2: got 200 900–950']);
    expect(drawn(retry(50, 1, 400), { type: 'gave-up', ...at(480), attempts: 1, reason: 'circuit' })).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–450',
    ]);
  });

  test('by the number of the attempt that is told of, if nothing was told before', () => {
    expect(drawn({ type: 'recovered', ...at(950), attempts: 3, status: 200 })).toEqual(['attempt 3: got 200 0–950']);
    expect(
      drawn(
        { type: 'hedge-launched', ...at(300), attempt: 2 },
        { type: 'recovered', ...at(950), attempts: 3, status: 200 },
      ),
    ).toEqual(['attempt 1: one of these got 200 0–950', 'attempt 2: one of these got 200 300–950 beside']);
  });

  test('with a wait that ends where another takes its place', () => {
    const longer = retry(10_300, 1, 2_000, { cause: 'status', status: 429 });
    expect(drawn(retry(10_000, 1, 1_000, { cause: 'timeout' }), longer)).toContain('wait, by backoff 10000–10300');
  });

  test('while it goes on', () => {
    expect(drawn(retry(50, 1, 400))).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–450',
      'attempt 2: under way 450–',
    ]);
  });

  test('an overdue attempt stays beside the next', () => {
    expect(
      drawn(retry(10_000, 1, 100, { cause: 'timeout' }), {
        type: 'recovered',
        ...at(10_500),
        attempts: 2,
        status: 200,
      }),
    ).toEqual([
      'attempt 1: one of these got 200 0–10500',
      'wait, by backoff 10000–10100',
      'attempt 2: one of these got 200 10100–10500 beside',
    ]);
  });

  test('a hedge is beside the first', () => {
    expect(drawn({ type: 'hedge-launched', ...at(300), attempt: 2 })).toEqual([
      'attempt 1: under way 0–',
      'attempt 2: under way 300– beside',
    ]);
  });

  test('held before it was sent', () => {
    expect(
      drawn(
        { type: 'waiting', ...at(2), cause: 'hold' },
        { type: 'released', ...at(3_000), cause: 'hold' },
        { type: 'recovered', ...at(3_050), attempts: 1, status: 200 },
      ),
    ).toEqual(['held 2–3000', 'attempt 1: got 200 3000–3050']);
  });

  test('a retry that is parked before it goes is not drawn as an attempt', () => {
    const events = [retry(50, 1, 400), { type: 'waiting', ...at(451), cause: 'circuit' } as const];
    expect(drawn(...events)).toEqual(['attempt 1: got 503 0–50', 'wait, by backoff 50–450', 'parked 451–']);
    expect(
      drawn(...events, { type: 'gave-up', ...at(2_000), attempts: 1, lastStatus: 503, reason: 'circuit' }),
    ).toEqual(['attempt 1: got 503 0–50', 'wait, by backoff 50–450', 'parked 451–2000']);
  });

  test('a wait that was cut short ends there', () => {
    expect(drawn(retry(50, 1, 4_000), { type: 'gave-up', ...at(1_000), attempts: 1, reason: 'aborted' })).toEqual([
      'attempt 1: got 503 0–50',
      'wait, by backoff 50–1000',
    ]);
  });

  test('what is not known here is a moment', () => {
    expect(drawn({ type: 'resumed', ...at(80) } as unknown as LayerEvent)).toEqual([
      'attempt 1: under way 0–',
      'resumed 80–80',
    ]);
  });
});

test('an entry is drawn as long as it is kept, and a hold no longer than it is', () => {
  const kept: LayerEvent = { type: 'queued', ...entry };
  expect(drawn(kept)).toEqual(['kept in the outbox 1000–']);
  expect(drawn(kept, { type: 'queue-sent', ...entry, at: 5_000, status: 201, sends: 1 })).toEqual([
    'kept in the outbox 1000–4000',
    'delivered: 201 4000–4000',
  ]);
  expect(
    drawn(kept, { type: 'queue-failed', ...entry, at: 5_000, reason: 'refused', status: 422, sends: 1 }),
  ).toContain('set aside: refused 4000–4000');
  const hold: LayerEvent = { type: 'hold-started', ...notice, until: 5_000 };
  expect(drawn(hold)).toEqual(['held 1000–4000']);
  expect(drawn(hold, { type: 'hold-ended', ...notice, at: 3_000 })).toEqual(['held 1000–2000']);
  const change = { ...notice, from: 'closed', to: 'open' } as const;
  expect(
    drawn({ type: 'circuit-changed', ...change }, { type: 'circuit-changed', ...change, at: 4_000, to: 'closed' }),
  ).toEqual(['circuit open 1000–3000', 'circuit closed 3000–3000']);
  expect(drawn({ type: 'budget-exhausted', ...notice })).toEqual(['budget exhausted 1000–1000']);
});

test('whatever is told can be drawn: no span ends before it begins, and no piece leaves its track', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.nat(200_000), (events, now) => {
      const { rows } = withEvents(
        EMPTY,
        events.toSorted((a, b) => a.at - b.at),
      );
      for (const align of ['start', 'clock'] as const) {
        const scale = scaleFor(rows, align, now);
        expect(scale.ms).toBeGreaterThan(0);
        for (const row of rows) {
          const spans = spansOf(row);
          for (const { from, to = from } of spans) expect(to).toBeGreaterThanOrEqual(from);
          for (const { x, width } of layOut(spans, row.startedAt, now, scale, 300)) {
            expect(x).toBeGreaterThanOrEqual(0);
            expect(x + width).toBeLessThanOrEqual(300 + 1e-6);
            expect(width).toBeGreaterThan(0);
          }
        }
      }
    }),
  );
});

describe('the scale', () => {
  const short = rowOf(retry(50, 1, 400), { type: 'recovered', ...at(1_600), attempts: 2, status: 200 });
  test('holds the longest row in view, but no more than a minute from each start', () => {
    expect(scaleFor([short], 'start', 9e9)).toEqual({ ms: 2_000 });
    expect(scaleFor([rowOf({ type: 'queued', ...entry })], 'start', 9e9)).toEqual({ ms: 60_000 });
    expect(scaleFor([], 'start', 0).ms).toBeGreaterThan(0);
  });
  test('by the clock holds everything in view', () => {
    const later = { ...short, startedAt: 61_000, endedAt: 62_000 };
    expect(scaleFor([short, later], 'clock', 9e9)).toEqual({ from: 1_000, ms: 120_000 });
  });
  test('what is longer is cut at the edge, and a retry that is to come is not there yet', () => {
    const spans = spansOf(rowOf(retry(50, 1, 4_000)));
    const pieces = layOut(spans, 1_000, 2_000, { ms: 1_000 }, 100);
    expect(pieces.map(({ span, cut }) => [span.title, cut])).toEqual([
      ['wait, by backoff', true],
      ['attempt 1: got 503', false],
    ]);
  });

  test('shows no attempt before it is made', () => {
    const spans = spansOf(rowOf(retry(50, 1, 400)));
    const titles = (now: number) => layOut(spans, 1_000, now, { ms: 4_000 }, 400).map(({ span }) => span.title);
    expect(titles(1_300)).toEqual(['wait, by backoff', 'attempt 1: got 503']);
    expect(titles(1_500)).toEqual(['wait, by backoff', 'attempt 1: got 503', 'attempt 2: under way']);
  });
});

test.each([
  [0, 0, 500, 0, 0],
  [10_000, 0, 280, 0, 18],
  [10_000, 2_800, 280, 92, 118],
  [10_000, 280_000, 280, 9_992, 10_000],
  [5, -20, 280, 0, 5],
])('of %d rows scrolled to %d in %d px, %d to %d are drawn', (count, scrollPx, viewPx, first, last) => {
  expect(inView(count, 28, scrollPx, viewPx)).toEqual({ first, last });
});
