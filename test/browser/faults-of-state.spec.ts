import type { Page } from '@playwright/test';
import { abortError, can, expect, stopWorker, test } from '../support/browser.ts';
import { type OwnServer, ownServer, pieces } from '../support/own-server.ts';

// What people reported of other layers’ circuits, budgets, databases, events and aborts, against a real server.

const servers: OwnServer[] = [];
const serve = async (...args: Parameters<typeof ownServer>) => {
  const server = await ownServer(...args);
  servers.push(server);
  return server;
};

test.afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const get = (page: Page, url: string) => page.evaluate((url) => window.sf.get(url), url);
const REFUSED = { status: 503, body: expect.stringContaining('urn:steadfetch:circuit-open') };

/** Fails twice, each at a time of its own, which opens the circuit of the worker `reject` for 1.5 s. */
async function openCircuit(page: Page, url: string): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    expect(await get(page, url)).toMatchObject({ status: 503, body: 'busy' });
    await page.waitForTimeout(20);
  }
  expect(await get(page, url)).toMatchObject(REFUSED);
}

test('B063 of ten that come when it is half-open one is sent, and the others are refused at once', async ({
  site,
  open,
}) => {
  const page = await open('reject');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  await openCircuit(page, wire.path);
  await page.waitForTimeout(1_600);
  site.replan(wire.id, [{ status: 503, body: 'busy', delayMs: 500 }]);
  const answers = await page.evaluate(async (path) => {
    const startedAt = performance.now();
    const one = async () => {
      const seen = await window.sf.get(path);
      return { refused: 'body' in seen && seen.body !== 'busy', tookMs: performance.now() - startedAt };
    };
    return Promise.all(Array.from({ length: 10 }, one));
  }, wire.path);
  expect(wire.hits()).toHaveLength(1);
  const refused = answers.filter((answer) => answer.refused);
  const [probe] = answers.filter((answer) => !answer.refused);
  expect(refused).toHaveLength(9);
  for (const { tookMs } of refused) expect(tookMs).toBeLessThan(probe?.tookMs ?? 0);
});

test('B064 a probe that hangs gives its place back, and the next one closes the circuit', async ({ site, open }) => {
  const page = await open('reject.sw.js?probe');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  await openCircuit(page, wire.path);
  await page.waitForTimeout(1_600);
  site.replan(wire.id, [{ stall: 'headers' }, { body: 'fine' }]);
  // A URL of its own each: the browser's cache would let the second wait for the first.
  await page.evaluate((path) => void window.sf.get(path), `${wire.path}?hangs`);
  await expect.poll(() => wire.hits().length).toBe(1);
  expect(await get(page, wire.path)).toMatchObject(REFUSED);
  await page.waitForTimeout(2_100);
  expect(await get(page, wire.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(await get(page, wire.path)).toMatchObject({ status: 200, body: 'fine' });
});

test('B071 another port of the same host is another service', async ({ site, open }) => {
  const page = await open('reject');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  const other = await serve((res) => void res.end('other'));
  await openCircuit(page, wire.path);
  const url = new URL(other.url);
  url.hostname = new URL(site.url).hostname;
  expect(await get(page, url.href)).toMatchObject({ status: 200, body: 'other' });
  expect(await get(page, wire.path)).toMatchObject(REFUSED);
});

test('B077 what waits to be sent again is paid for: of ten that fail together two wait, and eight do not', async ({
  site,
  open,
}) => {
  const page = await open('scarce');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  await page.evaluate((path) => Promise.all(Array.from({ length: 10 }, () => window.sf.get(path))), wire.path);
  expect(wire.hits()).toHaveLength(12);
  const told = (of: 'retry-scheduled' | 'gave-up') =>
    page.evaluate((of) => window.sf.told.filter(({ type }) => type === of), of);
  await expect.poll(() => told('gave-up')).toHaveLength(10);
  expect(await told('retry-scheduled')).toHaveLength(2);
  const unpaid = (await told('gave-up')).filter((event) => 'reason' in event && event.reason === 'budget');
  expect(unpaid).toMatchObject(Array(8).fill({ attempts: 1 }));
});

test('B109 twenty requests that fail at a cold start open the database once', async ({ site, open }) => {
  const page = await open('cost');
  const wires = Array.from({ length: 20 }, () => site.plan([{ status: 503 }, { body: 'fine' }]));
  await stopWorker(page);
  const answers = await page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  const counts = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        navigator.serviceWorker.controller?.postMessage('counts', [port2]);
      }),
  );
  expect(counts).toMatchObject({ opens: 1, transactions: expect.any(Number) });
});

test('B116 what is told of a navigation is told to the page that comes, not to the one that goes', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const html = '<!doctype html><script type="module" src="/page.ts"></script>';
  const wire = site.plan([{ status: 503 }, { headers: { 'content-type': 'text/html' }, body: html }]);
  await page.evaluate((url) => {
    addEventListener('pagehide', () => sessionStorage.setItem('told', JSON.stringify(window.sf.told)));
    location.href = url;
  }, `${wire.path}?base-500`);
  await expect.poll(() => wire.hits().length).toBe(2);
  await page.waitForFunction(() => location.search === '?base-500' && 'sf' in window);
  await page.evaluate(() => window.sf.connect('/faults.sw.js'));
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([
      { type: 'retry-scheduled', status: 503 },
      { type: 'recovered', attempts: 2 },
    ]);
  expect(await page.evaluate(() => sessionStorage.getItem('told'))).toBe('[]');
});

