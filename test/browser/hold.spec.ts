import { expect, stopWorker, test } from '../support/browser.ts';

const SVG = {
  headers: { 'content-type': 'image/svg+xml' },
  body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
};

test('row 57: a 503 with Retry-After in one tab holds the requests of every tab, but not images', async ({
  site,
  open,
}) => {
  const [first, second] = [await open(), await open()];
  const busy = site.plan([{ status: 503, retryAfter: 3 }, { body: 'fine' }]);
  const other = site.plan([{ body: 'other' }]);
  const image = site.plan([SVG]);
  const recovered = first.evaluate((url) => window.sf.get(url), busy.path);
  await expect.poll(() => busy.hits().length).toBe(1);
  await expect.poll(() => second.evaluate(() => window.sf.events)).toMatchObject([{ type: 'hold-started' }]);
  const held = second.evaluate((url) => window.sf.get(url), other.path);
  await second.evaluate(
    (src) => new Promise((resolve) => Object.assign(new Image(), { onload: resolve, onerror: resolve, src })),
    image.path,
  );
  const saidAt = busy.hits()[0]?.at ?? 0;
  expect(image.hits()[0]?.at).toBeLessThan(saidAt + 2_000);
  expect(other.hits()).toHaveLength(0);
  expect(await held).toMatchObject({ status: 200, body: 'other' });
  expect(await recovered).toMatchObject({ status: 200, body: 'fine' });
  expect(other.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 3_000);
  expect(other.hits()[0]?.at).toBeLessThan(saidAt + 6_000);
  // The end of the hold is told to all tabs, the release to this one; which comes first is anybody's guess.
  await expect
    .poll(() => second.evaluate(() => window.sf.events.map(({ type }) => type).sort()))
    .toEqual(['hold-ended', 'hold-started', 'recovered', 'released', 'waiting']);
});

test('the hold survives the worker', async ({ site, open }) => {
  const page = await open('impatient-of-holds');
  const busy = site.plan([{ status: 503, retryAfter: 4, body: 'busy' }]);
  // Its own limit is 1 s, so it gives up at once and leaves the hold to others.
  expect(await page.evaluate((url) => window.sf.get(url), `${busy.path}?short`)).toMatchObject({ status: 503 });
  const saidAt = busy.hits()[0]?.at ?? 0;
  await page.waitForTimeout(1_000);
  await stopWorker(page);
  const other = site.plan([{ body: 'other' }]);
  expect(await page.evaluate((url) => window.sf.get(url), other.path)).toMatchObject({ status: 200, body: 'other' });
  expect(other.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 4_000);
});

test('a request that has less time goes through once, without retries', async ({ site, open }) => {
  const page = await open('impatient-of-holds');
  const busy = site.plan([{ status: 503, retryAfter: 4 }]);
  await page.evaluate((url) => window.sf.get(url), `${busy.path}?short`);
  const other = site.plan([{ status: 503, body: 'still busy' }]);
  const startedAt = Date.now();
  expect(await page.evaluate((url) => window.sf.get(url), `${other.path}?short`)).toMatchObject({ status: 503 });
  expect(Date.now() - startedAt).toBeLessThan(1_500);
  expect(other.hits()).toHaveLength(1);
});

test('one that goes through and is answered well ends the hold for all', async ({ site, open }) => {
  const page = await open('impatient-of-holds');
  const busy = site.plan([{ status: 503, retryAfter: 10 }]);
  await page.evaluate((url) => window.sf.get(url), `${busy.path}?short`);
  const probe = site.plan([{ body: 'back' }]);
  await page.evaluate((url) => window.sf.get(url), `${probe.path}?short`);
  const other = site.plan([{ body: 'fine' }]);
  const startedAt = Date.now();
  expect(await page.evaluate((url) => window.sf.get(url), other.path)).toMatchObject({ status: 200 });
  expect(Date.now() - startedAt).toBeLessThan(2_000);
});

test('a 429 on one path leaves the other paths alone; on two paths it holds them all', async ({ site, open }) => {
  const page = await open('impatient-of-holds');
  const limited = [1, 2].map(() => site.plan([{ status: 429, retryAfter: 3 }]));
  const free = [1, 2].map(() => site.plan([{ body: 'fine' }]));
  const get = (url: string) => page.evaluate((path) => window.sf.get(path), url);
  await get(`${limited[0]?.path}?short`);
  const startedAt = Date.now();
  await get(free[0]?.path ?? '');
  expect(Date.now() - startedAt).toBeLessThan(1_500);
  await get(`${limited[1]?.path}?short`);
  const saidAt = limited[1]?.hits()[0]?.at ?? 0;
  await get(free[1]?.path ?? '');
  expect(free[1]?.hits()[0]?.at).toBeGreaterThanOrEqual(saidAt + 3_000);
});
