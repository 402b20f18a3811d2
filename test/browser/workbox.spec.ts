import type { BrowserContext, Page } from '@playwright/test';
import { expect, expectShown, expectStatus, header, stopWorker, test, underPolicy } from '../support/browser.ts';

const BUSY = { status: 503, body: 'busy' };
const LOST = { reset: 'headers' } as const;
const FINE = { body: 'fine' };
const HTML = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p id="shown">shown</p>' };

const KEYED = { method: 'POST', body: 'order', headers: { 'Idempotency-Key': 'k1' } };

/** What a page gets in the end, and how often the server is asked. */
const FAULTS = {
  '503, 503, 200': { steps: [BUSY, BUSY, FINE], status: 200, hits: 3 },
  'reset, reset, 200': { steps: [LOST, LOST, FINE], status: 200, hits: 3 },
  'Retry-After: 1, 200': { steps: [{ ...BUSY, retryAfter: 1 }, FINE], status: 200, hits: 2, waits: 1_000 },
  'always 503': { steps: [BUSY], status: 503, hits: 4 },
  'POST with a key: 503, 200': { steps: [BUSY, FINE], init: KEYED, status: 200, hits: 2 },
  'POST without a key: 503, 200': {
    steps: [BUSY, FINE],
    init: { method: 'POST', body: 'order' },
    status: 503,
    hits: 1,
  },
} as const;

const WORKERS = {
  workbox: ['NetworkFirst', 'NetworkOnly', 'StaleWhileRevalidate', 'CacheFirst', 'retryHandler'],
  serwist: ['NetworkFirst', 'NetworkOnly', 'StaleWhileRevalidate', 'CacheFirst', 'retryHandler'],
} as const;

const get = (page: Page, path: string, init?: RequestInit) =>
  page.evaluate(({ path, init }) => window.sf.get(path, init), { path, init: init ?? {} });

/** Something that the test's worker has put on its global scope. */
const inWorker = <T>(context: BrowserContext, name: 'told' | 'queued'): Promise<T> =>
  context.serviceWorkers()[0]?.evaluate(async (name) => {
    const value = (self as unknown as Record<string, unknown>)[name];
    return typeof value === 'function' ? value() : value;
  }, name) as Promise<T>;

test.beforeAll(async ({ server }) => {
  for (const worker of Object.keys(WORKERS)) await server.bundle(`${worker}.sw.js`);
});

/** One strategy of each library meets every fault in each engine; the others do with `npm run test:engines -- --all`. */
const tagOf = (strategy: string) => (strategy === 'NetworkFirst' ? {} : { tag: '@table' });

