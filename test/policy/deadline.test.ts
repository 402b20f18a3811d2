import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deadlineAt, startsInTime } from '../../src/policy/deadline.ts';

test.each([
  { at: 24_999, starts: true },
  { at: 25_000, starts: false },
  { at: 25_001, starts: false },
])('started at 0 with 25 s in all: something at $at ms starts: $starts', ({ at, starts }) => {
  expect(startsInTime(at, deadlineAt(0, 25_000))).toBe(starts);
});

test('a machine that slept for a day wakes up past its deadline', () => {
  const startedAt = Date.UTC(2026, 0, 1);
  expect(startsInTime(startedAt + 86_400_000, deadlineAt(startedAt, 25_000))).toBe(false);
});

test('property: what starts in time leaves at least a millisecond before the deadline', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat({ max: 50_000 }), fc.nat({ max: 100_000 }), (startedAt, totalMs, afterMs) => {
      fc.pre(Number.isSafeInteger(startedAt + 100_000));
      expect(startsInTime(startedAt + afterMs, deadlineAt(startedAt, totalMs))).toBe(totalMs - afterMs >= 1);
    }),
  );
});
