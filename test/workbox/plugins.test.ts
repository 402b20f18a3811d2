import { expect, test, vi } from 'vitest';
import { throughPlugins } from '../../src/workbox/plugins.ts';
import type { Callbacks, Handler } from '../../src/workbox/strategy.ts';

/** One request with a strategy's plugins; `send` is the network. */
function plugged(callbacks: Partial<Callbacks>) {
  const handler = {
    event: {},
    hasCallback: (name: keyof Callbacks) => callbacks[name] !== undefined,
    iterateCallbacks: (name: keyof Callbacks) => [callbacks[name]].filter((one) => one !== undefined),
  } as unknown as Handler;
  const request = new Request('https://app.test/', { method: 'POST', body: 'x' });
  return { request, ...throughPlugins({} as never, handler, request) };
}

test('a plugin that only hears of success may change the answer', async () => {
  const { request, through, told } = plugged({ fetchDidSucceed: async () => new Response('changed') });
  const answer = await told(() => through(async () => new Response('plain'))(request));
  expect(await answer.text()).toBe('changed');
});

test('what the browser had asked for by itself has gone past them', async () => {
  const fetchDidSucceed = vi.fn();
  const { told } = plugged({ fetchDidSucceed });
  expect(await (await told(async () => new Response('preloaded'))).text()).toBe('preloaded');
  expect(fetchDidSucceed).not.toHaveBeenCalled();
});
