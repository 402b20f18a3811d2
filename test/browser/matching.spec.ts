import { expect, header, test } from '../support/browser.ts';

test('each request finds its route, whatever its fragment', async ({ site, open }) => {
  const page = await open('matching');
  const wires = Array.from({ length: 3 }, () => site.plan([{ status: 503 }]));
  const [patched, named, twice] = wires.map(({ path }) => path);
  await page.evaluate(
    async ([patched = '', named = '', twice = '']) => {
      await window.sf.get(patched, { method: 'PATCH', body: 'x' });
      await window.sf.get(`${named}/a.named#fragment`);
      await window.sf.get(`${twice}?twice#a.named`);
    },
    [patched ?? '', named ?? '', twice ?? ''],
  );
  expect(wires.map(({ hits }) => hits().length)).toEqual([4, 4, 2]);
  const groups = await page.evaluate(() => window.sf.told.map((event) => event.group));
  expect([...new Set(groups)]).toEqual(['data', 'named']);
});

test('`retry: false` is not intercepted', async ({ site, open }) => {
  const page = await open('matching');
  const [response] = await Promise.all([
    page.waitForResponse(`${site.url}/wire/off/x`),
    page.evaluate(() => window.sf.get('/wire/off/x')),
  ]);
  expect(response.fromServiceWorker()).toBe(false);
});

test('B011 another origin: a Retry-After that scripts may not see leaves the ordinary backoff', async ({
  site,
  open,
}) => {
  const page = await open();
  const hidden = site.plan([{ status: 429, retryAfter: 3 }, { body: 'fine' }]);
  const exposed = site.plan([{ status: 429, retryAfter: 3 }, { body: 'fine' }]);
  const seen = await page.evaluate(
    (urls) => Promise.all(urls.map((url) => window.sf.get(url))),
    [site.secondOrigin + hidden.path, `${site.secondOrigin}${exposed.path}?expose=1`],
  );
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine', type: 'cors' });
  const gaps = [hidden, exposed].map(({ hits }) => (hits()[1]?.at ?? 0) - (hits()[0]?.at ?? 0));
  expect(gaps[0]).toBeLessThan(2_900);
  expect(gaps[1]).toBeGreaterThanOrEqual(3_000);
});

test('another origin without CORS: an image is retried after a reset, and its status is nobody’s business', async ({
  site,
  open,
}) => {
  const page = await open('quick');
  const svg = {
    headers: { 'content-type': 'image/svg+xml' },
    body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
  };
  const reset = site.plan([{ reset: 'headers' }, svg]);
  const busy = site.plan([{ status: 503 }, svg]);
  const load = (src: string) =>
    page.evaluate(
      (url) =>
        new Promise((resolve) => {
          Object.assign(new Image(), { onload: () => resolve(true), onerror: () => resolve(false), src: url });
        }),
      src,
    );
  expect(await load(`${site.secondOrigin}${reset.path}?cors=0`)).toBe(true);
  expect(reset.hits()).toHaveLength(2);
  expect(await load(`${site.secondOrigin}${busy.path}?cors=0`)).toBe(false);
  expect(busy.hits()).toHaveLength(1);
});

test('B033 retries carry the same headers, cookies and referrer', async ({ site, open, context }) => {
  await context.addCookies([{ name: 'session', value: '1', url: site.url }]);
  const page = await open('quick');
  const wire = site.plan([{ status: 503 }, { reset: 'headers' }, { body: 'fine' }]);
  await page.evaluate(
    (url) => window.sf.get(url, { headers: { Authorization: 'Bearer x', 'X-A': '1', Accept: 'application/json' } }),
    wire.path,
  );
  const [first, ...later] = wire.hits();
  expect(later).toHaveLength(2);
  expect(header(first, 'cookie')).toBe('session=1');
  for (const hit of later) expect(hit.headers.toSorted()).toEqual(first?.headers.toSorted());
});
