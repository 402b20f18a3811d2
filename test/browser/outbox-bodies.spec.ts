import type { Hit } from '../../demo/misbehaving-server.ts';
import { can, expect, header, test } from '../support/browser.ts';
import { bodies, goOffline, goOnline, killer, list, sendNow, stored } from '../support/outbox.ts';

// What is sent later is what the page has sent, to the byte.

/** What a page may send: made in the page. */
const BODIES = {
  text: () => 'zwei Äpfel 🍏',
  JSON: () => new Blob([JSON.stringify({ apples: 2 })], { type: 'application/json' }),
  URLSearchParams: () => new URLSearchParams({ apples: '2 & more' }),
  'FormData with a file': () => {
    const form = new FormData();
    form.set('apples', '2');
    form.set('file', new File([Uint8Array.from({ length: 256 }, (_, byte) => byte)], 'a "b".bin', { type: 'x/y' }));
    return form;
  },
  Blob: () => new Blob(['blob'], { type: 'image/png' }),
  'ArrayBuffer of all bytes': () => Uint8Array.from({ length: 256 }, (_, byte) => byte).buffer,
  'nothing at all': () => undefined,
} as const;

/** What a server can tell from: what is there by the connection only is left out. */
const shownOf = (hit: Hit | undefined) => ({
  method: hit?.method,
  url: hit?.url,
  type: header(hit, 'content-type'),
  length: header(hit, 'content-length'),
  cookie: header(hit, 'cookie'),
  authorization: header(hit, 'authorization'),
  own: header(hit, 'x-own'),
  key: header(hit, 'idempotency-key'),
  referer: header(hit, 'referer'),
  origin: header(hit, 'origin'),
  accept: header(hit, 'accept'),
  mode: header(hit, 'sec-fetch-mode'),
  site: header(hit, 'sec-fetch-site'),
});

for (const [named, make] of Object.entries(BODIES)) {
  test(`${named}: body and headers are the same in the first attempt, the second, and when it is sent later`, async ({
    site,
    open,
    context,
  }) => {
    await context.addCookies([{ name: 'session', value: 'mine', url: site.url }]);
    const page = await open('outbox.sw.js?fault=no-sync', '/?page=shop');
    const { kill } = await killer(page);
    const wire = site.plan([{ status: 503 }]);
    const seen = await page.evaluate(
      async ({ path, make }) => {
        const body = new Function(`return (${make})()`)();
        const headers = { 'Idempotency-Key': 'k', 'X-Own': 'mine', Authorization: 'Bearer me' };
        const response = await fetch(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
        return response.status;
      },
      { path: `${wire.path}?box&a=b`, make: String(make) },
    );
    expect(seen).toBe(202);
    const [first, second] = wire.hits();
    expect(wire.hits()).toHaveLength(2);
    if (can(context, 'stop-worker')) await kill();
    site.replan(wire.id, [{ status: 201 }]);
    await expect
      .poll(async () => {
        await sendNow(page);
        return (await list(page)).map(({ state }) => state);
      })
      .toEqual(['sent']);
    const [later] = wire.hits();
    expect(first?.body.byteLength).toBe(named === 'nothing at all' ? 0 : first?.body.byteLength || -1);
    for (const hit of [second, later]) expect(hit?.body.equals(first?.body ?? Buffer.of(1))).toBe(true);
    expect(shownOf(first)).toMatchObject({
      cookie: 'session=mine',
      own: 'mine',
      authorization: 'Bearer me',
      referer: `${site.url}/?page=shop`,
      origin: site.url,
    });
    expect(shownOf(later)).toEqual(shownOf(first));
  });
}

test('a stream is kept whole, where the browser sends streams at all', async ({ site, open, engine }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  const seen = await page.evaluate((path) => {
    const body = new ReadableStream({
      start(controller) {
        for (const part of ['one ', 'two ', 'three']) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    });
    return window.sf.get(path, { method: 'POST', body, duplex: 'half', headers: { 'Idempotency-Key': 'k' } } as object);
  }, `${wire.path}?box`);
  // As without a worker: WebKit refuses to send one, and for Firefox it is any object, of which it sends the text.
  if (engine === 'webkit') {
    expect(seen).toEqual({ error: expect.stringMatching(/^NotSupportedError/) });
    expect(await list(page)).toEqual([]);
    return;
  }
  expect(seen).toMatchObject({ status: 202 });
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual([engine === 'firefox' ? '[object ReadableStream]' : 'one two three']);
});

test('requests of other credentials, referrers and origins go as they are', async ({ site, open, context }) => {
  await context.addCookies([{ name: 'session', value: 'mine', url: site.url }]);
  const page = await open('outbox');
  const wires = [0, 1, 2].map(() => site.plan([{ status: 503 }]));
  const inits = [
    { credentials: 'omit' },
    { referrerPolicy: 'no-referrer' },
    { mode: 'cors', referrerPolicy: 'strict-origin-when-cross-origin' },
  ] as const;
  const hosts = ['', '', site.secondOrigin];
  for (const [index, wire] of wires.entries()) {
    const seen = await page.evaluate(
      ({ url, init }) =>
        window.sf.get(url, { method: 'PUT', body: 'x', headers: { 'Content-Type': 'text/plain' }, ...init }),
      { url: `${hosts[index]}${wire.path}?free`, init: inits[index] ?? {} },
    );
    expect(seen).toMatchObject({ status: 202 });
  }
  const before = wires.map((wire) => shownOf(wire.hits()[0]));
  for (const { id } of wires) site.replan(id, [{ status: 201 }]);
  await expect
    .poll(async () => {
      await sendNow(page);
      return (await list(page)).every(({ state }) => state === 'sent');
    })
    .toBe(true);
  expect(wires.map((wire) => shownOf(wire.hits()[0]))).toEqual(before);
  expect(before).toMatchObject([{ cookie: null }, { referer: null, cookie: 'session=mine' }, { site: 'cross-site' }]);
});

test('a beacon is kept', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 204 }]);
  await goOffline(page);
  expect(await page.evaluate((path) => navigator.sendBeacon(path, 'seen'), `${wire.path}?free`)).toBe(true);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', bytes: 4 }]);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['seen']);
});

