import type { BrowserContext, Page } from '@playwright/test';
import { can, expect, header, type Site, stopWorker, test, underPolicy } from '../support/browser.ts';

const SVG = {
  headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
  body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
};

/** What the worker itself warns of; the browser says more. */
function listenToWarnings(context: BrowserContext): string[] | undefined {
  if (!can(context, 'worker-console')) return undefined;
  const warnings: string[] = [];
  context.on('console', (message) => {
    if (message.text().includes('blocked-by-csp')) warnings.push(message.text());
  });
  return warnings;
}

const image = (page: Page, url: string): Promise<string> =>
  page.evaluate(
    (src) =>
      new Promise<string>((resolve) => {
        Object.assign(new Image(), { onload: () => resolve('shown'), onerror: () => resolve('broken'), src });
      }),
    url,
  );

const get = (page: Page, url: string, init?: RequestInit) =>
  page.evaluate(([url, init]) => window.sf.get(url, init), [url, init] as const);

const elsewhere = (site: Site, path: string): string => site.secondOrigin + path;

test.describe("a worker script with connect-src 'self'", () => {
  for (const hidden of [false, true]) {
    const known = hidden ? 'a policy that could not be read' : 'a policy that was read';

    test(`${known}: other origins work as without a worker, from the first request`, async ({
      context,
      site,
      open,
    }) => {
      const warnings = listenToWarnings(context);
      const page = await open(underPolicy("connect-src 'self'", { hidden }));
      const wire = site.plan([SVG]);
      expect(await image(page, elsewhere(site, `${wire.path}/image`))).toBe('shown');
      expect(await get(page, elsewhere(site, `${wire.path}/fetch`))).toMatchObject({ status: 200, body: SVG.body });
      expect(await get(page, elsewhere(site, `${wire.path}/put`), { method: 'PUT', body: 'x' })).toMatchObject({
        status: 200,
      });
      // The browser itself asked for all of them: what came through a worker has no destination any more.
      expect(wire.hits().map((hit) => [hit.method, header(hit, 'sec-fetch-dest')])).toEqual([
        ['GET', 'image'],
        ['GET', 'empty'],
        ['PUT', 'empty'],
      ]);
      // It is the browser's failure, too.
      const failing = site.plan([{ status: 503 }]);
      expect(await get(page, elsewhere(site, failing.path))).toMatchObject({ status: 503 });
      expect(failing.hits()).toHaveLength(1);
      expect(await page.evaluate(() => window.sf.events)).toEqual([]);
      expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ origins: [] });
      if (warnings) {
        await expect.poll(() => warnings).toHaveLength(1);
        expect(warnings[0]).toContain(site.secondOrigin);
        expect(warnings[0]).toContain('connect-src');
      }
    });

    test(`${known}: the first of them may have a body and cookies`, async ({ site, open }) => {
      const page = await open(underPolicy("connect-src 'self'", { hidden }));
      const wire = site.plan([{ body: 'taken' }]);
      const init: RequestInit = { method: 'PUT', body: 'grüße', credentials: 'include' };
      expect(await get(page, elsewhere(site, wire.path), init)).toMatchObject({ status: 200, body: 'taken' });
      expect(wire.hits().map(({ method, body }) => [method, body.toString()])).toEqual([['PUT', 'grüße']]);
    });

    test(`${known}: it is known when the worker is started again`, async ({ site, open }) => {
      const page = await open(underPolicy("connect-src 'self'", { hidden }));
      const wire = site.plan([SVG]);
      expect(await image(page, elsewhere(site, `${wire.path}/first`))).toBe('shown');
      await page.waitForTimeout(500);
      for (let round = 0; round < 5; round += 1) {
        await stopWorker(page);
        // The very first thing that the new one hears of.
        const answers = await page.evaluate(
          (url) => Promise.all([window.sf.get(`${url}/a`), window.sf.get(`${url}/b`, { redirect: 'error' })]),
          elsewhere(site, wire.path),
        );
        expect(answers).toMatchObject([{ status: 200 }, { status: 200 }]);
        expect(await image(page, elsewhere(site, `${wire.path}/${round}`))).toBe('shown');
      }
      expect(wire.hits()).toHaveLength(1 + 5 * 3);
    });

    test(`${known}: requests of its own origin are retried`, async ({ site, open }) => {
      const page = await open(underPolicy("connect-src 'self'", { hidden }));
      const flaky = site.plan([{ status: 503 }, { body: 'fine' }]);
      expect(await get(page, flaky.path)).toMatchObject({ status: 200, body: 'fine' });
      expect(await get(page, elsewhere(site, site.plan([SVG]).path))).toMatchObject({ status: 200 });
      await stopWorker(page);
      const later = site.plan([{ reset: 'headers' }, { body: 'fine' }]);
      expect(await get(page, later.path)).toMatchObject({ status: 200, body: 'fine' });
      expect(later.hits()).toHaveLength(2);
    });

    test(`${known}: a redirect to another origin costs that URL its retries, not the origin`, async ({
      site,
      open,
      engine,
    }) => {
      const page = await open(underPolicy("connect-src 'self'", { hidden }));
      const target = site.plan([SVG]);
      const away = site.plan([{ redirect: elsewhere(site, target.path), headers: { 'cache-control': 'no-store' } }]);
      expect(await image(page, away.path)).toBe('shown');
      expect(await image(page, `${away.path}?again`)).toBe('shown');
      // The worker found out with the first, which the browser then asked for again. WebKit lets a worker follow it.
      expect([away.hits().length, target.hits().length]).toEqual([engine === 'webkit' ? 2 : 3, 2]);
      const flaky = site.plan([{ status: 503 }, { body: 'fine' }]);
      expect(await get(page, flaky.path)).toMatchObject({ status: 200, body: 'fine' });
    });
  }
});

