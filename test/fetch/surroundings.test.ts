import { afterEach, expect, test, vi } from 'vitest';
import { NOWHERE, platformSurroundings } from '../../src/fetch/surroundings.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('in Node there are no origins, no store, no worker and no events', () => {
  const { ownOrigin, store, isControlled, onOnline } = platformSurroundings();
  expect([ownOrigin, store, isControlled()]).toEqual([undefined, undefined, false]);
  expect(() => onOnline(() => {})).not.toThrow();
});

test('a page has them all', () => {
  const addEventListener = vi.fn();
  const serviceWorker: { controller: object | null } = { controller: null };
  vi.stubGlobal('location', new URL('https://app.test/page'));
  vi.stubGlobal('indexedDB', {});
  vi.stubGlobal('navigator', { serviceWorker });
  vi.stubGlobal('addEventListener', addEventListener);
  const { ownOrigin, store, isControlled, onOnline } = platformSurroundings();
  expect([ownOrigin, typeof store?.load]).toEqual(['https://app.test', 'function']);
  expect(isControlled()).toBe(false);
  serviceWorker.controller = {};
  expect(isControlled()).toBe(true);
  const listener = () => {};
  onOnline(listener);
  expect(addEventListener).toHaveBeenCalledWith('online', listener);
});

test('a web worker that cannot ask may be controlled', () => {
  vi.stubGlobal('importScripts', () => {});
  vi.stubGlobal('navigator', {});
  expect(platformSurroundings().isControlled()).toBe(true);
});

test('what is kept nowhere is found nowhere', async () => {
  expect(await NOWHERE.load()).toEqual([]);
  expect((await NOWHERE.update(new Map())).size).toBe(0);
  await NOWHERE.destroy();
});
