import type { Page } from '@playwright/test';
import { abortError, expect, header, stopWorker, test } from '../support/browser.ts';

const counters = async (page: Page) => (await page.evaluate(() => window.sf.retries?.status()))?.counters;

test('row 58: a call may ask for fewer attempts, in a fragment that nobody else sees', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  const seen = await page.evaluate((path) => window.sf.ask(`${path}?a=1#part`, { retry: { attempts: 2 } }), wire.path);
  expect(seen).toMatchObject({ status: 503, url: `${site.url}${wire.path}?a=1` });
  expect(wire.hits().map(({ url }) => url)).toEqual([`${wire.path}?a=1`, `${wire.path}?a=1`]);
  const alone = site.plan([{ status: 503 }]);
  for (const retry of [{ attempts: 1 }, false] as const) {
    await page.evaluate(({ path, retry }) => window.sf.ask(path, { retry }), { path: alone.path, retry });
  }
  expect(alone.hits()).toHaveLength(2);
});

test('so may XHR, and a call to another origin is not preflighted for it', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }]);
  const status = await page.evaluate(
    (path) =>
      new Promise<number>((resolve) => {
        const xhr = new XMLHttpRequest();
        xhr.open('GET', window.sf.withRetry(path, { attempts: 2 }));
        xhr.onloadend = () => resolve(xhr.status);
        xhr.send();
      }),
    wire.path,
  );
  expect([status, wire.hits().length]).toEqual([503, 2]);
  const far = site.plan([{ status: 503 }]);
  await page.evaluate((url) => window.sf.ask(url, { retry: { attempts: 2 } }), site.secondOrigin + far.path);
  expect(far.hits().map(({ method }) => method)).toEqual(['GET', 'GET']);
});

test('S07 the page itself may ask for more; a URL that somebody gave to it may not', async ({ site, open }) => {
  const page = await open('calls');
  const post = { method: 'POST', body: 'order' };
  const ours = site.plan([{ status: 503 }, { body: 'done' }]);
  const seen = await page.evaluate(
    ({ path, post }) => window.sf.ask(path, { ...post, retry: { retryNonIdempotent: true } }),
    { path: ours.path, post },
  );
  expect(seen).toMatchObject({ status: 200, body: 'done' });
  expect(ours.hits().map(({ body }) => body.toString())).toEqual(['order', 'order']);
  for (const fragment of ['#~sf=u1', '#~sf=u1.nguess', '#~sf=a9.u1.n00000000-0000-0000-0000-000000000000']) {
    const theirs = site.plan([{ status: 503 }]);
    await page.evaluate(({ path, post }) => window.sf.get(path, post), { path: theirs.path + fragment, post });
    expect(theirs.hits()).toHaveLength(1);
  }
  const more = site.plan([{ status: 503 }]);
  await page.evaluate((path) => window.sf.get(`${path}#~sf=a9`), more.path);
  expect(more.hits()).toHaveLength(4);
});

test('what the page asks for counts in a worker that was just started, too', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }, { body: 'done' }]);
  await stopWorker(page);
  const seen = await page.evaluate(
    (path) => window.sf.ask(path, { method: 'POST', body: 'x', retry: { retryNonIdempotent: true } }),
    wire.path,
  );
  expect(seen).toMatchObject({ status: 200, body: 'done' });
  expect(wire.hits()).toHaveLength(2);
});

test('a wrong option is refused by name, and nothing is sent', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ body: 'fine' }]);
  const seen = await page.evaluate((path) => window.sf.ask(path, { retry: { attempts: 0 } }), wire.path);
  expect(seen).toMatchObject({ error: expect.stringContaining('retry.attempts must be a whole number from 1') });
  expect(wire.hits()).toHaveLength(0);
});

test('where somebody’s own routes look at the whole URL, what a call asks for goes by message', async ({
  site,
  open,
}) => {
  const page = await open('neighbour');
  const wire = site.plan([{ status: 503, body: 'data' }]);
  const url = `${wire.path}/data.json`;
  const left = await page.evaluate((path) => window.sf.ask(path, { retry: false }), url);
  expect(left).toMatchObject({ status: 200, body: 'data by workbox' });
  expect(wire.hits()).toHaveLength(1);
  const fewer = await page.evaluate((path) => window.sf.ask(path, { retry: { attempts: 2 } }), url);
  expect(fewer).toMatchObject({ status: 503 });
  expect(wire.hits()).toHaveLength(3);
  // And what is left alone is theirs to answer.
  expect(await page.evaluate(() => window.sf.get('/own/x'))).toMatchObject({ body: 'their own' });
});

