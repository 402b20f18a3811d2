import type { Browser, Page } from '@playwright/test';
import type { Hit } from '../../demo/misbehaving-server.ts';
import { engineOf, expect, header, type Site, test } from '../support/browser.ts';

test('a first-try success costs no transaction, no message, no clone and no extended event', async ({
  site,
  open,
  engine,
}) => {
  const page = await open('cost');
  const counts = () =>
    page.evaluate(
      () =>
        new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = ({ data }) => resolve(data);
          navigator.serviceWorker.controller?.postMessage('counts', [port2]);
        }),
    );
  const wire = site.plan([{ body: 'fine' }]);
  await page.evaluate((url) => window.sf.get(url), wire.path);
  const before = await counts();
  for (let round = 0; round < 20; round++) {
    await page.evaluate(async (url) => {
      await window.sf.get(url);
      await window.sf.get(url, { method: 'HEAD' });
      await window.sf.get(url, { method: 'DELETE' });
    }, wire.path);
  }
  const after = (await counts()) as { readonly clones: number };
  // Firefox has no `Request.body`: that a DELETE has none cannot be seen, so it is kept as one that has, and its body is
  // measured if the answer takes a while.
  const most = engine === 'firefox' ? 2 * 20 : 0;
  expect(after).toEqual({ ...(before as object), clones: after.clones });
  expect(after.clones).toBeGreaterThanOrEqual(most / 2);
  expect(after.clones).toBeLessThanOrEqual(most);
  // When the worker was installed, and when the page said hello, which is noted.
  expect(before).toMatchObject({ transactions: 2, messages: 0, clones: 0 });
  // One for each of the two, and one more where the hello came before the outbox had been looked into.
  expect([2, 3]).toContain((before as { readonly waitUntils: number }).waitUntils);
});

/** One request of every kind that a page can make, under names that tell them apart at the server. */
async function askForEverything(page: Page, site: Site, wire: string): Promise<unknown> {
  return page.evaluate(
    async ({ wire, other }) => {
      const element = (tag: 'img' | 'script' | 'link' | 'iframe', attributes: Record<string, string>) =>
        new Promise<void>((resolve) => {
          const node = Object.assign(document.createElement(tag), { onload: resolve, onerror: resolve });
          for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
          document.body.append(node);
        });
      const xhr = (url: string) =>
        new Promise<void>((resolve) => {
          const request = new XMLHttpRequest();
          request.onloadend = () => resolve();
          request.open('GET', url);
          request.setRequestHeader('X-A', '1');
          request.send();
        });
      const seen = [
        await window.sf.get(`${wire}/fetch`),
        await window.sf.get(`${wire}/headers`, { headers: { Authorization: 'Bearer x', 'X-A': '1', Accept: 'a/b' } }),
        await window.sf.get(`${wire}/no-referrer`, { referrerPolicy: 'no-referrer' }),
        await window.sf.get(`${wire}/omit`, { credentials: 'omit', cache: 'no-store' }),
        await window.sf.get(`${wire}/keyed`, { method: 'POST', body: 'grüße', headers: { 'Idempotency-Key': 'k' } }),
        await window.sf.get(`${wire}/put`, { method: 'PUT', body: new Uint8Array(2_000) }),
        await window.sf.get(`${wire}/redirect`),
        await window.sf.get(`${wire}/range`, { headers: { Range: 'bytes=0-3' } }),
        await window.sf.get(`${other}/cors`),
        await window.sf.get(`${other}/no-cors`, { mode: 'no-cors' }),
      ];
      await xhr(`${wire}/xhr`);
      await element('img', { src: `${wire}/img` });
      await element('img', { src: `${other}/cross-img` });
      await element('script', { src: `${wire}/script` });
      await element('script', { src: `${wire}/module`, type: 'module' });
      await element('link', { href: `${wire}/style`, rel: 'stylesheet' });
      await element('iframe', { src: `${wire}/iframe` });
      return seen;
    },
    { wire, other: site.secondOrigin + wire },
  );
}