for (const [worker, strategies] of Object.entries(WORKERS)) {
  for (const strategy of strategies) {
    for (const [name, { steps, status, hits, ...fault }] of Object.entries(FAULTS)) {
      test(`${worker} ${strategy}: ${name}`, tagOf(strategy), async ({ site, open }) => {
        const page = await open(worker);
        const wire = site.plan(steps);
        const init = 'init' in fault ? fault.init : undefined;
        expect(await get(page, `${wire.path}?s=${strategy}`, init)).toMatchObject({
          status,
          body: status === 200 ? 'fine' : 'busy',
        });
        expect(wire.hits()).toHaveLength(hits);
        if (init) for (const hit of wire.hits()) expect(hit.body.toString()).toBe(init.body);
        if ('waits' in fault) {
          const [first, second] = wire.hits().map(({ at }) => at);
          expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(fault.waits);
        }
        if (hits > 1) {
          // Pages are told as by a layer of ours.
          const end = status === 200 ? { type: 'recovered', attempts: hits } : { type: 'gave-up', reason: 'attempts' };
          await expect.poll(() => page.evaluate(() => window.sf.told.at(-1))).toMatchObject(end);
        }
      });
    }

    for (const query of ['preload', 'without']) {
      test(
        `${worker} ${strategy}: a navigation, ${query} preload: 503, 503, 200`,
        tagOf(strategy),
        async ({ site, open, engine }) => {
          const page = await open(`${worker}.sw.js?${query}`);
          const wire = site.plan([BUSY, BUSY, HTML]);
          const response = await page.goto(`${site.url}${wire.path}?s=${strategy}`);
          expectStatus(page, response, 200);
          await expectShown(page, '#shown');
          const preloaded = query === 'preload';
          // What a worker fetches is no navigation any more for Firefox.
          const later = engine === 'firefox' ? 'same-origin' : 'navigate';
          const first = preloaded ? 'navigate' : later;
          expect(wire.hits().map((hit) => header(hit, 'sec-fetch-mode'))).toEqual([first, later, later]);
          expect(wire.hits().map((hit) => header(hit, 'service-worker-navigation-preload'))).toEqual([
            preloaded ? 'true' : null,
            null,
            null,
          ]);
        },
      );
    }

    test(`${worker} ${strategy}: a preload that is lost, then 200`, tagOf(strategy), async ({ site, open }) => {
      const page = await open(`${worker}.sw.js?preload`);
      const wire = site.plan([LOST, HTML]);
      await page.goto(`${site.url}${wire.path}?s=${strategy}`);
      await expectShown(page, '#shown');
      expect(wire.hits()).toHaveLength(2);
    });
  }

  for (const [name, { steps, status, hits }] of Object.entries(FAULTS).filter(([name]) => !name.includes('POST'))) {
    test(`${worker} precaching: ${name}`, async ({ site, page }) => {
      const wire = site.plan(steps);
      await page.goto(site.url);
      await page.waitForFunction(() => 'sf' in window);
      const script = `/${worker}.sw.js?precache=${encodeURIComponent(wire.path)}`;
      // Waits until it is installed, or is not.
      const installed = await page.evaluate(async (script) => {
        const { installing } = await navigator.serviceWorker.register(script, { scope: '/' });
        return new Promise<boolean>((resolve) => {
          installing?.addEventListener('statechange', () => resolve(installing.state !== 'redundant'));
        });
      }, script);
      expect(installed).toBe(status === 200);
      expect(wire.hits()).toHaveLength(hits);
    });
  }

  test(`${worker} precaching: a file that is missing is asked for as often`, async ({ site, open }) => {
    const wire = site.plan([FINE]);
    const page = await open(`${worker}.sw.js?precache=${encodeURIComponent(wire.path)}`);
    await page.evaluate(async () => {
      for (const name of await caches.keys()) await caches.delete(name);
    });
    site.replan(wire.id, [BUSY, BUSY, FINE]);
    expect(await get(page, wire.path)).toMatchObject({ status: 200, body: 'fine' });
    expect(wire.hits()).toHaveLength(3);
  });

  test(`${worker}: what succeeds in the end is not queued to be sent again`, async ({ site, open, context }) => {
    const page = await open(worker);
    for (const steps of [
      [BUSY, FINE],
      [LOST, FINE],
    ]) {
      const wire = site.plan(steps);
      expect(await get(page, `${wire.path}?s=NetworkOnly-queue`, KEYED)).toMatchObject({ status: 200 });
      expect(wire.hits()).toHaveLength(2);
      expect(await inWorker(context, 'queued')).toEqual([]);
    }
  });

  test(`${worker}: what fails in the end is queued once, with its body`, async ({ site, open, context }) => {
    const page = await open(worker);
    const wire = site.plan([LOST]);
    const seen = await get(page, `${wire.path}?s=NetworkOnly-queue`, KEYED);
    expect(seen).toHaveProperty('error');
    expect(wire.hits()).toHaveLength(4);
    await expect.poll(() => inWorker(context, 'queued')).toEqual(['order']);
  });

  test(`${worker}: what is not retried is queued as before`, async ({ site, open, context }) => {
    const page = await open(worker);
    const wire = site.plan([LOST]);
    await get(page, `${wire.path}?s=NetworkOnly-queue`, { method: 'POST', body: 'order' });
    expect(wire.hits()).toHaveLength(1);
    await expect.poll(() => inWorker(context, 'queued')).toEqual(['order']);
  });

  test(`${worker} StaleWhileRevalidate: with a cached answer the background has two attempts`, async ({
    site,
    open,
  }) => {
    const page = await open(worker);
    const wire = site.plan([FINE]);
    const path = `${wire.path}?s=StaleWhileRevalidate`;
    await get(page, path);
    await expect.poll(() => page.evaluate((path) => caches.match(path).then(Boolean), path)).toBe(true);
    site.replan(wire.id, [BUSY]);
    expect(await get(page, path)).toMatchObject({ status: 200, body: 'fine' });
    await expect.poll(() => page.evaluate(() => window.sf.told.at(-1))).toMatchObject({ type: 'gave-up', attempts: 2 });
    expect(wire.hits()).toHaveLength(2);
    site.replan(wire.id, [BUSY, { body: 'new' }]);
    await get(page, path);
    await expect.poll(async () => get(page, path)).toMatchObject({ body: 'new' });
  });
}