test('row 58: an abort ends a wait: nothing more is sent, and the page sees its own reason', async ({
  site,
  open,
  engine,
}) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }]);
  const error = await page.evaluate(async (path) => {
    const controller = new AbortController();
    const answer = window.sf.retries?.fetch(`${path}?long`, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 500));
    controller.abort('changed my mind');
    return answer?.then(() => 'answered', String);
  }, wire.path);
  expect(error).toBe(abortError(engine, 'changed my mind'));
  await expect.poll(async () => (await counters(page))?.gaveUp).toEqual({ aborted: 1 });
  expect(wire.hits()).toHaveLength(1);
});

test('an abort after the headers closes the socket', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ endless: true }]);
  await page.evaluate(async (path) => {
    const controller = new AbortController();
    const answer = await window.sf.retries?.fetch(path, { signal: controller.signal });
    await answer?.body?.getReader().read();
    controller.abort();
  }, wire.path);
  await expect.poll(() => wire.hits()[0]?.closedAt).toBeDefined();
  expect(wire.hits()).toHaveLength(1);
});

test('retryNow ends a wait of ours, not one that the server asked for', async ({ site, open }) => {
  const page = await open('calls');
  const ours = site.plan([{ status: 503 }, { body: 'fine' }]);
  const answer = page.evaluate((path) => window.sf.get(`${path}?long`), ours.path);
  await expect.poll(() => ours.hits().length).toBe(1);
  await expect.poll(() => page.evaluate(() => window.sf.told.length)).toBe(1);
  expect(await page.evaluate(() => window.sf.retries?.retryNow())).toBe(true);
  expect(await answer).toMatchObject({ body: 'fine' });
  const [first, second] = ours.hits();
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(5_000);

  const theirs = site.plan([{ status: 503, retryAfter: 2 }, { body: 'fine' }]);
  const later = page.evaluate((path) => window.sf.get(path), theirs.path);
  await expect.poll(() => theirs.hits().length).toBe(1);
  await page.waitForTimeout(1_000);
  await page.evaluate(() => window.sf.retries?.retryNow());
  expect(await later).toMatchObject({ body: 'fine' });
  expect((theirs.hits()[1]?.at ?? 0) - (theirs.hits()[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test('pause leaves requests alone in every tab, also after the worker was stopped, until resume', async ({
  site,
  open,
  context,
}) => {
  const page = await open('calls');
  const other = await context.newPage();
  await other.goto(site.url);
  const hitsOf = async (from: Page) => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    await from.evaluate((path) => window.sf.get(path), wire.path);
    return wire.hits().length;
  };
  expect(await page.evaluate(() => window.sf.retries?.pause())).toBe(true);
  expect([await hitsOf(page), await hitsOf(other)]).toEqual([1, 1]);
  await page.waitForTimeout(200);
  await stopWorker(page);
  await page.evaluate(() => window.sf.retries?.status());
  expect(await hitsOf(page)).toBe(1);
  expect(await page.evaluate(() => window.sf.retries?.resume())).toBe(true);
  expect([await hitsOf(page), await hitsOf(other)]).toEqual([2, 2]);
});

test('reset forgets budgets, holds and circuits', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503, retryAfter: 60 }, { body: 'fine' }]);
  await page.evaluate((path) => window.sf.get(path), wire.path);
  const origins = () => page.evaluate(() => window.sf.retries?.status().then((status) => status?.origins.length));
  expect(await origins()).toBe(1);
  expect(await page.evaluate((origin) => window.sf.retries?.reset(origin), 'https://else.test')).toBe(true);
  expect(await origins()).toBe(1);
  await page.evaluate(() => window.sf.retries?.reset());
  expect(await origins()).toBe(0);
  await stopWorker(page);
  expect(await origins()).toBe(0);
});

