import { describe, expect, test } from 'vitest';
import { withRoom } from '../../demo/scenes/band-labels.ts';
import { bandsOf, dueBy, lengthOf, toWeather } from '../../demo/scenes/scene.ts';
import { MOODS, SCENES } from '../../demo/scenes/scenes.ts';
import { EMPTY, figuresOf, openOf, withGot, withHit, withSent } from '../../demo/scenes/tally.ts';
import { readWeather } from '../../demo/wire/weather.ts';

describe.each(SCENES)('$name', ({ phases }) => {
  test.each([3_000, 20_000])('of %i ms is as long as it says, and the server understands it', (lengthMs) => {
    const played = phases(lengthMs, 10);
    expect(lengthOf(played)).toBeCloseTo(lengthMs);
    expect(readWeather(toWeather(played))).toEqual({ phases: toWeather(played) });
    expect(bandsOf(played).every(({ fromMs, untilMs }) => untilMs > fromMs && untilMs <= lengthMs + 1)).toBe(true);
  });
});

test('what traffic by hand can tell the server is understood as well', () => {
  expect(readWeather(toWeather(Object.values(MOODS)))).toHaveProperty('phases');
});

test('trouble is where its phase is', () => {
  expect(bandsOf([{ forMs: 5 }, { forMs: 10, trouble: 'down' }, { forMs: 1 }, { forMs: 2, trouble: 'cold' }])).toEqual([
    { fromMs: 5, untilMs: 15, trouble: 'down' },
    { fromMs: 16, untilMs: 18, trouble: 'cold' },
  ]);
});

test('a rush is due sooner, and nothing is when it is over', () => {
  const phases = [{ forMs: 1_000 }, { forMs: 1_000, rush: 3 }, { forMs: 1_000 }];
  expect([0, 500, 1_000, 1_500, 2_000, 3_000, 9_000].map((at) => dueBy(phases, 10, at))).toEqual([
    0, 5, 10, 25, 40, 50, 50,
  ]);
});

describe('figures', () => {
  const sent = (count: number) => Array.from({ length: count }).reduce((tally: typeof EMPTY) => withSent(tally), EMPTY);
  const got = (tally: typeof EMPTY, good: number, bad: number) =>
    [...Array.from({ length: good }, () => true), ...Array.from({ length: bad }, () => false)].reduce(
      (before, ok) => withGot(before, { ok, tookMs: 100 }),
      tally,
    );

  test('one that failed in a thousand is not rounded away', () => {
    expect(figuresOf(got(sent(2_000), 1_999, 1)).success).toBe('99.9 %');
    expect(figuresOf(got(sent(2_000), 2_000, 0)).success).toBe('100 %');
  });

  test('attempts are hits for each request, by second of the run', () => {
    const tally = [100, 900, 1_100, 1_200, 1_300].reduce((before, at, n) => withHit(before, n < 2, at, 503), sent(2));
    expect(figuresOf(tally)).toMatchObject({ attempts: '2.50', peak: '3', hits: '5', sent: '2', success: '–' });
    expect(tally.load).toEqual([
      { hits: 2, good: 0 },
      { hits: 3, good: 0 },
    ]);
    expect(withHit(tally, true, 3_000, 200).load[3]).toEqual({ hits: 1, good: 1 });
    for (const status of [404, null]) {
      expect(withHit(tally, true, 3_000, status).load[3]).toEqual({ hits: 1, good: 0 });
    }
  });

  test('what has not come to the server yet is no attempt less', () => {
    expect(figuresOf(withHit(sent(10), true, 100, 200))).toMatchObject({ attempts: '1.00', hits: '1', sent: '10' });
  });

  test('what was called off is no failure, and its hits are for a request all the same', () => {
    const tally = withGot(withHit(withHit(sent(2), true, 0, 503), true, 10, 503), {
      ok: false,
      tookMs: 5,
      stopped: true,
    });
    expect(openOf(tally)).toBe(1);
    expect(tally).toMatchObject({ sent: 2, good: 0, bad: 0, tookMs: [] });
    expect(figuresOf(tally)).toMatchObject({ attempts: '1.00', success: '–' });
  });

  test('the slowest hundredth is a hundredth', () => {
    const tally = Array.from({ length: 200 }, (_, index) => (index + 1) * 10).reduce(
      (before, tookMs) => withGot(before, { ok: true, tookMs }),
      sent(200),
    );
    expect(figuresOf(tally).slowest).toBe('2.0 s');
    expect(figuresOf(withGot(sent(1), { ok: true, tookMs: 999.6 })).slowest).toBe('1000 ms');
  });
});

test('a word over a chart is over a stretch that is wide enough, and does not run into the one before', () => {
  const labels = [
    { from: 0, until: 80, width: 30, word: 'noise' },
    { from: 80, until: 120, width: 42, word: 'tunnel' },
    { from: 120, until: 200, width: 30, word: 'noise again' },
    { from: 200, until: 220, width: 38, word: 'short' },
    { from: 220, until: 300, width: 30, word: 'last' },
  ];
  expect(withRoom(labels, { least: 34, gap: 6 }).map(({ word }) => word)).toEqual(['noise', 'tunnel', 'last']);
});
