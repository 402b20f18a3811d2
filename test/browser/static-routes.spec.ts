import type { Page } from '@playwright/test';
import fc from 'fast-check';
import {
  can,
  expect,
  expectShown,
  expectStatus,
  header,
  needs,
  stopWorker,
  test,
  type Wire,
} from '../support/browser.ts';

const get = (page: Page, url: string) => page.evaluate((path) => window.sf.get(path), url);

/** The paths of every request that the worker was asked about since it was started. */
const asked = (page: Page): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        navigator.serviceWorker.controller?.postMessage('asked', [port2]);
      }),
  );

const worker = (routes: { off?: Wire[]; race?: Wire[] }, ...more: string[]): string => {
  const of = (name: 'off' | 'race') => (routes[name] ?? []).map(({ path }) => `${name}=${path}`);
  return `static-routes.sw.js?${[...of('off'), ...of('race'), ...more].join('&')}`;
};

/** A browser that has no static routes, and one that refuses ours. */
const WITHOUT = ['without', 'refused'];

test('the browser’s patterns match what the worker matches, and nothing else', async ({ site, open }) => {
  // On a busy machine Firefox takes more than half a minute for so many patterns.
  test.setTimeout(120_000);
  const page = await open();
  const origin = fc.constantFrom(
    '',
    site.url,
    'https://a.test',
    'https://a.test:8443',
    'http://[::1]:81',
    'http://ü.test',
  );
  const letters = 'ab/.%2Fé ~?+:(){}[]\\\'&=;,@!$|^`"<>'.split('');
  const text = fc.string({ unit: fc.constantFrom(...letters), maxLength: 5 });
  const path = fc.tuple(text, fc.constantFrom('', '/', '?', '?a'), text).map((parts) => `/a${parts.join('')}`);
  const pair = fc.tuple(
    origin,
    path,
    origin,
    path,
    fc.constantFrom('', '/', '?', '#', 'b', '/b', '?b', '#b'),
    fc.nat(9),
  );
  const pairs = fc
    .sample(pair, { numRuns: 20_000, seed: 1 })
    .map(([ownOrigin, match, otherOrigin, otherPath, end, how]) => {
      const href = `${how === 0 ? otherOrigin : ownOrigin}${how < 3 ? otherPath : match}${end}`;
      // Of somebody's own: `https://me@a.test`.
      return [ownOrigin + match, how === 9 ? href.replace('//a', '//me@a') : href] as const;
    });
  // Workbox reads it bare.
  await page.evaluate(() => void Object.assign(window, { process: { env: { NODE_ENV: 'production' } } }));
  const { differing, matched, missed } = await page.evaluate(
    async ([pairs, module]) => {
      const { compare }: typeof import('./pages/agreement.ts') = await import(module);
      return compare(pairs);
    },
    [pairs, '/agreement.ts'] as const,
  );
  expect(differing).toEqual([]);
  // A comparison of nothing would pass, too.
  expect(Math.min(matched, missed)).toBeGreaterThan(2_000);
});