test('a worker that is started by them brings scripts, styles and bodies whole', async ({ site, open }) => {
  const page = await open(underPolicy("connect-src 'self'"));
  await page.waitForTimeout(500);
  const noStore = { 'cache-control': 'no-store' };
  const script = site.plan([{ headers: { 'content-type': 'text/javascript', ...noStore }, body: 'self.ran = true;' }]);
  const style = site.plan([{ headers: { 'content-type': 'text/css', ...noStore }, body: 'body { color: red }' }]);
  const put = site.plan([{ body: 'taken' }]);
  // As often as not the worker knows before the request comes.
  for (let round = 1; round <= 3; round += 1) {
    await stopWorker(page);
    const loaded = await page.evaluate(
      async (src) => {
        const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('self.ran = true;'));
        const integrity = `sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}`;
        return new Promise((resolve) => {
          const attributes = { src, integrity, type: 'module', onload: () => resolve('ran'), onerror: resolve };
          document.head.append(Object.assign(document.createElement('script'), attributes));
        });
      },
      elsewhere(site, `${script.path}?${round}`),
    );
    expect(loaded).toBe('ran');
    await stopWorker(page);
    const styled = await page.evaluate(
      (href) =>
        new Promise((resolve) => {
          const attributes = { href, rel: 'stylesheet', onload: () => resolve('styled'), onerror: resolve };
          document.head.append(Object.assign(document.createElement('link'), attributes));
        }),
      elsewhere(site, `${style.path}?${round}`),
    );
    expect(styled).toBe('styled');
    await stopWorker(page);
    const body = 'ü'.repeat(1_000);
    expect(await get(page, elsewhere(site, put.path), { method: 'PUT', keepalive: true, body })).toMatchObject({
      status: 200,
    });
    expect(put.hits().at(-1)?.body.toString()).toBe(body);
    expect([script, style, put].map(({ hits }) => hits().length)).toEqual([round, round, round]);
  }
});

test("a policy that forbids the worker's own origin as well: pages work all the same", async ({ site, open }) => {
  const page = await open(underPolicy("default-src 'none'"));
  const wire = site.plan([SVG]);
  expect(await get(page, wire.path)).toMatchObject({ status: 200 });
  expect(await image(page, elsewhere(site, wire.path))).toBe('shown');
  await page.waitForTimeout(500);
  await stopWorker(page);
  await page.goto(`${site.url}/?reloaded`);
  expect(await page.title()).not.toBe('');
  expect(await get(page, wire.path)).toMatchObject({ status: 200 });
});

test('what the policy allows is retried', async ({ context, site, open }) => {
  const warnings = listenToWarnings(context);
  const page = await open(underPolicy(`default-src 'none'; connect-src 'self' ${site.secondOrigin}`));
  const flaky = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await get(page, elsewhere(site, flaky.path))).toMatchObject({ status: 200, body: 'fine' });
  if (warnings) expect(warnings).toEqual([]);
});

test('without a policy nothing is stored, and other origins are retried', async ({ context, site, open }) => {
  const warnings = listenToWarnings(context);
  const page = await open();
  const flaky = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await get(page, elsewhere(site, flaky.path))).toMatchObject({ status: 200, redirected: false });
  await stopWorker(page);
  const later = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await get(page, elsewhere(site, later.path))).toMatchObject({ status: 200, redirected: false });
  expect(later.hits()).toHaveLength(2);
  if (warnings) expect(warnings).toEqual([]);
});

test('a new script brings a new policy', async ({ site, open }) => {
  const page = await open(underPolicy("connect-src 'self'", { worker: 'eager' }));
  const wire = site.plan([{ status: 503 }, SVG]);
  expect(await get(page, elsewhere(site, wire.path))).toMatchObject({ status: 503 });
  await page.evaluate(
    async (url) => {
      const changed = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
      await navigator.serviceWorker.register(url);
      await changed;
    },
    `/${underPolicy('connect-src *', { worker: 'eager' })}`,
  );
  const flaky = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await get(page, elsewhere(site, flaky.path))).toMatchObject({ status: 200, body: 'fine' });
  await page.waitForTimeout(500);
  await stopWorker(page);
  const later = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await get(page, elsewhere(site, later.path))).toMatchObject({ status: 200, body: 'fine' });
});