test('row 54 and B117: of three tabs the one that asked hears of each retry once, the others of none', async ({
  site,
  open,
}) => {
  const [first, second, third] = [await open('faults'), await open('faults'), await open('faults')];
  const wire = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
  expect(await get(second, wire.path)).toMatchObject({ status: 200 });
  await expect
    .poll(() => second.evaluate(() => window.sf.told))
    .toMatchObject([
      { type: 'retry-scheduled', attempt: 1 },
      { type: 'retry-scheduled', attempt: 2 },
      { type: 'recovered', attempts: 3 },
    ]);
  await second.waitForTimeout(200);
  expect(await second.evaluate(() => window.sf.told.length)).toBe(3);
  for (const other of [first, third]) expect(await other.evaluate(() => window.sf.told)).toEqual([]);
});

/** Asks for what never comes, and calls it off after 300 ms. */
const askAndAbort = (page: Page, path: string) =>
  page.evaluate(async (path) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort('changed my mind'), 300);
    const error = await window.sf.retries?.fetch(path, { signal: controller.signal }).then(() => 'answered', String);
    return { error, at: Date.now() };
  }, path);

/** Asks for what never comes from a frame, and takes the frame away 300 ms later. */
const askAndLeave = (page: Page, path: string) =>
  page.evaluate(async (path) => {
    const frame = document.createElement('iframe');
    frame.src = '/';
    const loaded = new Promise((resolve) => {
      frame.onload = resolve;
    });
    document.body.append(frame);
    await loaded;
    void frame.contentWindow?.fetch(path);
    await new Promise((resolve) => setTimeout(resolve, 300));
    frame.remove();
    return { at: Date.now() };
  }, path);

test('B043 a page that calls a request off before its headers closes its connection, where the route allows it', async ({
  site,
  open,
  engine,
}) => {
  const page = await open('timing');
  const wire = site.plan([{ stall: 'headers' }]);
  const { error, at } = await askAndAbort(page, `${wire.path}?cut`);
  expect(error).toBe(abortError(engine, 'changed my mind'));
  await expect.poll(() => wire.hits()[0]?.closedAt).toBeDefined();
  expect((wire.hits()[0]?.closedAt ?? 0) - at).toBeLessThan(1_000);
  await page.waitForTimeout(1_000);
  expect(wire.hits()).toHaveLength(1);
});

for (const [how, leave] of [
  ['calls it off', askAndAbort],
  ['has gone', askAndLeave],
] as const) {
  test(`B043 nothing is sent again of a page that ${how}`, async ({ site, open }) => {
    // Its attempts are overdue after 500 ms, and the next follows after 100.
    const page = await open('timing');
    const wire = site.plan([{ stall: 'headers' }]);
    await leave(page, wire.path);
    await page.waitForTimeout(1_500);
    expect(wire.hits()).toHaveLength(1);
  });

  // A first attempt is the page's own request, as it is: no signal of a page reaches a worker, and one of ours would
  // rebuild the request, which costs it its `sec-ch-ua` headers. So nothing can end it before its answer begins.
  test(`B043 with all defaults the connection of a page that ${how} is closed as soon as headers come`, async ({
    site,
    open,
  }) => {
    const page = await open('calls');
    const wire = site.plan([{ delayMs: 2_500, endless: true }]);
    const { at } = await leave(page, wire.path);
    await page.waitForTimeout(1_500 - (Date.now() - at));
    expect(wire.hits().map(({ closedAt }) => closedAt)).toEqual([undefined]);
    const closes = leave !== askAndLeave || can(page.context(), 'late-answer-of-frame');
    if (closes) {
      await expect.poll(() => wire.hits()[0]?.closedAt, { timeout: 5_000 }).toBeDefined();
      const [hit] = wire.hits();
      // Timers of servers are early by a few milliseconds at times.
      expect((hit?.closedAt ?? 0) - (hit?.at ?? 0)).toBeGreaterThanOrEqual(2_500 - 20);
      expect((hit?.closedAt ?? 0) - (hit?.at ?? 0)).toBeLessThan(3_500);
    }
    await page.waitForTimeout(closes ? 500 : 2_000);
    expect(wire.hits()).toHaveLength(1);
  });
}

for (const marker of ['plain', 'cut', 'hedge']) {
  test(`B046 a body that pauses for longer than an attempt may take is one body, of one attempt: ${marker}`, async ({
    open,
  }) => {
    const page = await open('timing');
    const slow = await serve(async (res, n) => {
      if (n > 1) return void res.end('hello');
      res.writeHead(200, { 'Content-Length': '5' });
      await pieces(res, [
        { afterMs: 1, text: 'h' },
        { afterMs: 1_000, text: 'ello' },
      ]);
      res.end();
    });
    expect(await get(page, `${slow.url}?${marker}`)).toMatchObject({ status: 200, body: 'hello' });
    expect(slow.visits).toHaveLength(1);
  });
}
