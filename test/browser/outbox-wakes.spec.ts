import type { BrowserContext, CDPSession, Page } from '@playwright/test';
import { control, expect, needs, type Site, test } from '../support/browser.ts';
import {
  bodies,
  eventsOf,
  goOffline,
  goOnline,
  keepOffline,
  killer,
  list,
  sendNow,
  stored,
} from '../support/outbox.ts';

// What sets the sending going, and that it is done once.

/** The browser's sync event, whenever a test wants it; resolves to whether the worker said that all was sent. */
async function syncs(page: Page, site: Site) {
  needs(page.context(), 'background-sync');
  const cdp: CDPSession = await page.context().newCDPSession(page);
  let registrationId = '';
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    registrationId = registrations.at(-1)?.registrationId ?? registrationId;
  });
  await cdp.send('ServiceWorker.enable');
  return (lastChance = false) =>
    cdp.send('ServiceWorker.dispatchSyncEvent', {
      origin: site.url,
      registrationId,
      tag: 'steadfetch-outbox',
      lastChance,
    });
}

/** What the fixture has seen of the sync events that it was given: when each began, and how it ended. */
const synced = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<{ lastChance: boolean; at: number; endedAt?: number; failed?: boolean }[]>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data.syncs);
        navigator.serviceWorker.controller?.postMessage('syncs', [port2]);
      }),
  );
const pauseAll = (page: Page, on: boolean) =>
  page.evaluate((on) => (on ? window.sf.retries?.pause() : window.sf.retries?.resume()), on);
const registered = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data.registered);
        navigator.serviceWorker.controller?.postMessage('syncs', [port2]);
      }),
  );

test('B102 a sync event lives until the last of five answers has come', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const sync = await syncs(page, site);
  const wire = site.plan([{ status: 201, delayMs: 300 }]);
  await keepOffline(page, `${wire.path}?box`, ['1', '2', '3', '4', '5']);
  await goOnline(page, { send: false });
  await sync();
  await expect.poll(async () => (await synced(page))[0]?.endedAt).toBeDefined();
  const [event] = await synced(page);
  expect(event).toMatchObject({ failed: false });
  expect(bodies(wire)).toEqual(['1', '2', '3', '4', '5']);
  const last = wire.hits().at(-1);
  expect(last?.complete).toBe(true);
  expect(event?.endedAt).toBeGreaterThanOrEqual((last?.at ?? 0) + 290);
});

test('B094 a sync event fails as long as something is left, so that the browser comes again', async ({
  site,
  open,
}) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const sync = await syncs(page, site);
  const wire = site.plan([{ reset: 'headers' }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page, { send: false });
  await sync();
  await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', sends: 1 }]);
  // It would wait for the next time that is due.
  await pauseAll(page, true);
  await expect.poll(() => synced(page)).toMatchObject([{ failed: true, endedAt: expect.any(Number) }]);
  await pauseAll(page, false);
  site.replan(wire.id, [{ status: 201 }]);
  await sync();
  await expect.poll(() => bodies(wire)).toEqual(['a']);
  await expect.poll(() => synced(page)).toMatchObject([{ failed: true }, { failed: false }]);
});

test('B094 at the last chance that the browser gives, it is asked anew', async ({ site, open }) => {
  const page = await open('outbox');
  const sync = await syncs(page, site);
  const wire = site.plan([{ reset: 'headers' }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page, { send: false });
  const before = await registered(page);
  expect(before).toBeGreaterThanOrEqual(1);
  await sync(true);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', sends: 1 }]);
  await pauseAll(page, true);
  await expect.poll(() => registered(page)).toBe(before + 1);
  await expect
    .poll(async () => (await synced(page)).filter(({ lastChance }) => lastChance))
    .toMatchObject([{ failed: false }]);
  await pauseAll(page, false);
  site.replan(wire.id, [{ status: 201 }]);
  await sendNow(page);
  await expect.poll(() => bodies(wire)).toEqual(['a']);
});

test('B097 two entries that were sent in vain are whole when they are sent again', async ({ site, open }) => {
  const page = await open('outbox');
  const wires = [site.plan([{ reset: 'headers' }]), site.plan([{ status: 502 }])];
  const body = 'x'.repeat(5_000);
  for (const { path } of wires) await keepOffline(page, `${path}?free`, [body]);
  await goOnline(page);
  await expect
    .poll(async () => (await list(page)).map(({ sends, state }) => `${sends} ${state}`))
    .toEqual(['1 waiting', '1 waiting']);
  expect(await page.evaluate(() => window.sf.retries?.outbox.depth())).toBe(2);
  for (const { id } of wires) site.replan(id, [{ status: 201 }]);
  await expect
    .poll(async () => {
      await sendNow(page);
      return wires.map((wire) => bodies(wire).join());
    })
    .toEqual([body, body]);
});

test('B092 and B104 whoever asks how often: each entry goes once, and the next when it was answered', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const other = await open('outbox');
  const sync = await syncs(page, site);
  const wire = site.plan([{ status: 201, delayMs: 300 }]);
  await keepOffline(page, `${wire.path}?box`, ['create', 'update', 'remove']);
  await goOnline(page, { send: false });
  await Promise.all([
    sync(),
    sendNow(page),
    sendNow(other),
    other.evaluate(() => window.sf.retries?.retryNow()),
    page.evaluate(() => void dispatchEvent(new Event('online'))),
  ]);
  await expect.poll(async () => (await list(page)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent']);
  expect(bodies(wire)).toEqual(['create', 'update', 'remove']);
  const hits = wire.hits();
  for (const [index, hit] of hits.slice(1).entries())
    expect(hit.at).toBeGreaterThanOrEqual((hits[index]?.at ?? 0) + 290);
});

async function openUnder(scope: string, context: BrowserContext, site: Site): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.url + scope);
  await control(page, site, 'outbox.sw.js', scope);
  return page;
}

