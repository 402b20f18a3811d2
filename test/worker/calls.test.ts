import { describe, expect, test } from 'vitest';
import { createCalls } from '../../src/worker/calls.ts';
import { createPulse } from '../../src/worker/pulse.ts';
import { isSampled } from '../../src/worker/sample.ts';

const clock = () => {
  let at = 1_000_000;
  return { now: () => at, pass: (ms: number) => (at += ms) };
};

describe('aborts', () => {
  test('fire the signal of the request with that id, of that page only', () => {
    const calls = createCalls(() => 0);
    const [mine, other, elsewhere] = [calls.signalOf('a', '1'), calls.signalOf('a', '2'), calls.signalOf('b', '1')];
    calls.abort('a', '1');
    expect([mine.aborted, other.aborted, elsewhere.aborted]).toEqual([true, false, false]);
    expect(mine.reason).toMatchObject({ name: 'AbortError' });
  });

  test('that come before their request are remembered, for a while', () => {
    const { now, pass } = clock();
    const calls = createCalls(now);
    calls.abort('a', '1');
    calls.abort('a', '2');
    expect(calls.signalOf('a', '1').aborted).toBe(true);
    pass(10_000);
    expect(calls.signalOf('a', '2').aborted).toBe(false);
  });

  test('are heard however long the request has been under way, and whatever else is aborted', () => {
    const { now, pass } = clock();
    const calls = createCalls(now);
    const long = calls.signalOf('a', '1');
    pass(200_000);
    for (let id = 0; id < 5_000; id += 1) calls.abort('b', String(id));
    calls.abort('a', '1');
    expect(long.aborted).toBe(true);
  });

  test('are forgotten when the request is answered', () => {
    const calls = createCalls(() => 0);
    const first = calls.signalOf('a', '1');
    calls.end('a', '1');
    calls.abort('a', '1');
    expect(first.aborted).toBe(false);
  });

  test('of a page that sends nothing else fill no memory', () => {
    const calls = createCalls(() => 0);
    for (let id = 0; id < 5_000; id += 1) calls.abort('a', String(id));
    expect(calls.signalOf('a', '0').aborted).toBe(false);
    expect(calls.signalOf('a', '4999').aborted).toBe(true);
  });
});

describe('what is announced', () => {
  const call = (asked: string, url = 'https://app.test/x') =>
    ({ kind: 'call', id: asked, url, method: 'GET', asked }) as const;

  test('is for the next request of that page, method and URL, in order, once', () => {
    const calls = createCalls(() => 0);
    calls.announce('a', call('1'));
    calls.announce('a', call('2'));
    calls.announce('a', call('3', 'https://app.test/y'));
    expect(calls.take('b', 'GET', 'https://app.test/x')).toBeUndefined();
    expect(calls.take('a', 'PUT', 'https://app.test/x')).toBeUndefined();
    expect([1, 2, 3].map(() => calls.take('a', 'GET', 'https://app.test/x'))).toEqual(['1', '2', undefined]);
    expect(calls.take('a', 'GET', 'https://app.test/y')).toBe('3');
  });

  test('and never came is forgotten', () => {
    const { now, pass } = clock();
    const calls = createCalls(now);
    calls.announce('a', call('1'));
    pass(10_000);
    expect(calls.take('a', 'GET', 'https://app.test/x')).toBeUndefined();
  });
});

test('what was announced and withdrawn is nobody’s', () => {
  const calls = createCalls(() => 0);
  calls.announce('a', { kind: 'call', id: '7', url: 'https://app.test/x', method: 'GET', asked: 'x' });
  calls.withdraw('b', '7');
  calls.withdraw('a', '7');
  expect(calls.take('a', 'GET', 'https://app.test/x')).toBeUndefined();
});

describe('how long a request may take', () => {
  test('is what a worker lives by itself, unless its page keeps it alive', () => {
    const { now, pass } = clock();
    const pulse = createPulse(now);
    expect(pulse.ceilingMs('a', 24_999)).toBe(240_000);
    expect(pulse.ceilingMs('a', 25_000)).toBe(50_000);
    pulse.beat('a');
    pass(25_000);
    expect([pulse.ceilingMs('a', 60_000), pulse.ceilingMs('b', 60_000)]).toEqual([240_000, 50_000]);
    pass(1);
    expect(pulse.ceilingMs('a', 60_000)).toBe(50_000);
  });

  test('a request of nobody is kept alive by nobody', () => {
    expect(createPulse(() => 0).ceilingMs('', 0)).toBe(50_000);
  });
});

describe('a sample of pages', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `page-${index}`);

  test.each([0, 0.01, 0.5, 0.9, 1])('%s of them, within a point', (share) => {
    const inside = ids.filter((id) => isSampled(id, share)).length / ids.length;
    expect(Math.abs(inside - share)).toBeLessThanOrEqual(share === 0 || share === 1 ? 0 : 0.015);
  });

  test('the same answer for the same page, and a larger share holds the smaller', () => {
    for (const id of ids.slice(0, 200)) {
      expect(isSampled(id, 0.3)).toBe(isSampled(id, 0.3));
      if (isSampled(id, 0.3)) expect(isSampled(id, 0.6)).toBe(true);
    }
  });
});
