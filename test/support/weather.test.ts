import { expect, test } from 'vitest';
import { createWeather, readWeather } from '../../demo/wire/weather.ts';

const fine = { body: 'fine' };
const down = { status: 503 };

test('each phase lasts as long as it says, and the last one stays', () => {
  const weather = createWeather([{ forMs: 100 }, { forMs: 50, step: down }, { forMs: 1, step: fine }], 1_000);
  expect([1_000, 1_099, 1_100, 1_149, 1_150, 9_999].map((now) => weather.next(now))).toEqual([
    {},
    {},
    down,
    down,
    fine,
    fine,
  ]);
});

test('what is more than a second’s share of hits is turned away, until the next second', () => {
  const weather = createWeather([{ forMs: 1, step: fine, perSecond: 2, over: down }], 0);
  expect([0, 10, 20, 999, 1_000].map((now) => weather.next(now))).toEqual([fine, fine, down, down, fine]);
});

test('chance is the same for everybody, and about what it is said to be', () => {
  const draw = () => {
    const weather = createWeather([{ forMs: 1, share: 0.3, instead: down }], 0);
    return Array.from({ length: 1_000 }, () => weather.next(0) === down);
  };
  expect(draw()).toEqual(draw());
  expect(draw().filter(Boolean).length).toBeGreaterThan(270);
  expect(draw().filter(Boolean).length).toBeLessThan(330);
});

test.each([
  [{}, /list of at least one phase/],
  [[{}], /phase 1: "forMs" is missing/],
  [[{ forMs: -1 }], /"forMs" must be a number that is not negative/],
  [[{ forMs: 1, step: { statu: 1 } }], /"step": .*unknown field "statu"/],
  [[{ forMs: 1, shares: 1 }], /unknown field "shares"/],
])('%j is refused in one sentence', (json, problem) => {
  expect(readWeather(json)).toEqual({ problem: expect.stringMatching(problem) });
});
