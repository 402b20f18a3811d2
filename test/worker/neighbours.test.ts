import { expect, test } from 'vitest';
import { watchNeighbours } from '../../src/worker/neighbours.ts';

const scopeOf = () => Object.assign(new EventTarget(), { onfetch: null }) as unknown as ServiceWorkerGlobalScope;

test('a fetch listener that is added while the script runs is seen, and works', async () => {
  const scope = scopeOf();
  const isShared = watchNeighbours(scope);
  expect(isShared()).toBe(false);
  let heard = 0;
  scope.addEventListener('message', () => {});
  expect(isShared()).toBe(false);
  scope.addEventListener('fetch', () => {
    heard += 1;
  });
  expect(isShared()).toBe(true);
  scope.dispatchEvent(new Event('fetch'));
  expect(heard).toBe(1);
});

test('so is `onfetch`, and nothing is left behind once the script has run', async () => {
  const scope = scopeOf();
  const own = scope.addEventListener;
  const isShared = watchNeighbours(scope);
  await Promise.resolve();
  expect(scope.addEventListener).toBe(own);
  expect(isShared()).toBe(false);
  scope.onfetch = () => {};
  expect(isShared()).toBe(true);
});