test('S24 retire leaves no registration, no database and no channel, and plain fetches at once', async ({
  site,
  open,
}) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }]);
  await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(await page.evaluate(() => window.sf.retries?.retire())).toBe(true);
  const after = site.plan([{ status: 503 }]);
  await page.evaluate((path) => window.sf.get(path), after.path);
  expect(after.hits()).toHaveLength(1);
  // The worker writes behind: nothing comes back.
  await page.waitForTimeout(1_500);
  const left = await page.evaluate(async () => ({
    registrations: (await navigator.serviceWorker.getRegistrations()).length,
    databases: (await indexedDB.databases()).map(({ name }) => name),
    heard: await new Promise((resolve) => {
      const channel = new BroadcastChannel('steadfetch');
      channel.onmessage = ({ data }) => resolve(data);
      setTimeout(() => resolve(undefined), 300);
    }),
  }));
  expect(left).toEqual({ registrations: 0, databases: [], heard: undefined });
});

test('observe changes no request, and counts what would have been', async ({ site, open }) => {
  const page = await open('calls.sw.js?observe');
  const wire = site.plan([{ status: 503, body: 'busy' }, { reset: 'headers' }, { status: 404 }, { body: 'fine' }]);
  const seen: unknown[] = [];
  for (let request = 0; request < 4; request += 1)
    seen.push(await page.evaluate((path) => window.sf.get(path), wire.path));
  expect(seen).toMatchObject([
    { status: 503, body: 'busy' },
    { error: expect.any(String) },
    { status: 404 },
    { status: 200 },
  ]);
  expect(wire.hits()).toHaveLength(4);
  expect(await counters(page)).toMatchObject({ observed: { retry: 2, deliver: 2 }, retries: 0 });
  expect(await page.evaluate(() => window.sf.events)).toEqual([]);
});

test('sample: a share of the pages has retries, the others are left alone', async ({ site, open }) => {
  const none = await open('calls.sw.js?sample=0');
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await none.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 503 });
  expect(wire.hits()).toHaveLength(1);
});

test('patched, the page’s own fetch carries aborts and what a call asks for', async ({ site, open }) => {
  const page = await open('calls');
  await page.evaluate(() => window.sf.connect('/calls.sw.js', { patchFetch: true }));
  const wire = site.plan([{ status: 503 }]);
  await page.evaluate(
    (path) => fetch(path, { retryOptions: { maxAttempts: 1 } } as RequestInit).catch(() => {}),
    wire.path,
  );
  await page.evaluate((path) => fetch(path, { retry: { attempts: 2 } } as RequestInit), wire.path);
  expect(wire.hits()).toHaveLength(4);
});

test('a Request keeps what it is, with a body and without', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }]);
  await page.evaluate(async (path) => {
    const headers = { 'X-A': '1', 'Idempotency-Key': 'k' };
    await window.sf.retries?.fetch(new Request(path, { headers }), { retry: { attempts: 2 } });
    const put = new Request(path, { method: 'PUT', headers, body: 'bytes' });
    await window.sf.retries?.fetch(put, { retry: { attempts: 2 } });
    const last = new Request(path, { method: 'PUT', headers, body: 'last', keepalive: true });
    await window.sf.retries?.fetch(last, { retry: { attempts: 2 } });
  }, wire.path);
  expect(wire.hits().map((hit) => [hit.method, header(hit, 'x-a'), hit.body.toString()])).toEqual([
    ['GET', '1', ''],
    ['GET', '1', ''],
    ['PUT', '1', 'bytes'],
    ['PUT', '1', 'bytes'],
    ['PUT', '1', 'last'],
    ['PUT', '1', 'last'],
  ]);
});

test('S16 at most twenty events a second are told, and the rest is counted', async ({ site, open }) => {
  const page = await open('calls');
  const wire = site.plan([{ status: 503 }]);
  await page.evaluate(
    (path) =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) => window.sf.ask(`${path}?${index}`, { retry: { attempts: 2 } })),
      ),
    wire.path,
  );
  const events = () => page.evaluate(() => window.sf.told);
  // Those of one request: a wait, and its end.
  await expect.poll(async () => (await events()).length + ((await counters(page))?.untold ?? 0)).toBe(80);
  const told = await events();
  const began = told.filter(({ at, type }) => type === 'retry-scheduled' && at < (told[0]?.at ?? 0) + 900);
  expect(began.length).toBeLessThanOrEqual(20);
  // Whoever was told of a wait is told of its end.
  const ended = new Set(told.filter(({ type }) => type === 'gave-up').map(({ id }) => id));
  for (const { id } of began) expect(ended).toContain(id);
});
