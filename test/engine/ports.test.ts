import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { platformPorts } from '../../src/engine/ports.ts';

describe('the platform', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('a fetch without init is one with a single argument', async () => {
    const fetch = vi.fn(async (..._args: unknown[]) => new Response());
    vi.stubGlobal('fetch', fetch);
    const request = new Request('https://app.test/');
    await platformPorts.fetch(request);
    await platformPorts.fetch(request, { cache: 'reload' });
    expect(fetch.mock.calls).toEqual([[request], [request, { cache: 'reload' }]]);
    expect(fetch.mock.calls[0]).toHaveLength(1);
  });

  test('a sleep never ends early', async () => {
    let over = false;
    void platformPorts.sleep(10.2).done.then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(10);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
  });

  test('a sleep that is cancelled leaves no timer', () => {
    const { cancel } = platformPorts.sleep(1_000);
    expect(vi.getTimerCount()).toBe(1);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    cancel();
  });

  test('a device is offline only if it says so', () => {
    for (const [navigator, online] of [
      [{ onLine: false }, false],
      [{ onLine: true }, true],
      [{}, true],
      [undefined, true],
    ] as const) {
      vi.stubGlobal('navigator', navigator);
      expect(platformPorts.isOnline()).toBe(online);
    }
  });

  test('the clock is the wall’s, and chance is in [0, 1)', () => {
    vi.setSystemTime(1_234);
    expect(platformPorts.now()).toBe(1_234);
    vi.spyOn(Math, 'random').mockReturnValueOnce(0.25);
    expect(platformPorts.random()).toBe(0.25);
  });
});