test('a form that is sent offline leads to the page for that, and is delivered later', async ({ site, open }) => {
  const page = await open('outbox');
  const thanks = site.plan([{ headers: { 'content-type': 'text/html' }, body: 'thanks' }]);
  const elsewhere = site.plan([{ headers: { 'content-type': 'text/html' }, body: 'log in' }]);
  const wire = site.plan([{ redirect: elsewhere.path }, { redirect: `/thanks/${thanks.id}`, status: 303 }]);
  await goOffline(page);
  await page.evaluate((action) => {
    const form = document.createElement('form');
    Object.assign(form, { action, method: 'post', enctype: 'multipart/form-data' });
    form.innerHTML = '<input name="apples" value="2">';
    document.body.append(form);
    form.submit();
  }, `${wire.path}?form`);
  await page.waitForFunction(() => location.search === '?queued' && 'sf' in window);
  await page.evaluate(() => window.sf.connect('/outbox.sw.js'));
  expect(await list(page)).toMatchObject([{ outbox: 'forms', state: 'waiting', method: 'POST' }]);
  expect(wire.hits()).toHaveLength(0);
  await goOnline(page);
  // Nobody knows whether a form without a key was taken by whoever has redirected it.
  await expect.poll(() => list(page)).toMatchObject([{ state: 'failed', reason: 'unknown', status: 200 }]);
  await sendNow(page);
  // `doneAt`: nothing is served there, and what answers is below its path all the same.
  await expect.poll(() => wire.hits().length).toBe(2);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', sends: 2 }]);
  const [first, second] = wire.hits();
  expect(second?.body.toString()).toBe(first?.body.toString());
  expect(first?.body.toString()).toMatch(/name="apples"\r\n\r\n2\r\n/);
  expect(header(second, 'content-type')).toContain(first?.body.toString().split('\r\n')[0]?.slice(2) ?? '?');
  await expect.poll(() => stored(page)).toMatchObject([{ state: 'sent' }]);
});