/** In Firefox the order is another each time, and an image becomes more urgent once it has been found to be seen. */
const settled = (headers: Hit['headers']) =>
  headers.filter(([name]) => name.toLowerCase() !== 'priority').toSorted(([a], [b]) => a.localeCompare(b));

/** What the server saw and what the page saw, under one worker. */
async function observe(browser: Browser, given: Site, worker: string) {
  // In WebKit workers are kept apart by the host only.
  const site = engineOf(browser) === 'webkit' ? { ...given, url: given.url.replace('//', `//${worker}-`) } : given;
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => 'sf' in window);
  await page.evaluate((url) => window.sf.connect(url), `/${worker}.sw.js`);
  // Every id has its own name; in what is compared it is a letter.
  const wire = site.plan([{ body: 'fine', headers: { 'X-From': 'server', 'cache-control': 'no-store' } }]);
  const seen = await askForEverything(page, site, wire.path);
  await page.goto(`${site.url}${wire.path}/navigation`);
  const nameless = (value: unknown) =>
    JSON.stringify(value, undefined, 1)
      .replaceAll(new URL(site.url).host, 'HOST')
      .replaceAll(wire.id, 'ID')
      // WebKit names it as the referrer of a document that it has fetched.
      .replaceAll(`${worker}.sw.js`, 'WORKER');
  const hits = wire.hits().map(({ method, url, origin, headers, body }) => ({
    method,
    url,
    origin,
    headers: engineOf(browser) === 'firefox' ? settled(headers) : headers,
    body: body.toString('latin1'),
  }));
  await context.close();
  return { seen: nameless(seen).replace(/"date": ".*"/g, '"date": ""'), hits: nameless(hits) };
}

test('what servers and pages see is the same to the letter as under a bare worker', async ({ browser, site }) => {
  const bare = await observe(browser, site, 'bare');
  const ours = await observe(browser, site, 'plain');
  expect(ours.seen).toBe(bare.seen);
  expect(ours.hits).toBe(bare.hits);
  // A comparison of nothing would pass, too.
  expect(JSON.parse(ours.hits).length).toBeGreaterThanOrEqual(18);
});

test('a redirected answer keeps its URL and type', async ({ site, open }) => {
  const page = await open();
  const target = site.plan([{ body: 'there' }]);
  const wire = site.plan([{ status: 503 }, { redirect: target.path }]);
  expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({
    body: 'there',
    url: site.url + target.path,
    redirected: true,
    type: 'basic',
  });
});

test('media, event streams and cache-only requests are not intercepted', async ({ site, open, engine }) => {
  const page = await open();
  const video = site.plan([{ status: 503 }]);
  const stream = site.plan([{ headers: { 'content-type': 'text/event-stream' }, body: 'data: 1\n\n' }]);
  await page.evaluate(
    async ({ video, stream }) => {
      const node = Object.assign(document.createElement('video'), { src: video });
      document.body.append(node);
      await new Promise((resolve) => node.addEventListener('error', resolve));
      const source = new EventSource(stream);
      await new Promise((resolve) => source.addEventListener('message', resolve));
      source.close();
    },
    { video: video.path, stream: stream.path },
  );
  // The browser itself asked: a request that came through a worker has no destination any more.
  // In WebKitGTK a worker is not told that it is a video, so it is retried as any other read.
  const asked = video.hits().map((hit) => header(hit, 'sec-fetch-dest'));
  expect(asked).toEqual(engine === 'webkit' ? Array(4).fill('empty') : ['video']);
  expect(stream.hits()).toHaveLength(1);
  const missed = await page.evaluate(() => window.sf.get('/nowhere', { cache: 'only-if-cached', mode: 'same-origin' }));
  // WebKit asks the network for it all the same.
  expect('error' in missed).toBe(engine !== 'webkit');
  if (engine !== 'webkit') expect(await page.evaluate(() => window.sf.events)).toEqual([]);
});
