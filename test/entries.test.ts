import { afterAll, beforeAll, expect, test } from 'vitest';

/** What a server that renders pages has not, or has but must not be asked. */
const OF_BROWSERS = ['window', 'document', 'location', 'self', 'caches', 'indexedDB', 'localStorage'];

beforeAll(() => {
  for (const name of OF_BROWSERS) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        throw new Error(`${name} was touched by an import`);
      },
    });
  }
});
afterAll(() => {
  for (const name of OF_BROWSERS) Reflect.deleteProperty(globalThis, name);
});

// Not the worker's: as source it has Workbox's warnings for developers, which look for `self`; as built it has not, and
// `npm run recipes` imports it.
const entries = import.meta.glob('../src/{page,fetch,policy,sim}/index.ts');

test('there are all of them', () => {
  expect(Object.keys(entries)).toHaveLength(4);
});
test.each(Object.entries(entries))('%s is imported where there is no browser', async (_, load) => {
  expect(Object.keys((await load()) as object).length).toBeGreaterThan(0);
});
