import type { BrowserContext, Page } from '@playwright/test';
import { expect, NETWORK_ERROR, test } from '../support/browser.ts';
import { bodies, eventsOf, goOffline, goOnline, keepOffline, keyed, list, post, sendNow } from '../support/outbox.ts';

// A database that cannot be had: nothing claims to be kept.

/** The page got the network's own error, and every page was told. */
async function expectNotStored(page: Page): Promise<void> {
  await expect
    .poll(() => eventsOf(page, 'queue-failed'))
    .toMatchObject([{ type: 'queue-failed', reason: 'not-stored', id: '', sends: 0 }]);
}
const REAL_ERROR = { error: NETWORK_ERROR };

test('B112 a full disk: the page gets the true error, and smaller entries are kept', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=full');
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  expect(await post(page, `${wire.path}?box`, keyed('big', 'x'.repeat(101)))).toEqual(REAL_ERROR);
  await expectNotStored(page);
  expect(await list(page)).toEqual([]);
  await keepOffline(page, `${wire.path}?box`, ['small']);
  expect(await list(page)).toMatchObject([{ state: 'waiting', bytes: 5 }]);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['small']);
});

test('B112 the browser’s own quota is used up: the same', async ({ site, open, context }) => {
  const first = await context.newPage();
  await first.goto(`${site.url}/page.ts`);
  // Chromium remembers for a while how much room there was when a database was last written.
  const cdp = await context.newCDPSession(first);
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: 2_000_000 });
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['first']);
  expect(await post(page, `${wire.path}?box`, keyed('big', 'x'.repeat(4_000_000)))).toEqual(REAL_ERROR);
  await expectNotStored(page);
  expect(await list(page)).toMatchObject([{ bytes: 5 }]);
  await keepOffline(page, `${wire.path}?box`, ['later']);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['first', 'later']);
});

test('B112 S17 limits of the outbox itself: the same', async ({ site, open }) => {
  const page = await open('outbox.sw.js?maxEntries=2&maxBytes=100');
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  expect(await post(page, `${wire.path}?box`, keyed('big', 'x'.repeat(101)))).toEqual(REAL_ERROR);
  await keepOffline(page, `${wire.path}?box`, ['a', 'b']);
  expect(await post(page, `${wire.path}?box`, keyed('third', 'c'))).toEqual(REAL_ERROR);
  await expect.poll(async () => (await eventsOf(page, 'queue-failed')).length).toBe(2);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['a', 'b']);
  await expect.poll(async () => (await list(page)).every(({ state }) => state === 'sent')).toBe(true);
  await keepOffline(page, `${wire.path}?box`, ['c']);
});

test('B110 no database at all: a GET is retried, and an offline POST gets the network’s error', async ({
  site,
  open,
}) => {
  const page = await open('outbox.sw.js?fault=open-rejects');
  const read = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), read.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(read.hits()).toHaveLength(2);
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  expect(await post(page, `${wire.path}?box`, keyed('k', 'x'))).toEqual(REAL_ERROR);
  await expectNotStored(page);
  expect(await list(page)).toEqual([]);
  // What can be sent is.
  await goOnline(page);
  expect(await post(page, `${wire.path}?box`, keyed('k', 'y'))).toMatchObject({ status: 201 });
  // A server's own answer is passed on as it is.
  site.replan(wire.id, [{ status: 503, body: 'down' }]);
  expect(await post(page, `${wire.path}?box`, keyed('k', 'z'))).toMatchObject({ status: 503, body: 'down' });
});

/** Another tab that does not let go of the database, while something wants it for itself. */
async function blocker(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(async () => {
    for (;;) {
      const held = await new Promise<IDBDatabase>((resolve) => {
        const opening = indexedDB.open('steadfetch-outbox');
        opening.onsuccess = () => resolve(opening.result);
      });
      held.onversionchange = () => {};
      const waiting = indexedDB.open('steadfetch-outbox', 2);
      // Nobody's version but ours: given up as soon as it comes.
      waiting.onupgradeneeded = () => waiting.transaction?.abort();
      const isBlocked = await new Promise<boolean>((resolve) => {
        waiting.onblocked = () => resolve(true);
        setTimeout(() => resolve(false), 1_000);
      });
      if (isBlocked) return void Object.assign(window, { held });
      // Firefox does not tell it if the worker closes its connection after this page has kept its own. Next time the worker has none.
      held.close();
      await new Promise((resolve) => {
        waiting.onerror = resolve;
      });
    }
  });
  return page;
}

test('B115 a database that is blocked: the page is told that nothing was kept, and nothing is, also not later', async ({
  site,
  open,
  context,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['before']);
  const other = await blocker(context, `${site.url}/page.ts`);
  const askedAt = Date.now();
  expect(await post(page, `${wire.path}?box`, keyed('k', 'blocked'))).toEqual(REAL_ERROR);
  expect(Date.now() - askedAt).toBeLessThan(10_000);
  await expectNotStored(page);
  await other.close();
  await keepOffline(page, `${wire.path}?box`, ['after']);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['before', 'after']);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent' }, { state: 'sent' }]);
});

test('B107 a database that is deleted while it is used: entries go, the outbox does not', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['before']);
  await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const deleting = indexedDB.deleteDatabase('steadfetch-outbox');
        deleting.onsuccess = resolve;
        deleting.onerror = reject;
      }),
  );
  expect(await list(page)).toEqual([]);
  await keepOffline(page, `${wire.path}?box`, ['after']);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['after']);
  await sendNow(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent' }]);
  expect(await page.evaluate(() => window.sf.retries?.outbox.depth())).toBe(0);
});
