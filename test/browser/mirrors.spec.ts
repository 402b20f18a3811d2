import type { BrowserContext, Page } from '@playwright/test';
import { expect, header, type Site, test } from '../support/browser.ts';

type Open = (worker?: string) => Promise<Page>;
const openMirrored = (open: Open, site: Site) => open(`mirrors.sw.js?mirror=${encodeURIComponent(mirrorOf(site))}`);

/** Of the same site as the page, so that cookies are sent to it where they may be. */
const mirrorOf = ({ secondOrigin }: Site) => secondOrigin.replace('127.0.0.1', 'localhost');

const signIn = (context: BrowserContext, site: Site) =>
  context.addCookies([site.url, mirrorOf(site)].map((at) => ({ name: 'session', value: 's', url: at })));

const SECRETS = { Authorization: 'Bearer s', 'X-Api-Key': 'k', 'X-Version': '2' };

test('S26 no cookie, no Authorization and no key reaches a mirror', async ({ site, open, context }) => {
  await signIn(context, site);
  const page = await openMirrored(open, site);
  const wire = site.plan([{ reset: 'headers' }, { body: 'from the mirror' }]);
  const seen = await page.evaluate(
    ({ path, headers }) => window.sf.get(`${path}?a=1`, { headers, credentials: 'include' }),
    { path: wire.path, headers: SECRETS },
  );
  expect(seen).toMatchObject({ status: 200, body: 'from the mirror', url: `${mirrorOf(site)}${wire.path}?a=1` });
  const names = ['cookie', 'authorization', 'x-api-key', 'x-version'];
  expect(wire.hits().map((hit) => [hit.origin, ...names.map((name) => header(hit, name))])).toEqual([
    ['first', 'session=s', 'Bearer s', 'k', '2'],
    ['second', null, null, null, null],
  ]);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([{ type: 'retry-scheduled', mirror: mirrorOf(site) }, { type: 'recovered' }]);
});

test('they do where the route trusts it', async ({ site, open, context }) => {
  await signIn(context, site);
  const page = await openMirrored(open, site);
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  const seen = await page.evaluate(
    ({ path, headers }) => window.sf.get(`${path}?trusted`, { headers, credentials: 'include' }),
    { path: wire.path, headers: SECRETS },
  );
  expect(seen).toMatchObject({ status: 200, body: 'fine' });
  const second = wire.hits().at(-1);
  expect([second?.origin, header(second, 'cookie'), header(second, 'authorization')]).toEqual([
    'second',
    'session=s',
    'Bearer s',
  ]);
});

test('an origin whose circuit is open is passed over', async ({ site, open }) => {
  const page = await openMirrored(open, site);
  const broken = site.plan([{ reset: 'headers' }]);
  // Both fail, and the request's last attempt was the mirror's: its circuit opens.
  expect(await page.evaluate((path) => window.sf.get(path), broken.path)).toHaveProperty('error');
  expect(broken.hits().map(({ origin }) => origin)).toEqual(['first', 'second']);
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
  expect(wire.hits().map(({ origin }) => origin)).toEqual(['first', 'first']);
});

test('an image comes from the mirror, a navigation does not', async ({ site, open }) => {
  const page = await openMirrored(open, site);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
  const wire = site.plan([{ reset: 'headers' }, { body: svg, headers: { 'content-type': 'image/svg+xml' } }]);
  const width = await page.evaluate(
    (src) =>
      new Promise<number>((resolve, reject) => {
        const image = new Image();
        image.onload = () => resolve(image.naturalWidth);
        image.onerror = () => reject(new Error('no image'));
        image.src = src;
      }),
    wire.path,
  );
  expect(width).toBe(7);
  expect(wire.hits().map(({ origin }) => origin)).toEqual(['first', 'second']);
  const html = site.plan([
    { reset: 'headers' },
    { body: '<title>page</title>', headers: { 'content-type': 'text/html' } },
  ]);
  await page.goto(site.url + html.path);
  expect(await page.title()).toBe('page');
  expect(html.hits().map(({ origin }) => origin)).toEqual(['first', 'first']);
});
