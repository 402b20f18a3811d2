import { expect, expectShown, expectStatus, LOAD_FAILED, NETWORK_ERROR, stopWorker, test } from '../support/browser.ts';

const OFFLINE = {
  headers: { 'content-type': 'text/html' },
  body:
    '<!doctype html><script>addEventListener("online", () => location.reload())</script>' +
    '<p id="offline">You are offline.</p>',
};
const HTML = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p id="shown">shown</p>' };

test('row 56: offline, a document is replaced by the offline page at once, and it goes away when the device is back', async ({
  site,
  open,
  context,
}) => {
  const page = await open(`offline-page.sw.js?page=${site.plan([OFFLINE]).path}`);
  const wire = site.plan([HTML]);
  await context.setOffline(true);
  await stopWorker(page);
  const startedAt = Date.now();
  const response = await page.goto(site.url + wire.path);
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  expectStatus(page, response, 503);
  expect(response?.headers()).toMatchObject({ 'cache-control': 'no-store' });
  await expectShown(page, '#offline');
  expect(page.url()).toBe(site.url + wire.path);
  expect(wire.hits()).toHaveLength(0);
  await context.setOffline(false);
  await expectShown(page, '#shown');
  expect(wire.hits()).toHaveLength(1);
});

test('a server that answers is shown as it answers; one that does not, after all attempts, is replaced', async ({
  site,
  open,
}) => {
  const page = await open(`offline-page.sw.js?page=${site.plan([OFFLINE]).path}`);
  const busy = site.plan([{ ...HTML, status: 503 }]);
  expectStatus(page, await page.goto(site.url + busy.path), 503);
  await expectShown(page, '#shown');
  const gone = site.plan([{ reset: 'headers' }]);
  expectStatus(page, await page.goto(site.url + gone.path), 503);
  await expectShown(page, '#offline');
  expect(gone.hits().length).toBeGreaterThan(1);
});

test('nothing but a document that is read is replaced', async ({ site, open, context }) => {
  const page = await open(`offline-page.sw.js?page=${site.plan([OFFLINE]).path}`);
  const wire = site.plan([{ reset: 'headers' }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toMatchObject({ error: NETWORK_ERROR });
  await context.setOffline(true);
  await page.setContent(`<form method="post" action="${site.url}${wire.path}"><button>send</button></form>`);
  await page.locator('button').click();
  await expect(page.locator('#offline')).toHaveCount(0);
  await page.waitForURL('chrome-error://**');
});

test('a page that cannot be had is no reason not to install the worker', async ({ site, open }) => {
  const missing = site.plan([{ status: 404 }]);
  const page = await open(`offline-page.sw.js?page=${missing.path}`);
  const gone = site.plan([{ reset: 'headers' }]);
  await expect(page.goto(site.url + gone.path)).rejects.toThrow(LOAD_FAILED);
});