test('serwist precaching: a preloaded document of a precached page is retried', async ({ site, open }) => {
  const wire = site.plan([HTML]);
  const page = await open(`serwist.sw.js?preload&precache=${encodeURIComponent(wire.path)}`);
  site.replan(wire.id, [BUSY, HTML]);
  const response = await page.goto(site.url + wire.path);
  expectStatus(page, response, 200);
  expect(wire.hits()).toHaveLength(2);
});

test('workbox: an answer that a plugin takes for a failure is queued once all attempts brought it', async ({
  site,
  open,
  context,
}) => {
  const page = await open('workbox');
  const wire = site.plan([BUSY]);
  expect(await get(page, `${wire.path}?s=NetworkOnly-queue-5xx`, KEYED)).toHaveProperty('error');
  expect(wire.hits()).toHaveLength(4);
  await expect.poll(() => inWorker(context, 'queued')).toEqual(['order']);
});

test('workbox: plugins change each attempt and hear of the end', async ({ site, open, context }) => {
  const page = await open('workbox');
  const wire = site.plan([BUSY, LOST, FINE]);
  expect(await get(page, `${wire.path}?s=NetworkOnly-plugins`, KEYED)).toMatchObject({ body: 'fine' });
  const tokens = wire.hits().map((hit) => header(hit, 'x-token'));
  expect(new Set(tokens).size).toBe(3);
  for (const hit of wire.hits()) expect(hit.body.toString()).toBe('order');
  expect((await inWorker<string[]>(context, 'told')).filter((line) => !line.startsWith('event'))).toEqual([
    'requestWillFetch',
    'requestWillFetch',
    'requestWillFetch',
    'fetchDidSucceed 200',
  ]);
  const lost = site.plan([LOST]);
  await get(page, `${lost.path}?s=NetworkOnly-plugins`, KEYED);
  expect((await inWorker<string[]>(context, 'told')).at(-1)).toBe('fetchDidFail TypeError order');
  expect(await inWorker(context, 'told')).toContain('event retry-scheduled');
});

test('workbox: a strategy’s fetchOptions are those of each attempt', async ({ site, open }) => {
  const page = await open('workbox');
  const wire = site.plan([BUSY, FINE]);
  await get(page, `${wire.path}?s=NetworkOnly-options`);
  expect(wire.hits().map((hit) => header(hit, 'x-option'))).toEqual(['yes', 'yes']);
});

test('workbox CacheOnly: nothing is sent', async ({ site, open }) => {
  const page = await open('workbox');
  const wire = site.plan([FINE]);
  expect(await get(page, `${wire.path}?s=CacheOnly`)).toHaveProperty('error');
  expect(wire.hits()).toHaveLength(0);
});

for (const worker of Object.keys(WORKERS)) {
  test(`${worker} NetworkFirst: at its timeout the cache answers, and the background has two attempts`, async ({
    site,
    open,
  }) => {
    const page = await open(`${worker}.sw.js?wait=2000`);
    const wire = site.plan([FINE]);
    const path = `${wire.path}?s=NetworkFirst-timeout`;
    await get(page, path);
    await expect.poll(() => page.evaluate((path) => caches.match(path).then(Boolean), path)).toBe(true);
    site.replan(wire.id, [BUSY]);
    const startedAt = Date.now();
    expect(await get(page, path)).toMatchObject({ status: 200, body: 'fine' });
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    await expect.poll(() => page.evaluate(() => window.sf.told.at(-1))).toMatchObject({ type: 'gave-up', attempts: 2 });
    expect(wire.hits()).toHaveLength(2);
    site.replan(wire.id, [BUSY, { body: 'new' }]);
    await get(page, path);
    await expect.poll(() => page.evaluate((path) => caches.match(path).then((hit) => hit?.text()), path)).toBe('new');
  });

  test(`${worker} NetworkFirst: at its timeout without a cached answer the retries are waited for`, async ({
    site,
    open,
  }) => {
    const page = await open(`${worker}.sw.js?wait=300`);
    const wire = site.plan([BUSY, BUSY, FINE]);
    expect(await get(page, `${wire.path}?s=NetworkFirst-timeout`)).toMatchObject({ status: 200, body: 'fine' });
    expect(wire.hits()).toHaveLength(3);
  });

  test(`${worker} NetworkOnly: its timeout ends the retries`, async ({ site, open }) => {
    const page = await open(`${worker}.sw.js?wait=1500`);
    const wire = site.plan([BUSY, FINE]);
    expect(await get(page, `${wire.path}?s=NetworkOnly-timeout`)).toHaveProperty('error');
    await expect.poll(() => page.evaluate(() => window.sf.told.at(-1))).toMatchObject({ type: 'gave-up', attempts: 1 });
    await page.waitForTimeout(1_800);
    expect(wire.hits()).toHaveLength(1);
  });

  test(`${worker} NetworkOnly: an attempt that is under way at its timeout is the last, and queued only if it fails`, async ({
    site,
    open,
    context,
  }) => {
    const page = await open(worker);
    const wire = site.plan([{ ...FINE, delayMs: 800 }]);
    expect(await get(page, `${wire.path}?s=NetworkOnly-timeout-queue`, KEYED)).toHaveProperty('error');
    await page.waitForTimeout(800);
    expect(await inWorker(context, 'queued')).toEqual([]);
    site.replan(wire.id, [{ ...LOST, delayMs: 800 }]);
    expect(await get(page, `${wire.path}?s=NetworkOnly-timeout-queue`, KEYED)).toHaveProperty('error');
    await expect.poll(() => inWorker(context, 'queued')).toEqual(['order']);
    expect(wire.hits()).toHaveLength(1);
  });

  test(`${worker} NetworkFirst: offline the cache answers at once`, async ({ site, open, context }) => {
    const page = await open(worker);
    const wire = site.plan([FINE]);
    const path = `${wire.path}?s=NetworkFirst`;
    await get(page, path);
    await expect.poll(() => page.evaluate((path) => caches.match(path).then(Boolean), path)).toBe(true);
    await context.setOffline(true);
    const startedAt = Date.now();
    expect(await get(page, path)).toMatchObject({ body: 'fine' });
    // Not as long as a request of its own would wait for the network.
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });
}

