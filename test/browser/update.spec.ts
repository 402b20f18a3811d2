import type { Page } from '@playwright/test';
import { expect, needs, type Site, test, type Wire } from '../support/browser.ts';

const controller = (page: Page) => page.evaluate(() => navigator.serviceWorker.controller?.scriptURL.split('/').at(-1));

/** Requests of each kind that can be under way, all of which will be answered well; resolves when all of them wait. */
async function underWay(page: Page, site: Site) {
  const wires: readonly Wire[] = [
    site.plan([{ status: 503 }, { body: 'after a wait' }]),
    site.plan([{ reset: 'headers' }, { body: 'after a reset' }]),
    site.plan([{ delayMs: 1_500, body: 'after a while' }]),
    site.plan([{ status: 503 }, { status: 503 }, { body: 'after two waits' }]),
  ];
  const answers = wires.map(({ path }) => page.evaluate((url) => window.sf.get(url), path));
  await expect.poll(() => wires.map((wire) => wire.hits().length)).toEqual([1, 1, 1, 1]);
  return {
    answers: Promise.all(answers),
    hits: () => wires.map((wire) => wire.hits().length),
  };
}
const ANSWERS = ['after a wait', 'after a reset', 'after a while', 'after two waits'].map((body) => ({
  status: 200,
  body,
}));
const HITS = [2, 2, 1, 3];

/** Another tab of the same site, which loads the site's new version. */
async function visit(page: Page, site: Site, worker: string): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(site.url);
  await other.waitForFunction(() => 'sf' in window);
  await other.evaluate((url) => window.sf.connect(url), worker);
  return other;
}

test('while a new version waits, what the old one has under way is answered, and it goes on', async ({
  site,
  open,
}) => {
  const page = await open('update.sw.js?1');
  const requests = await underWay(page, site);
  const other = await visit(page, site, '/update.sw.js?2');
  expect(await other.evaluate(() => window.sf.retries?.state)).toBe('waiting');
  expect(await requests.answers).toMatchObject(ANSWERS);
  expect(requests.hits()).toEqual(HITS);
  expect(await controller(page)).toBe('update.sw.js?1');
});

test('a new version that skips waiting loses nothing of the old one, and takes over', async ({ site, open }) => {
  const page = await open('update.sw.js?1');
  const requests = await underWay(page, site);
  await visit(page, site, '/update.sw.js?2-skip');
  expect(await requests.answers).toMatchObject(ANSWERS);
  expect(requests.hits()).toEqual(HITS);
  await expect.poll(() => controller(page)).toBe('update.sw.js?2-skip');
  // The page has a line to the new one: it retries, and is heard.
  const wire = site.plan([{ status: 503 }, { body: 'by the new one' }]);
  await page.evaluate(() => window.sf.events.splice(0));
  expect(await page.evaluate((url) => window.sf.ask(url), wire.path)).toMatchObject({ body: 'by the new one' });
  await expect.poll(() => page.evaluate(() => window.sf.told.length)).toBeGreaterThan(0);
});

test('what the old version has been told the new one knows', async ({ site, open }) => {
  const page = await open('update.sw.js?1');
  const busy = site.plan([{ status: 503, retryAfter: 4 }, { body: 'in time' }]);
  const answer = page.evaluate((url) => window.sf.get(url), busy.path);
  await expect.poll(() => busy.hits().length).toBe(1);
  const saidAt = busy.hits()[0]?.at ?? 0;
  const other = await page.context().newPage();
  await other.goto(site.url);
  await other.waitForFunction(() => 'sf' in window);
  // Another scope, so that it works at once beside the old one.
  await other.evaluate(() => window.sf.connect('/update.sw.js?2', { scope: '/next/' }));
  await other.goto(`${site.url}/next/`);
  await other.waitForFunction(() => 'sf' in window);
  const wire = site.plan([{ body: 'held' }]);
  expect(await other.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ body: 'held' });
  expect(wire.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 4_000);
  expect(await answer).toMatchObject({ body: 'in time' });
});

/** Pushes a message to the worker of a scope, as a push service would. */
async function push(page: Page, site: Site, scope: string, data: string): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  const found = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const ours = registrations.find(({ scopeURL }) => scopeURL === site.url + scope);
      if (ours) resolve(ours.registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  await cdp.send('ServiceWorker.deliverPushMessage', { origin: site.url, registrationId: await found, data });
  await cdp.detach();
}

for (const [where, scope] of [
  ['in the same worker', '/'],
  ['in a worker of its own beside it', '/push/'],
] as const) {
  test(`push messages ${where}: they come, and requests are retried meanwhile`, async ({ site, open, context }) => {
    needs(context, 'push');
    const page = await open(scope === '/' ? 'push' : 'update.sw.js?1');
    await page.evaluate(async (scope) => {
      Object.assign(window, { pushed: [] });
      navigator.serviceWorker.addEventListener('message', ({ data }) => {
        if (data.pushed) (window as unknown as { pushed: string[] }).pushed.push(data.pushed);
      });
      if (scope !== '/') await navigator.serviceWorker.register('/push.sw.js?beside', { scope });
    }, scope);
    const requests = await underWay(page, site);
    await push(page, site, scope, 'news');
    await expect.poll(() => page.evaluate(() => (window as unknown as { pushed: string[] }).pushed)).toEqual(['news']);
    expect(await requests.answers).toMatchObject(ANSWERS);
    expect(requests.hits()).toEqual(HITS);
  });
}

test('what waits while the worker is retired is answered, and a version that waits goes with it', async ({
  site,
  open,
}) => {
  const page = await open('update.sw.js?1');
  const other = await visit(page, site, '/update.sw.js?2');
  const requests = await underWay(page, site);
  expect(await page.evaluate(() => window.sf.retries?.retire())).toBe(true);
  expect(await requests.answers).toMatchObject(ANSWERS);
  expect(requests.hits()).toEqual(HITS);
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
  // Only pages of it keep a retired worker: with them goes what waited to follow it.
  await other.close();
  await page.reload();
  expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
  const after = site.plan([{ status: 503 }]);
  await page.waitForFunction(() => 'sf' in window);
  expect(await page.evaluate((url) => window.sf.get(url), after.path)).toMatchObject({ status: 503 });
  expect(after.hits()).toHaveLength(1);
});
