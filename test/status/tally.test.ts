import { describe, expect, test } from 'vitest';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { FORGOTTEN_MS, type Tally, TELLING, tallied } from '../../src/status/tally.ts';
import { about, notice } from '../support/events.ts';

const EMPTY: Tally = new Map();
const waiting = (id: string): LayerEvent => ({ type: 'waiting', ...about, id, cause: 'circuit' });

describe('what waits', () => {
  test('is every request that is told of, until it is told to have ended', () => {
    const two = [waiting('a'), waiting('b'), waiting('a')].reduce((tally, event) => tallied(tally, 5, event), EMPTY);
    expect([...two]).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
    const one = tallied(two, 6, { type: 'recovered', ...about, id: 'a', attempts: 2, status: 200 });
    expect([...one.keys()]).toEqual(['b']);
    expect(tallied(one, 7, { type: 'gave-up', ...about, id: 'b', attempts: 2, reason: 'attempts' }).size).toBe(0);
  });

  test('is no download that goes on after a break', () => {
    const broken = tallied(EMPTY, 1, waiting('a'));
    expect(tallied(broken, 2, { type: 'resumed', ...about, id: 'a', resumptions: 1, fromByte: 10 }).size).toBe(0);
  });

  test('is not what is told of an origin', () => {
    expect(tallied(EMPTY, 1, { type: 'budget-exhausted', ...notice }).size).toBe(0);
  });

  test('is forgotten when its worker says no more', () => {
    const tally = tallied(EMPTY, 0, waiting('a'));
    expect(tallied(tally, FORGOTTEN_MS - 1).size).toBe(1);
    expect(tallied(tally, FORGOTTEN_MS).size).toBe(0);
  });

  test('both ends of it are listened to', () => {
    expect(TELLING).toEqual(expect.arrayContaining(['retry-scheduled', 'waiting', 'recovered', 'resumed', 'gave-up']));
  });
});
