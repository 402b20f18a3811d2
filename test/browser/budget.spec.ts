import type { Page } from '@playwright/test';
import { expect, stopWorker, test } from '../support/browser.ts';

/** Runs into the end of the three tokens. */
async function exhaust(page: Page, path: string): Promise<void> {
  expect(await page.evaluate((url) => window.sf.get(url), path)).toMatchObject({ status: 503 });
  // Firefox brings what every page is told after what one of them is told later.
  await expect
    .poll(() => page.evaluate(() => window.sf.events.slice(-2).sort((a, b) => a.type.localeCompare(b.type))))
    .toMatchObject([{ type: 'budget-exhausted' }, { type: 'gave-up', reason: 'budget', attempts: 4 }]);
}

const tokens = (page: Page) =>
  page.evaluate(async () => {
    const status = await window.sf.retries?.status();
    return status?.origins.find(({ group }) => group === 'data')?.tokens;
  });

test('row 53, B073 and B074: an empty budget ends retries, is told once, and survives the worker and the page', async ({
  site,
  open,
}) => {
  const page = await open('budget');
  const busy = site.plan([{ status: 503 }]);
  await exhaust(page, busy.path);
  expect(busy.hits()).toHaveLength(4);
  const fullUntil = busy.hits()[0]?.at ?? 0;
  await expect
    .poll(() => page.evaluate(() => window.sf.events.filter(({ type }) => type === 'budget-exhausted')))
    .toMatchObject([{ origin: site.url, group: 'data' }]);
  expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ storage: 'indexeddb' });

  // Writes may lag behind by a second.
  await page.waitForTimeout(1_000);
  await stopWorker(page);
  await page.reload();
  await page.waitForFunction(() => 'sf' in window);
  await page.evaluate(() => window.sf.connect('/budget.sw.js'));
  const left = await tokens(page);
  // Elapsed time is all that gave anything back.
  expect(left).toBeLessThanOrEqual(((Date.now() - fullUntil) * 0.5) / 1_000);
  expect(left).toBeLessThan(3);

  const later = site.plan([{ status: 503 }]);
  await expect.poll(() => tokens(page)).toBeGreaterThanOrEqual(1);
  await page.evaluate((url) => window.sf.get(url), later.path);
  expect(later.hits().length).toBeGreaterThanOrEqual(2);
  expect(later.hits().length).toBeLessThanOrEqual(3);
});

test('row 53: two tabs share one budget', async ({ site, open }) => {
  const first = await open('budget');
  const second = await open('budget');
  await exhaust(first, site.plan([{ status: 503 }]).path);
  const other = site.plan([{ status: 503 }]);
  expect(await second.evaluate((url) => window.sf.get(url), other.path)).toMatchObject({ status: 503 });
  expect(other.hits()).toHaveLength(1);
  // An origin's news is for every tab, a request's only for the tab that asked.
  await expect
    .poll(() => second.evaluate(() => window.sf.events.map(({ type }) => type).sort()))
    .toEqual(['budget-exhausted', 'gave-up']);
});

test('groups do not share: a failing API leaves the retries of images alone', async ({ site, open }) => {
  const page = await open('budget');
  await exhaust(page, site.plan([{ status: 503 }]).path);
  const image = site.plan([
    { status: 503 },
    { status: 503 },
    { headers: { 'content-type': 'image/svg+xml' }, body: SVG },
  ]);
  const loaded = await page.evaluate(
    (src) =>
      new Promise((resolve) => {
        const img = new Image();
        img.onload = () => resolve(true);
        img.onerror = () => resolve(false);
        img.src = src;
      }),
    image.path,
  );
  expect(loaded).toBe(true);
  expect(image.hits()).toHaveLength(3);
});

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

test('a retry that succeeds costs nothing', async ({ site, open }) => {
  const page = await open('budget');
  for (let round = 0; round < 5; round++) {
    const wire = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
    // The first of the two retries fails and is paid for by time; without the refund the second round would end early.
    expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200 });
    await page.waitForTimeout(2_000);
  }
});

for (const [id, fault] of [
  ['B110', 'missing'],
  ['B110', 'throws'],
  ['B110', 'hangs'],
  ['B110', 'transactions throw'],
  ['B112', 'full'],
] as const) {
  test(`${id} database ${fault}: fetches are retried all the same`, async ({ site, open }) => {
    const page = await open(`storage.sw.js?fault=${encodeURIComponent(fault)}`);
    for (let round = 0; round < 2; round++) {
      const wire = site.plan([{ status: 503 }, { reset: 'headers' }, { body: 'fine' }]);
      const startedAt = Date.now();
      expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200, body: 'fine' });
      expect(Date.now() - startedAt).toBeLessThan(1_500);
    }
    await expect
      .poll(() => page.evaluate(async () => (await window.sf.retries?.status())?.storage), { timeout: 5_000 })
      .toBe('memory');
  });
}

test('B107 database deleted under the worker: the deletion is not blocked, and the budget is stored anew', async ({
  site,
  open,
}) => {
  const page = await open('budget');
  await page.evaluate((url) => window.sf.get(url), site.plan([{ status: 503 }]).path);
  const deleted = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.deleteDatabase('steadfetch');
        request.onsuccess = () => resolve('deleted');
        request.onblocked = () => resolve('blocked');
        request.onerror = () => resolve('failed');
      }),
  );
  expect(deleted).toBe('deleted');
  await page.waitForTimeout(2_100);
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200 });
  await expect
    .poll(() => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
    .toContain('steadfetch');
  expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ storage: 'indexeddb' });
});

test('a database of a later version is left alone', async ({ site, open, page }) => {
  await page.goto(site.url);
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('steadfetch', 99);
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
        request.onerror = () => reject(request.error);
      }),
  );
  const tab = await open('quick');
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await tab.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(await tab.evaluate(() => window.sf.retries?.status())).toMatchObject({ storage: 'memory' });
});