test('workbox: URLs that a page lists to be cached are retried as well', async ({ site, open }) => {
  const page = await open('workbox');
  const wire = site.plan([BUSY, BUSY, FINE]);
  const path = `${wire.path}?s=CacheFirst`;
  await page.evaluate((path) => {
    navigator.serviceWorker.controller?.postMessage({ type: 'CACHE_URLS', payload: { urlsToCache: [path] } });
  }, path);
  await expect.poll(() => page.evaluate((path) => caches.match(path).then((hit) => hit?.text()), path)).toBe('fine');
  expect(wire.hits()).toHaveLength(3);
});

test('workbox: pages pause retries, end waits, and say what one call asks for', async ({ site, open }) => {
  const page = await open('workbox.sw.js?wait=20000');
  const wire = site.plan([BUSY, FINE]);
  const path = `${wire.path}?s=NetworkOnly`;
  expect(await page.evaluate((path) => window.sf.ask(path, { retry: false }), path)).toMatchObject({ status: 503 });
  expect(wire.hits()).toHaveLength(1);

  site.replan(wire.id, [BUSY, FINE]);
  const answer = get(page, path);
  await expect.poll(() => page.evaluate(() => window.sf.told.length)).toBe(1);
  await page.evaluate(() => window.sf.retries?.retryNow());
  expect(await answer).toMatchObject({ status: 200 });

  expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ counters: { recovered: 1 } });
  await page.evaluate(() => window.sf.retries?.pause());
  site.replan(wire.id, [BUSY]);
  expect(await get(page, path)).toMatchObject({ status: 503 });
  expect(wire.hits()).toHaveLength(1);
});

test('workbox: what the worker’s own policy forbids fails as before, is not retried and is nobody’s fault', async ({
  site,
  open,
}) => {
  const page = await open(underPolicy("connect-src 'self'", { worker: 'workbox' }));
  const wire = site.plan([FINE]);
  for (const strategy of ['NetworkOnly', 'retryHandler']) {
    const url = `${site.secondOrigin}${wire.path}?s=${strategy}`;
    expect(await get(page, url)).toHaveProperty('error');
  }
  expect(await page.evaluate(() => window.sf.told)).toEqual([]);
  const own = `${wire.path}?s=NetworkOnly`;
  expect(await get(page, own)).toMatchObject({ status: 200 });
});

test('workbox: state outlives the worker, and is shared with it', async ({ site, open }) => {
  const page = await open('workbox');
  const wire = site.plan([{ ...BUSY, retryAfter: 60 }]);
  expect(await get(page, `${wire.path}?s=NetworkOnly`)).toMatchObject({ status: 503 });
  await expect.poll(() => page.evaluate(() => window.sf.events.map(({ type }) => type))).toContain('hold-started');
  await stopWorker(page);
  await expect
    .poll(() => page.evaluate(() => window.sf.retries?.status()))
    .toMatchObject({ origins: [{ group: 'data' }] });
});