test('B092 two workers of one origin and two tabs each: what either keeps is sent once', async ({ site, context }) => {
  // Four pages have to be opened, and two workers installed.
  test.setTimeout(90_000);
  const pages = [
    await openUnder('/a/', context, site),
    await openUnder('/b/', context, site),
    await openUnder('/a/', context, site),
    await openUnder('/b/', context, site),
  ] as const;
  const wire = site.plan([{ status: 201, delayMs: 50 }]);
  for (const page of pages.slice(0, 2)) await goOffline(page);
  for (let n = 0; n < 5; n += 1) {
    await keepOffline(pages[0], `${wire.path}?box`, [`a${n}`]);
    await keepOffline(pages[1], `${wire.path}?free`, [`b${n}`]);
  }
  await Promise.all(pages.map((page) => goOnline(page)));
  await expect.poll(async () => (await stored(pages[0])).every(({ state }) => state === 'sent')).toBe(true);
  const came = bodies(wire);
  expect(came.toSorted()).toEqual([0, 1, 2, 3, 4].flatMap((n) => [`a${n}`, `b${n}`]).toSorted());
  expect(came.filter((body) => body.startsWith('a'))).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
});

test('B106 where nothing else happens, an open page has the worker send what waits', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page, { send: false });
  // Every 10 s.
  await expect.poll(() => bodies(wire), { timeout: 13_000 }).toEqual(['a']);
});

for (const fault of ['no-sync', 'sync-refused']) {
  /** A page of which the outbox keeps a request, and whose worker is stopped. */
  const keptAndStopped = async (site: Site, open: (worker: string) => Promise<Page>, context: BrowserContext) => {
    if (fault === 'sync-refused') needs(context, 'background-sync');
    needs(context, 'stop-worker');
    const page = await open(`outbox.sw.js?fault=${fault}`);
    const { kill } = await killer(page);
    const wire = site.plan([{ status: 201 }]);
    await keepOffline(page, `${wire.path}?box`, ['a']);
    await kill();
    return { page, wire };
  };

  test(`B106 ${fault}: a page that hears that the device is back online has a stopped worker send what waits`, async ({
    site,
    open,
    context,
  }) => {
    const { page, wire } = await keptAndStopped(site, open, context);
    // Not by the browser: a worker that it starts while it is told the other way stays offline for good.
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await expect.poll(() => bodies(wire)).toEqual(['a']);
    await expect.poll(() => list(page)).toMatchObject([{ state: 'sent' }]);
  });

  test(`B106 ${fault}: so has any page that is opened, since that starts the worker`, async ({
    site,
    open,
    context,
  }) => {
    const { page, wire } = await keptAndStopped(site, open, context);
    // Any page of the scope, without a word to the worker.
    await page.goto(`${site.url}/pages-that-does-nothing`);
    await expect.poll(() => bodies(wire)).toEqual(['a']);
  });
}

test('B106 a browser with Background Sync sends what no page is left to send', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const sync = await syncs(page, site);
  const { kill } = await killer(page);
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await page.goto('about:blank');
  await kill();
  await sync();
  await expect.poll(() => bodies(wire)).toEqual(['a']);
});

test('what is paused is not sent, and goes on where it was', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await page.evaluate(() => window.sf.retries?.pause());
  await goOnline(page);
  await page.waitForTimeout(300);
  expect(wire.hits()).toHaveLength(0);
  expect(await eventsOf(page, 'queue-sent', 'queue-failed')).toEqual([]);
  await page.evaluate(() => window.sf.retries?.resume());
  await sendNow(page);
  await expect.poll(() => bodies(wire)).toEqual(['a']);
});
