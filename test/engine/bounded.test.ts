import { expect, test } from 'vitest';
import { setBounded } from '../../src/engine/bounded.ts';
import { createHedging } from '../../src/engine/hedging.ts';
import { createParking } from '../../src/engine/parking.ts';
import { createWaker } from '../../src/engine/waker.ts';

test('at most 200 keys are kept, and the first goes first', () => {
  const map = new Map<string, number>();
  for (let n = 0; n < 500; n += 1) setBounded(map, `${n}`, n);
  expect([map.size, map.has('299'), map.has('300'), map.get('499')]).toEqual([200, false, true, 499]);
});

test('what is changed is not what makes room', () => {
  const map = new Map<string, number>();
  for (let n = 0; n < 200; n += 1) setBounded(map, `${n}`, n);
  setBounded(map, '0', 7);
  expect([map.size, map.get('0')]).toEqual([200, 7]);
});

test('S14 whatever is remembered of origins in memory, a page that asks very many does not fill it', () => {
  const sizes: number[] = [];
  const { set } = Map.prototype;
  Map.prototype.set = function (key, value) {
    set.call(this, key, value);
    sizes.push(this.size);
    return this;
  };
  try {
    const [parking, hedging, waker] = [createParking(), createHedging(), createWaker(() => 1e6)];
    for (let n = 0; n < 1_000; n += 1) {
      const key = { origin: `https://${n}.test`, group: 'data' };
      parking.isFirstAfter(key, n + 1);
      parking.park(key).leave();
      hedging.began(key);
      const nap = waker.enter(key.origin);
      waker.wake(key.origin);
      nap.leave();
    }
  } finally {
    Map.prototype.set = set;
  }
  expect(sizes.length).toBeGreaterThan(3_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(201);
});
