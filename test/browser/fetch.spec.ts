import type { Page } from '@playwright/test';
import type { RetryRequestInit } from '../../src/fetch/index.ts';
import { expect, NETWORK_ERROR, test } from '../support/browser.ts';

/** Fetches with the page's own retries. */
const get = (page: Page, url: string, init: RetryRequestInit = {}, asRequest = false) =>
  page.evaluate(async ({ url, init, asRequest, module }) => (await import(module)).get(url, init, asRequest), {
    url,
    init,
    asRequest,
    module: '/fetching.ts',
  });

const SHORT: RetryRequestInit = { retry: { retryAfter: { maxMs: 1_000 } } };

async function visit(page: Page, url: string): Promise<Page> {
  await page.goto(url);
  await page.waitForFunction(() => 'sf' in window);
  return page;
}

test.describe('under a worker', () => {
  test('an endpoint that fails gets the attempts of one layer, and the worker tells of none', async ({
    site,
    open,
  }) => {
    const page = await open('impatient-of-holds');
    const wire = site.plan([{ status: 503, body: 'no' }]);
    const answer = await get(page, `${wire.path}#part`);
    expect(answer).toMatchObject({ status: 503, body: 'no', url: site.url + wire.path });
    expect(wire.hits()).toHaveLength(4);
    expect(wire.hits().every(({ url }) => url === wire.path)).toBe(true);
    expect(await page.evaluate(() => window.sf.told)).toEqual([]);
    // The worker itself is there and retries what the page does not.
    const plain = site.plan([{ status: 502 }, { body: 'fine' }]);
    expect(await page.evaluate((path) => window.sf.get(path), plain.path)).toMatchObject({ body: 'fine' });
  });

  for (const asRequest of [false, true]) {
    test(`so does one with a body, of ${asRequest ? 'a request' : 'a URL'}, whose bytes are the same`, async ({
      site,
      open,
    }) => {
      const page = await open('impatient-of-holds');
      const wire = site.plan([{ status: 503 }]);
      const init = { method: 'POST', body: 'grüße', headers: { 'Idempotency-Key': 'k' } };
      expect(await get(page, wire.path, init, asRequest)).toMatchObject({ status: 503 });
      expect(wire.hits().map(({ body }) => body.toString())).toEqual(['grüße', 'grüße', 'grüße', 'grüße']);
    });
  }

  test('a POST without a key goes out once', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    const wire = site.plan([{ status: 503 }]);
    expect(await get(page, wire.path, { method: 'POST', body: 'order' }, true)).toMatchObject({ status: 503 });
    expect(wire.hits()).toHaveLength(1);
  });

  test('without retries there are none of the worker either', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    const wire = site.plan([{ status: 503 }]);
    expect(await get(page, wire.path, { retry: false })).toMatchObject({ status: 503 });
    expect(wire.hits()).toHaveLength(1);
  });

  test('what the page learns of a hold, the worker obeys', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    const busy = site.plan([{ status: 503, retryAfter: 2 }]);
    expect(await get(page, busy.path, SHORT)).toMatchObject({ status: 503 });
    const saidAt = busy.hits()[0]?.at ?? 0;
    await page.waitForTimeout(100);
    const other = site.plan([{ body: 'other' }]);
    expect(await page.evaluate((path) => window.sf.get(path), other.path)).toMatchObject({ body: 'other' });
    expect(busy.hits()).toHaveLength(1);
    expect(other.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 2_000);
  });

  test('and what the worker learns, the page', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    await get(page, site.plan([{}]).path);
    const busy = site.plan([{ status: 503, retryAfter: 2 }]);
    expect(await page.evaluate((path) => window.sf.get(path), `${busy.path}?short`)).toMatchObject({ status: 503 });
    const saidAt = busy.hits()[0]?.at ?? 0;
    await page.waitForTimeout(100);
    const other = site.plan([{ body: 'other' }]);
    expect(await get(page, other.path)).toMatchObject({ body: 'other' });
    expect(other.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 2_000);
  });

  test('a web worker of the page, which cannot ask who sees its requests, adds none either', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    const wire = site.plan([{ status: 503 }]);
    const status = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const worker = new Worker('/fetching-worker.ts', { type: 'module' });
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(url);
        }),
      site.url + wire.path,
    );
    expect(status).toBe(503);
    expect(wire.hits()).toHaveLength(4);
  });

  test('an abort closes the connection', async ({ site, open }) => {
    const page = await open('impatient-of-holds');
    const wire = site.plan([{ stall: 'headers' }]);
    const abort = (path: string) =>
      page.evaluate(async ({ path, module }) => (await import(module)).abortAfter(300, path), {
        path,
        module: '/fetching.ts',
      });
    expect(await abort(wire.path)).toBe('Error: enough');
    await expect.poll(() => wire.hits()[0]?.closedAt, { timeout: 2_000 }).toBeDefined();
    expect(wire.hits()).toHaveLength(1);
  });
});

test.describe('without a worker', () => {
  test('a first visit is retried', async ({ site, page }) => {
    await visit(page, site.url);
    const wire = site.plan([{ status: 503 }, { reset: 'headers' }, { body: 'fine' }]);
    expect(await get(page, wire.path)).toMatchObject({ status: 200, body: 'fine', url: site.url + wire.path });
    expect(wire.hits()).toHaveLength(3);
    const lost = site.plan([{ reset: 'headers' }]);
    const { error } = (await get(page, lost.path)) as { error: string };
    expect(error.split(' after ')).toEqual([NETWORK_ERROR, '4 attempts']);
  });

  test('a hold outlives the page and holds the next one', async ({ site, page }) => {
    await visit(page, site.url);
    const busy = site.plan([{ status: 503, retryAfter: 4 }]);
    await get(page, busy.path, SHORT);
    const saidAt = busy.hits()[0]?.at ?? 0;
    await page.waitForTimeout(1_000);
    await visit(page, site.url);
    // The first requests of a page wait 20 ms for what is stored, and a busy machine may take longer.
    const known = () => page.evaluate(async (module) => (await import(module)).status().origins.length, '/fetching.ts');
    await expect.poll(known).toBe(1);
    const other = site.plan([{ body: 'other' }]);
    expect(await get(page, other.path)).toMatchObject({ body: 'other' });
    expect(other.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 4_000);
  });
});
