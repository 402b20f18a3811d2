import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClock } from '../../src/sim/clock.ts';

test('what is due runs in the order of time, and at the same time in the order it was asked for', () => {
  const clock = createClock();
  const ran: string[] = [];
  for (const [at, name] of [
    [30, 'c'],
    [10, 'a'],
    [20, 'b1'],
    [20, 'b2'],
  ] as const) {
    clock.at(at, () => ran.push(`${name} at ${clock.now()}`));
  }
  clock.run();
  expect(ran).toEqual(['a at 10', 'b1 at 20', 'b2 at 20', 'c at 30']);
});

test('a task may ask for more, and what it asks for in the past runs now', () => {
  const clock = createClock(5);
  const ran: number[] = [];
  clock.at(10, () => clock.at(3, () => ran.push(clock.now())));
  clock.run();
  expect(ran).toEqual([10]);
});

test('any order of asking gives the order of time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 })), (times) => {
      const clock = createClock();
      const ran: number[] = [];
      for (const at of times) clock.at(at, () => ran.push(clock.now()));
      clock.run();
      expect(ran).toEqual(times.toSorted((a, b) => a - b));
    }),
  );
});
