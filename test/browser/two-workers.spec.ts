import type { BrowserContext, Page } from '@playwright/test';
import { control, expect, type Site, test } from '../support/browser.ts';

/** A page under a worker of its own: another scope of the same origin. */
async function openUnder(scope: string, worker: string, context: BrowserContext, site: Site): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.url + scope);
  await control(page, site, `${worker}.sw.js`, scope);
  return page;
}

test('B083 two workers of one origin spend one budget, to the token', async ({ site, context }) => {
  test.setTimeout(60_000);
  const pages = [
    await openUnder('/a/', 'shared-budget', context, site),
    await openUnder('/b/', 'shared-budget', context, site),
  ];
  const wire = site.plan([{ status: 503 }]);
  await Promise.all(
    pages.map((page) =>
      page.evaluate(
        (path) => Promise.all(Array.from({ length: 100 }, (_, index) => window.sf.get(`${path}?${index}`))),
        wire.path,
      ),
    ),
  );
  const retries = wire.hits().length - 200;
  expect(retries).toBe(200);
  // The last writes may lag behind by a second.
  await pages[0]?.waitForTimeout(1_500);
  const stored = await pages[0]?.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open('steadfetch');
        opening.onsuccess = () => {
          const all = opening.result.transaction('origins').objectStore('origins').getAll();
          all.onsuccess = () => resolve(all.result[0].budget.tokens);
        };
      }),
  );
  expect(stored).toBe(300 - retries);
  for (const page of pages) {
    const status = await page.evaluate(() => window.sf.retries?.status());
    const tokens = status?.origins[0]?.tokens ?? Number.NaN;
    expect(Math.abs(tokens - (300 - retries))).toBeLessThanOrEqual(5);
  }
});

test('a hold that one worker was told is obeyed by the other within 100 ms', async ({ site, context }) => {
  const told = await openUnder('/a/', 'impatient-of-holds', context, site);
  const other = await openUnder('/b/', 'impatient-of-holds', context, site);
  const busy = site.plan([{ status: 503, retryAfter: 2 }]);
  const fine = site.plan([{ body: 'fine' }]);
  // Both workers are awake: the news is heard as it comes, not read at a start.
  await other.evaluate((path) => window.sf.get(path), fine.path);
  await told.evaluate((path) => window.sf.get(path), `${busy.path}?short`);
  const saidAt = busy.hits()[0]?.at ?? 0;
  await other.waitForTimeout(100);
  const held = site.plan([{ body: 'held' }]);
  expect(await other.evaluate((path) => window.sf.get(path), held.path)).toMatchObject({ body: 'held' });
  expect(held.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 2_000);
});

/** What other versions have stored: one that knew less, and one that knows more. */
const OTHERS = {
  older: { budget: {} },
  newer: { budget: { kind: 'tokens', debt: 3 }, hold: { until: 0, paths: {}, why: 'x' }, hedges: [1, 2], schema: 9 },
};
for (const [version, fields] of Object.entries(OTHERS)) {
  test(`a record of a version that is ${version} is obeyed, and can be read by it again`, async ({ site, context }) => {
    const page = await context.newPage();
    await page.goto(site.url);
    await page.waitForFunction(() => 'sf' in window);
    await page.evaluate(
      ({ fields, origin }) =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open('steadfetch', 1);
          opening.onupgradeneeded = () => opening.result.createObjectStore('origins');
          opening.onsuccess = () => {
            const record = {
              origin,
              group: 'data',
              ...fields,
              budget: { ...fields.budget, tokens: 1, at: Date.now() },
            };
            const writing = opening.result.transaction('origins', 'readwrite');
            writing.objectStore('origins').put(record, `${origin} data`);
            writing.oncomplete = () => {
              opening.result.close();
              resolve();
            };
            writing.onerror = () => reject(writing.error);
          };
        }),
      { fields, origin: site.url },
    );
    await control(page, site, 'budget.sw.js');
    const wire = site.plan([{ status: 503 }]);
    expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 503 });
    // One token, one retry: three are what a record that is not understood would have had.
    expect(wire.hits()).toHaveLength(2);
    await page.waitForTimeout(1_000);
    const stored = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const opening = indexedDB.open('steadfetch');
          opening.onsuccess = () => {
            const all = opening.result.transaction('origins').objectStore('origins').getAll();
            all.onsuccess = () => resolve(all.result);
          };
        }),
    );
    const number = expect.any(Number);
    // What else the worker keeps is no record.
    expect((stored as object[]).filter((value) => 'origin' in value)).toEqual([
      expect.objectContaining({ origin: site.url, group: 'data', budget: { tokens: number, at: number } }),
    ]);
  });
}
