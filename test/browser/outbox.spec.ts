import type { Page } from '@playwright/test';
import { expect, header, stopWorker, test } from '../support/browser.ts';

const keyed = (key: string, body: string) => ({ method: 'POST', body, headers: { 'Idempotency-Key': key } });
const send = (page: Page, path: string, init: RequestInit) =>
  page.evaluate(({ path, init }) => window.sf.get(path, init), { path, init });
const list = (page: Page) => page.evaluate(() => window.sf.retries?.outbox.list() ?? []);

test('a keyed order that cannot be delivered is kept, and delivered once its server is there', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ reset: 'headers' }]);
  const seen = await send(page, `${wire.path}?box`, keyed('k1', 'two apples'));
  expect(seen).toMatchObject({ status: 202 });
  expect(JSON.parse('body' in seen ? seen.body : '')).toMatchObject({
    outbox: 'orders',
    state: 'waiting',
    method: 'POST',
  });
  site.replan(wire.id, [{ status: 201, body: 'taken' }]);
  await page.evaluate(() => window.sf.retries?.outbox.retry());
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', status: 201, answer: 'taken' }]);
  expect(wire.hits()).toHaveLength(1);
  expect(wire.hits()[0]?.body.toString()).toBe('two apples');
  expect(header(wire.hits()[0], 'Idempotency-Key')).toBe('k1');
});

test('offline orders are kept at once, and go in their order when the device is back', async ({
  site,
  open,
  context,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 200 }]);
  await context.setOffline(true);
  for (const body of ['1', '2', '3']) {
    // Without a key: nothing was sent.
    expect(await send(page, `${wire.path}?box`, { method: 'POST', body })).toMatchObject({ status: 202 });
  }
  expect(wire.hits()).toHaveLength(0);
  await stopWorker(page);
  await context.setOffline(false);
  await expect.poll(() => wire.hits().map(({ body }) => body.toString()), { timeout: 15_000 }).toEqual(['1', '2', '3']);
});

test('an order without a key whose answer is lost is the page’s to decide about', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ reset: 'headers' }]);
  expect(await send(page, `${wire.path}?box`, { method: 'POST', body: 'x' })).toMatchObject({
    error: 'TypeError: Failed to fetch',
  });
  expect(await list(page)).toEqual([]);
});
