import { expect, test } from '../support/browser.ts';

test.beforeEach(async ({ page, site }) => {
  for (const worker of ['plain', 'unclaiming', 'quick', 'impatient', 'foreign']) await site.bundle(`${worker}.sw.js`);
  await page.goto(site.url);
  await page.waitForFunction(() => 'sf' in window);
});

test('a first visit is controlled at once', async ({ page }) => {
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toEqual({
    state: 'controlled',
    workerVersion: '0.1.0',
  });
});

test('connecting again, and after a reload, says the same', async ({ page }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toMatchObject({ state: 'controlled' });
  await page.reload();
  await page.waitForFunction(() => 'sf' in window);
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toMatchObject({ state: 'controlled' });
});

test('a hard reload leaves the page uncontrolled, and says so', async ({ page }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  const cdp = await page.context().newCDPSession(page);
  const loaded = page.waitForEvent('load');
  await cdp.send('Page.reload', { ignoreCache: true });
  await loaded;
  await page.waitForFunction(() => 'sf' in window);
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toEqual({
    state: 'uncontrolled-reload',
    workerVersion: '0.1.0',
  });
});

test('a worker that does not claim leaves a first visit uncontrolled', async ({ page }) => {
  const state = await page.evaluate(() => window.sf.connect('/unclaiming.sw.js'));
  expect(state).toEqual({ state: 'uncontrolled-reload', workerVersion: '0.1.0' });
});

test('a newer version waits for the pages of the older one', async ({ page }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  expect(await page.evaluate(() => window.sf.connect('/quick.sw.js'))).toMatchObject({ state: 'waiting' });
});

test('a newer version with skipWaiting takes over', async ({ page, site }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  await page.evaluate(() => window.sf.connect('/impatient.sw.js'));
  await expect
    .poll(() => page.evaluate(() => navigator.serviceWorker.controller?.scriptURL))
    .toBe(`${site.url}/impatient.sw.js`);
  // The page is known to the new worker as well: it hears what happens there.
  const wire = site.plan([{ status: 503 }]);
  await page.evaluate((url) => window.sf.get(url), wire.path);
  await expect.poll(() => page.evaluate(() => window.sf.told.length)).toBeGreaterThan(0);
});

test('a newer version whose script is missing leaves the older one at work, and says why', async ({ page }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  expect(await page.evaluate(() => window.sf.connect('/nowhere.sw.js'))).toMatchObject({ state: 'controlled' });
  expect(await page.evaluate(() => window.sf.retries?.error instanceof Error)).toBe(true);
  expect(await page.evaluate(() => window.sf.retries?.status())).toBeDefined();
});

for (const [what, script] of Object.entries({
  missing: '/nowhere/missing.js',
  faulty: '/faulty-at-start.sw.js',
  'of another origin': 'http://127.0.0.1:9/sw.js',
})) {
  test(`a worker script that is ${what}: the state is failed, the page works`, async ({ page, site }) => {
    const startedAt = Date.now();
    expect(await page.evaluate((url) => window.sf.connect(url), script)).toEqual({ state: 'failed' });
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect(await page.evaluate(() => window.sf.retries?.error instanceof Error)).toBe(true);
    expect(await page.evaluate(() => window.sf.retries?.status())).toBeUndefined();
    const wire = site.plan([{ body: 'fine' }]);
    expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200 });
  });
}

test('a page whose policy forbids workers: the state is failed, why, and the page works', async ({ page, site }) => {
  await page.evaluate(() => {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = "worker-src 'none'";
    document.head.append(policy);
  });
  const startedAt = Date.now();
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toEqual({ state: 'failed' });
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  expect(await page.evaluate(() => String(window.sf.retries?.error))).toContain('SecurityError');
  const wire = site.plan([{ body: 'fine' }]);
  expect(await page.evaluate((url) => window.sf.ask(url), wire.path)).toMatchObject({ status: 200 });
});

test('a worker script that never comes: the state is failed within 5 s', async ({ page, site }) => {
  const wire = site.plan([{ stall: 'headers', stallMs: 10_000 }]);
  const startedAt = Date.now();
  expect(await page.evaluate((url) => window.sf.connect(url), wire.path)).toEqual({ state: 'failed' });
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test('a page under somebody else’s worker: no version, and nothing hangs', async ({ page }) => {
  const startedAt = Date.now();
  expect(await page.evaluate(() => window.sf.connect('/foreign.sw.js'))).toEqual({ state: 'controlled' });
  expect(await page.evaluate(() => window.sf.retries?.status())).toBeUndefined();
  expect(Date.now() - startedAt).toBeLessThan(7_000);
});

test('no service workers: the state is unsupported', async ({ browser, site }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }));
  await page.goto(site.url);
  await page.waitForFunction(() => 'sf' in window);
  expect(await page.evaluate(() => window.sf.connect('/plain.sw.js'))).toEqual({ state: 'unsupported' });
  expect(await page.evaluate(() => window.sf.retries?.status())).toBeUndefined();
  await context.close();
});

test('events of one page do not reach another', async ({ page, site, context }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  const other = await context.newPage();
  await other.goto(site.url);
  await other.waitForFunction(() => 'sf' in window);
  await other.evaluate(() => window.sf.connect('/plain.sw.js'));
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  await page.evaluate((url) => window.sf.get(url), wire.path);
  await expect.poll(() => page.evaluate(() => window.sf.told.length)).toBe(2);
  expect(await other.evaluate(() => window.sf.told)).toEqual([]);
});

test('messages of others, and broken ones of ours, are ignored', async ({ page, site }) => {
  await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  await page.evaluate(() => {
    for (const message of [
      null,
      'x',
      7,
      {},
      { type: 'CACHE_URLS' },
      { steadfetch: 1 },
      { steadfetch: 9, kind: 'hello' },
    ]) {
      navigator.serviceWorker.controller?.postMessage(message);
    }
  });
  expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ version: '0.1.0' });
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200 });
});