test.describe('where there are static routes', () => {
  test.beforeEach(({ browser }) => needs(browser, 'static-routes'));

  test('what is left alone does not even start the worker', async ({ site, open }) => {
    const [off, other] = [site.plan([{ status: 503 }]), site.plan([{ body: 'fine' }])];
    const page = await open(worker({ off: [off] }));
    await stopWorker(page);
    for (const url of [off.path, `${off.path}/x?y#z`]) expect(await get(page, url)).toMatchObject({ status: 503 });
    for (const method of ['PUT', 'POST', 'HEAD']) {
      expect(
        await page.evaluate(([url = '', method = '']) => window.sf.get(url, { method }), [off.path, method]),
      ).toEqual(expect.objectContaining({ status: 503 }));
    }
    expect(off.hits()).toHaveLength(5);
    await get(page, other.path);
    expect(await asked(page)).toEqual([other.path]);
  });

  for (const more of [[], ['preload']]) {
    test(`a document that is left alone is asked for once${more.length > 0 ? ', and not preloaded' : ''}`, async ({
      site,
      open,
    }) => {
      const off = site.plan([
        { status: 503, headers: { 'content-type': 'text/html' }, body: '<p id="shown">busy</p>' },
      ]);
      const page = await open(worker({ off: [off] }, ...more));
      const response = await page.goto(site.url + off.path);
      expect([response?.status(), response?.fromServiceWorker(), off.hits().length]).toEqual([503, false, 1]);
      expect(header(off.hits()[0], 'service-worker-navigation-preload')).toBe(null);
      await expectShown(page, '#shown');
    });
  }

  test('a raced request is sent once, whoever is first', async ({ site, open }) => {
    const [fast, slow] = [site.plan([{ body: 'fine' }]), site.plan([{ body: 'fine', delayMs: 300 }])];
    const page = await open(worker({ race: [fast, slow] }));
    for (const wire of [fast, slow]) {
      for (const stopped of [false, true]) {
        if (stopped) await stopWorker(page);
        expect(await get(page, wire.path)).toMatchObject({ status: 200, body: 'fine' });
        // Long enough for a worker that comes late.
        await page.waitForTimeout(500);
      }
      expect(wire.hits()).toHaveLength(2);
    }
    expect(await page.evaluate(() => window.sf.events)).toEqual([]);
    const { counters } = (await page.evaluate(() => window.sf.retries?.status())) ?? {};
    expect(counters).toMatchObject({ requests: 1, attempts: 1 });
  });

  for (const stopped of [false, true]) {
    test(`a raced answer that is not ok is the first attempt’s, ${stopped ? 'cold' : 'warm'}`, async ({
      site,
      open,
    }) => {
      const [busy, reset, slow, gone] = [
        site.plan([{ status: 503 }, { body: 'fine' }]),
        site.plan([{ reset: 'headers' }, { body: 'fine' }]),
        site.plan([{ status: 503, delayMs: 300 }, { body: 'fine' }]),
        site.plan([{ status: 404 }]),
      ];
      const page = await open(worker({ race: [busy, reset, slow, gone] }));
      for (const [wire, status, hits] of [
        [busy, 200, 2],
        [reset, 200, 2],
        [slow, 200, 2],
        [gone, 404, 1],
      ] as const) {
        if (stopped) await stopWorker(page);
        expect(await get(page, wire.path)).toMatchObject({ status });
        expect(wire.hits()).toHaveLength(hits);
      }
      await expect
        .poll(() => page.evaluate(() => window.sf.told.map(({ type }) => type)))
        .toEqual(Array.from({ length: 3 }, () => ['retry-scheduled', 'recovered']).flat());
    });
  }

  test('a raced image of another origin is sent once, and again after a reset', async ({ site, open }) => {
    const svg = {
      headers: { 'content-type': 'image/svg+xml' },
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    };
    const [fine, reset] = [site.plan([svg]), site.plan([{ reset: 'headers' }, svg])];
    const page = await open(`static-routes.sw.js?race=${site.secondOrigin}/wire`);
    for (const [wire, hits] of [
      [fine, 1],
      [reset, 2],
    ] as const) {
      const loaded = await page.evaluate(
        (url) =>
          new Promise((resolve) => {
            Object.assign(new Image(), { onload: () => resolve(true), onerror: () => resolve(false), src: url });
          }),
        `${site.secondOrigin}${wire.path}?cors=0`,
      );
      expect([loaded, wire.hits().length]).toEqual([true, hits]);
    }
  });

  for (const more of [[], ['preload']]) {
    test(`a raced document is sent once, and again after a 503${more.length > 0 ? ', and not preloaded' : ''}`, async ({
      site,
      open,
    }) => {
      const html = { headers: { 'content-type': 'text/html' }, body: '<p id="shown">shown</p>' };
      const [fine, busy] = [site.plan([html]), site.plan([{ ...html, status: 503 }, html])];
      const page = await open(worker({ race: [fine, busy] }, ...more));
      for (const [wire, hits] of [
        [fine, 1],
        [busy, 2],
      ] as const) {
        const response = await page.goto(site.url + wire.path);
        expectStatus(page, response, 200);
        expect(wire.hits().length).toBe(hits);
        expect(header(wire.hits()[0], 'service-worker-navigation-preload')).toBe(null);
        await expectShown(page, '#shown');
      }
    });
  }

  test('what was sent by the browser is not held, nor after the worker was started again', async ({ site, open }) => {
    const busy = site.plan([{ status: 503, retryAfter: 8 }, { body: 'fine' }]);
    const gone = site.plan([{ status: 404 }]);
    const page = await open(worker({ race: [busy, gone] }));
    const startedAt = Date.now();
    void get(page, busy.path).catch(() => {});
    await expect.poll(() => page.evaluate(() => window.sf.events.length)).toBeGreaterThan(0);
    expect(await get(page, gone.path)).toMatchObject({ status: 404 });
    // The hold has to be on the disk.
    await page.waitForTimeout(1_200);
    await stopWorker(page);
    expect(await get(page, gone.path)).toMatchObject({ status: 404 });
    expect(Date.now() - startedAt).toBeLessThan(6_000);
    expect(gone.hits()).toHaveLength(2);
  });
});

for (const how of WITHOUT) {
  test(`where static routes are ${how === 'without' ? 'unknown' : how}, the worker does it all, and holds hold`, async ({
    site,
    open,
  }) => {
    const off = site.plan([{ status: 503 }]);
    const busy = site.plan([{ status: 503, retryAfter: 3 }, { body: 'fine' }]);
    const [gone, fine] = [site.plan([{ status: 404 }]), site.plan([{ body: 'fine' }])];
    const page = await open(worker({ off: [off], race: [busy, gone, fine] }, how));
    expect(await get(page, fine.path)).toMatchObject({ status: 200 });
    const stops = can(page.context(), 'stop-worker');
    if (stops) await stopWorker(page);
    expect(await get(page, off.path)).toMatchObject({ status: 503 });
    expect(await asked(page)).toEqual(stops ? [off.path] : [fine.path, off.path]);
    const recovered = get(page, busy.path);
    await expect.poll(() => busy.hits().length).toBe(1);
    await expect.poll(() => page.evaluate(() => window.sf.events.length)).toBeGreaterThan(0);
    expect(await get(page, gone.path)).toMatchObject({ status: 404 });
    expect(gone.hits()[0]?.at).toBeGreaterThanOrEqual((busy.hits()[0]?.at ?? 0) + 3_000);
    expect(await recovered).toMatchObject({ status: 200, body: 'fine' });
    expect([off, busy, gone, fine].map(({ hits }) => hits().length)).toEqual([1, 2, 1, 1]);
  });
}
