import { expect, expectShown, expectStatus, header, test } from '../support/browser.ts';

// The page is the test page itself, so that it connects and hears the events of its own load.
const PAGE = '<!doctype html><title>shown</title><script type="module" src="/page.ts"></script><p id="shown">shown</p>';
const HTML = { headers: { 'content-type': 'text/html' }, body: PAGE };

for (const worker of ['navigation.sw.js', 'navigation.sw.js?preload']) {
  test(`${worker}: a navigation that meets 503 and a reset shows the page, which hears of both`, async ({
    site,
    open,
    engine,
  }) => {
    const page = await open(worker);
    const wire = site.plan([{ status: 503, body: 'busy' }, { reset: 'headers' }, HTML]);
    const response = await page.goto(`${site.url}${wire.path}?a=1`);
    expectStatus(page, response, 200);
    await expectShown(page, '#shown');
    const hits = wire.hits();
    expect(hits).toHaveLength(3);
    // Still a navigation on every attempt, with nothing rebuilt.
    for (const [index, hit] of hits.entries()) {
      const byWorker = index > 0 || !worker.includes('preload');
      // What a worker fetches is no navigation any more for Firefox, and WebKit names the worker: a bare one as well.
      expect(header(hit, 'sec-fetch-mode')).toBe(engine === 'firefox' && byWorker ? 'same-origin' : 'navigate');
      expect(header(hit, 'upgrade-insecure-requests')).toBe('1');
      expect(header(hit, 'referer')).toBe(engine === 'webkit' && byWorker ? `${site.url}/${worker}` : null);
    }
    expect(header(hits[0], 'service-worker-navigation-preload')).toBe(worker.includes('preload') ? 'true' : null);
    expect(header(hits[1], 'service-worker-navigation-preload')).toBe(null);
    await page.waitForFunction(() => 'sf' in window);
    await page.evaluate((url) => window.sf.connect(url), `/${worker}`);
    await expect
      .poll(() => page.evaluate(() => window.sf.told))
      .toMatchObject([
        { type: 'retry-scheduled', cause: 'status', status: 503, group: 'page', url: site.url + wire.path },
        { type: 'retry-scheduled', cause: 'network-error' },
        { type: 'recovered', attempts: 3 },
      ]);
  });
}

test('a preloaded navigation that succeeds is asked for once', async ({ site, open }) => {
  const page = await open('navigation.sw.js?preload');
  const wire = site.plan([HTML]);
  await page.goto(site.url + wire.path);
  await expectShown(page, '#shown');
  expect(wire.hits()).toHaveLength(1);
});

test('a preloaded navigation that is left alone is asked for once', async ({ site, open }) => {
  const page = await open('navigation.sw.js?preload');
  const wire = site.plan([{ ...HTML, status: 503 }]);
  const response = await page.goto(`${site.url}${wire.path}?off`);
  expectStatus(page, response, 503);
  expect(wire.hits().length).toBe(1);
  await expectShown(page, '#shown');
});

test('a document that was too large to keep ends its load, as far as it was kept', async ({ site, open }) => {
  const page = await open('navigation');
  const wire = site.plan([{ ...HTML, status: 503, body: `<p>busy</p>${'x'.repeat(300_000)}` }, { reset: 'headers' }]);
  const shown = await page.evaluate(async (src) => {
    const frame = Object.assign(document.createElement('iframe'), { src });
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    await loaded;
    return frame.contentDocument?.querySelector('p')?.textContent;
  }, wire.path);
  expect(shown).toBe('busy');
});

test('a navigation gives up with the last answer, as a page', async ({ site, open }) => {
  const page = await open('navigation');
  const wire = site.plan([{ status: 503, headers: { 'content-type': 'text/html' }, body: '<p id="down">down</p>' }]);
  const response = await page.goto(site.url + wire.path);
  expectStatus(page, response, 503);
  await expectShown(page, '#down');
  expect(wire.hits()).toHaveLength(3);
});

test('a redirected navigation ends at the other URL, also after a retry', async ({ site, open }) => {
  const page = await open('navigation');
  const target = site.plan([HTML]);
  const wire = site.plan([{ status: 503 }, { redirect: target.path }]);
  await page.goto(site.url + wire.path);
  expect(page.url()).toBe(site.url + target.path);
  await expectShown(page, '#shown');
});

test('a navigation whose error could be served from the cache is not rebuilt: the error is shown', async ({
  site,
  open,
}) => {
  const page = await open('navigation');
  const error = { status: 503, headers: { 'cache-control': 'max-age=60', 'content-type': 'text/html' }, body: 'busy' };
  const wire = site.plan([error, HTML]);
  const response = await page.goto(site.url + wire.path);
  expectStatus(page, response, 503);
  expect(wire.hits()).toHaveLength(1);
});

test('a form sent by POST is not intercepted', async ({ site, open }) => {
  const page = await open('navigation');
  const wire = site.plan([{ status: 503, headers: { 'content-type': 'text/html' }, body: '<p id="down">down</p>' }]);
  const answered = page.waitForResponse(site.url + wire.path);
  await page.evaluate((action) => {
    document.body.innerHTML = `<iframe name="answer"></iframe>
      <form method="post" action="${action}" target="answer"><input name="a" value="1"><button>Send</button></form>`;
  }, wire.path);
  await page.getByRole('button').click();
  expect((await answered).fromServiceWorker()).toBe(false);
  await expect(page.frameLocator('iframe').locator('#down')).toBeVisible();
  expect(wire.hits().map(({ body }) => body.toString())).toEqual(['a=1']);
});
