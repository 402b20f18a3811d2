import type { Page } from '@playwright/test';
import { can, expect, type Site, stopWorker, test, underPolicy } from '../support/browser.ts';
import { eventsOf, goOffline, goOnline, list, post, stored } from '../support/outbox.ts';

// What others can and cannot do with the layer. The ids are those of `docs/security.md`.

const BUSY = { status: 503, body: 'busy' };
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
const HTML = { 'content-type': 'text/html' };

test('S04 an answer that the page must not read is shown by no entry', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ body: 'their secret' }]);
  await goOffline(page);
  const url = `${site.secondOrigin}${wire.path}?box&cors=0`;
  await post(page, url, { method: 'POST', mode: 'no-cors', body: 'mine' });
  await goOnline(page);
  await expect.poll(async () => (await list(page)).map(({ state }) => state)).toEqual(['sent']);
  expect(wire.hits().map(({ body }) => body.toString())).toEqual(['mine']);
  const told = [await list(page), await eventsOf(page, 'queued', 'queue-sent', 'queue-failed'), await stored(page)];
  expect(told[0]?.length).toBe(1);
  expect(JSON.stringify(told)).not.toContain('secret');
});

for (const { policy, origins } of [
  { policy: "connect-src 'self'", origins: ['first', 'first'] },
  { policy: 'connect-src *', origins: ['first', 'second'] },
]) {
  test(`S05 a mirror gets nothing that the policy of the worker’s script forbids: ${policy}`, async ({
    site,
    open,
  }) => {
    const mirror = site.secondOrigin.replace('127.0.0.1', 'localhost');
    const page = await open(`${underPolicy(policy, { worker: 'mirrors' })}&mirror=${encodeURIComponent(mirror)}`);
    const wire = site.plan([{ reset: 'headers' }, { body: 'fine' }]);
    expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
    expect(wire.hits().map(({ origin }) => origin)).toEqual(origins);
  });
}

test('S08 what the URL of an image, a document or a module asks for does not count', async ({ site, open }) => {
  const page = await open('quick');
  const image = site.plan([BUSY, { body: SVG, headers: { 'content-type': 'image/svg+xml' } }]);
  const module = site.plan([BUSY, { body: 'window.ran = true', headers: { 'content-type': 'text/javascript' } }]);
  const frame = site.plan([BUSY, { body: '<title>framed</title>', headers: HTML }]);
  await page.evaluate(
    ({ image, module, frame }) => {
      document.body.append(
        Object.assign(new Image(), { src: `${image}#~sf=x` }),
        Object.assign(document.createElement('script'), { type: 'module', src: `${module}#~sf=x` }),
        Object.assign(document.createElement('iframe'), { src: `${frame}#~sf=x` }),
      );
    },
    { image: image.path, module: module.path, frame: frame.path },
  );
  for (const wire of [image, module, frame]) await expect.poll(() => wire.hits().length).toBe(2);
  // Where it does count, one hit is all.
  const call = site.plan([BUSY]);
  await page.evaluate((path) => window.sf.get(`${path}#~sf=x`), call.path);
  expect(call.hits()).toHaveLength(1);
});

test('S13 an origin that fails takes nothing from another', async ({ site, open }) => {
  const page = await open('quick');
  const broken = site.plan([{ status: 503, retryAfter: 10 }]);
  for (let n = 0; n < 2; n += 1) {
    await page.evaluate((url) => window.sf.get(url), `${site.secondOrigin}${broken.path}?${n}`);
  }
  const { origins } = (await page.evaluate(() => window.sf.retries?.status())) ?? { origins: [] };
  expect(origins.map(({ origin }) => origin)).toEqual([site.secondOrigin]);
  const wire = site.plan([BUSY, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
});

/** What must not be where nobody expects it, each by where it was put. */
const SECRETS = {
  query: 'q-5f1c',
  header: 'h-5f1c',
  authorization: 'a-5f1c',
  body: 'b-5f1c',
  cookie: 'c-5f1c',
  fragment: 'f-5f1c',
  answerHeader: 'r-5f1c',
  answerBody: 'x-5f1c',
};
const secretsIn = (text: string): string[] =>
  Object.entries(SECRETS)
    .filter(([, secret]) => text.includes(secret))
    .map(([name]) => name)
    .sort();

/** Everything in every database and cache of the origin, as text. */
const keptBy = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const text = (value: unknown): string =>
      JSON.stringify(value, (_, one) => (one instanceof ArrayBuffer ? new TextDecoder().decode(one) : one));
    const all: Record<string, string> = {};
    for (const { name = '' } of await indexedDB.databases()) {
      const db = await done(indexedDB.open(name));
      const parts: string[] = [];
      for (const store of db.objectStoreNames) {
        const table = db.transaction(store).objectStore(store);
        parts.push(text(await done(table.getAllKeys())), text(await done(table.getAll())));
      }
      all[name] = parts.join();
      db.close();
    }
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      const urls = (await cache.keys()).map(({ url }) => url);
      all[`cache ${name}`] = urls.join();
    }
    return all;
  });

test('S20 S21 S22 what was secret is shown to nobody, and stored only as long as it waits', async ({
  site,
  open,
  context,
}) => {
  const warned: string[] = [];
  const page = await open('outbox');
  if (can(context, 'worker-console')) page.on('console', (message) => warned.push(message.text()));
  await page.evaluate((secret) => {
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser, and this is a test's
    document.cookie = `session=${secret}`;
  }, SECRETS.cookie);
  const answer = { headers: { 'x-secret': SECRETS.answerHeader }, body: SECRETS.answerBody };
  const busy = { ...answer, status: 503, retryAfter: 0 };
  const read = site.plan([busy, { reset: 'headers' }, answer]);
  const lost = site.plan([busy]);
  const order = site.plan([{ status: 503 }, { status: 201 }]);
  const init = {
    method: 'POST',
    body: SECRETS.body,
    headers: {
      'Idempotency-Key': 'key-1',
      'X-Secret': SECRETS.header,
      Authorization: `Bearer ${SECRETS.authorization}`,
    },
  };
  const at = (path: string, marker = '') => `${path}?${marker}&token=${SECRETS.query}#${SECRETS.fragment}`;
  for (const wire of [read, lost]) {
    await page.evaluate(({ url, init }) => window.sf.get(url, init), { url: at(wire.path), init });
  }
  await page.evaluate(({ url, headers }) => window.sf.get(url, { headers }), {
    url: at(lost.path),
    headers: init.headers,
  });
  await goOffline(page);
  expect(await post(page, at(order.path, 'box'), init)).toMatchObject({ status: 202 });

  const waiting = await keptBy(page);
  expect(Object.keys(waiting).sort()).toEqual(['steadfetch', 'steadfetch-outbox']);
  expect(secretsIn(waiting.steadfetch ?? '')).toEqual([]);
  // As said: everything but cookies, and what no server gets.
  expect(secretsIn(waiting['steadfetch-outbox'] ?? '')).toEqual(['authorization', 'body', 'header', 'query']);

  const shown = async () =>
    JSON.stringify([
      await page.evaluate(() => window.sf.events),
      await page.evaluate(() => window.sf.retries?.status()),
      await list(page),
      warned,
    ]);
  expect(secretsIn(await shown())).toEqual([]);
  await goOnline(page);
  await expect.poll(async () => (await list(page)).map(({ state }) => state), { timeout: 20_000 }).toEqual(['sent']);
  await expect.poll(() => eventsOf(page, 'queue-sent')).toHaveLength(1);
  expect(secretsIn(await shown())).toEqual([]);
  const delivered = await keptBy(page);
  expect(secretsIn(delivered.steadfetch ?? '')).toEqual([]);
  // Its URL tells a page which of its requests it was.
  expect(secretsIn(delivered['steadfetch-outbox'] ?? '')).toEqual(['query']);
  await page.evaluate(() => window.sf.retries?.outbox.clear());
  expect(secretsIn(Object.values(await keptBy(page)).join())).toEqual([]);
});

test('S22 what is cancelled is stored no longer', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  await post(page, `${wire.path}?box`, { method: 'POST', body: SECRETS.body });
  const [entry] = await list(page);
  expect(secretsIn(Object.values(await keptBy(page)).join())).toEqual(['body']);
  await page.evaluate((id) => window.sf.retries?.outbox.cancel(id), entry?.id ?? '');
  expect(secretsIn(Object.values(await keptBy(page)).join())).toEqual([]);
  expect(wire.hits()).toHaveLength(0);
});

/** Of another origin, in the page: says what it was asked, tries what it can, and reports. */
const hostileFrame = (ours: string) => `<!doctype html><script>
  const heard = [];
  const line = new BroadcastChannel('steadfetch');
  line.onmessage = ({ data }) => heard.push(data);
  addEventListener('message', ({ data }) => heard.push(data));
  const evil = ['pause', 'retire', 'reset', 'retry-now', 'online', 'hello', 'status'].map((kind) => ({ steadfetch: 1, kind, version: '0.1.0' }));
  async function attack() {
    const tried = {};
    for (const message of evil) {
      line.postMessage(message);
      parent.postMessage(message, '*');
    }
    const { serviceWorker } = navigator;
    tried.controller = String(serviceWorker?.controller ?? null);
    tried.registrations = (await serviceWorker?.getRegistrations?.().catch(() => []) ?? []).length;
    tried.registration = await serviceWorker?.getRegistration('${ours}/').then((one) => String(one ?? 'none'), (error) => error.name);
    tried.databases = (await indexedDB.databases().catch(() => [])).map(({ name }) => name);
    return tried;
  }
  addEventListener('message', async ({ data, source }) => {
    if (data === 'attack') source.postMessage({ tried: await attack() }, '*');
    if (data === 'heard?') source.postMessage({ heard: heard.filter((one) => typeof one === 'object') }, '*');
  });
  parent.postMessage('ready', '*');
</script>`;

const framed = (page: Page, ask: string) =>
  page.evaluate(
    (ask) =>
      new Promise<Record<string, unknown>>((resolve) => {
        addEventListener('message', ({ data }) => (data.tried || data.heard) && resolve(data), { once: false });
        document.querySelector('iframe')?.contentWindow?.postMessage(ask, '*');
      }),
    ask,
  );

test('S25 a frame of another origin hears nothing and changes nothing', async ({ site, open }) => {
  const page = await open('quick');
  const html = site.plan([{ body: hostileFrame(site.url), headers: HTML }]);
  await page.evaluate(
    (src) =>
      new Promise<void>((resolve) => {
        addEventListener('message', ({ data }) => data === 'ready' && resolve());
        document.body.append(Object.assign(document.createElement('iframe'), { src }));
      }),
    `${site.secondOrigin}${html.path}`,
  );
  expect(await framed(page, 'attack')).toEqual({
    tried: { controller: 'null', registrations: 0, registration: 'SecurityError', databases: [] },
  });
  const wire = site.plan([BUSY, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
  await expect.poll(async () => (await eventsOf(page, 'recovered')).length).toBe(1);
  const status = await page.evaluate(() => window.sf.retries?.status());
  expect(status).toMatchObject({ paused: false, counters: { recovered: 1 } });
  expect(await framed(page, 'heard?')).toEqual({ heard: [] });
});

test('S28 nothing is asked for that the page has not asked for, but the worker’s script', async ({
  site,
  open,
  page: bare,
}) => {
  const first = site.asked().length;
  await bare.goto(site.url);
  await bare.waitForFunction(() => 'sf' in window);
  // The browser asks for an icon when it wants to.
  const own = new Set([...site.asked().slice(first), '/favicon.ico']);
  const page = await open('plain');
  const [fine, busy] = [site.plan([{ body: 'fine' }]), site.plan([BUSY, { body: 'fine' }])];
  for (const { path } of [fine, busy]) await page.evaluate((path) => window.sf.get(path), path);
  if (can(page.context(), 'stop-worker')) await stopWorker(page);
  await page.evaluate((path) => window.sf.get(path), fine.path);
  const asked = site.asked().slice(first);
  expect([busy, fine].map(({ path }) => asked.filter((one) => one === path).length)).toEqual([2, 2]);
  const others = asked.filter((path) => !own.has(path) && ![fine.path, busy.path].includes(path));
  expect([...new Set(others)]).toEqual(['/plain.sw.js']);
});

const HOSTILE = '<img src=x onerror="window.hurt=1">"\'><script>window.hurt=1</script>{{7*7}}';

test('S29 the panel and the status show hostile texts as texts', async ({ open }) => {
  const page = await open('quick');
  const shown = await page.evaluate(async (text) => {
    const load = (path: string) => import(/* @vite-ignore */ path);
    const { fakeLine, showStatus } = await load('/devtools.ts');
    const at = Date.now();
    const about = { id: text, method: text, url: `https://a.test/${text}`, group: text, at };
    const events = [
      {
        type: 'retry-scheduled',
        ...about,
        elapsedMs: 5,
        attempt: 1,
        delayMs: 400,
        cause: text,
        status: 503,
        by: text,
        mirror: text,
      },
      { type: 'gave-up', ...about, elapsedMs: 9, attempts: 2, lastStatus: 503, reason: text },
      { type: 'queue-failed', at, id: text, outbox: text, method: text, url: text, reason: text },
      { type: 'circuit-changed', at, origin: text, group: text, state: text },
    ];
    const item = {
      id: text,
      outbox: text,
      method: text,
      url: text,
      bytes: 1,
      state: text,
      queuedAt: at,
      expiresAt: at,
      sends: 1,
      notBefore: at,
      answer: text,
      reason: text,
    };
    const { panel } = fakeLine(events, undefined, [item]);
    showStatus();
    const { shadowRoot } = panel;
    const settled = () => new Promise((resolve) => setTimeout(resolve, 300));
    const told: string[] = [];
    for (const name of ['Requests', 'Outbox', 'Origins', 'Counters']) {
      const tabs: HTMLElement[] = [...shadowRoot.querySelectorAll('[role=tab]')];
      tabs.find((tab) => tab.textContent?.includes(name))?.click();
      await settled();
      shadowRoot.querySelector('[role=row][aria-rowindex="2"], [role=option]')?.click();
      await settled();
      if (shadowRoot.textContent.includes('onerror')) told.push(name);
    }
    return {
      hurt: 'hurt' in window,
      alien: shadowRoot.querySelectorAll('img, script').length,
      told,
    };
  }, HOSTILE);
  expect(shown).toEqual({ hurt: false, alien: 0, told: ['Requests', 'Outbox'] });
});

test('S30 page, panel and status work under a strict policy with trusted types', async ({ site, page }) => {
  const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'";
  const strict = `${policy}; require-trusted-types-for 'script'; trusted-types lit-html app`;
  await page.goto(`${site.url}/?csp=${encodeURIComponent(strict)}`);
  await page.waitForFunction(() => 'sf' in window);
  await site.bundle('quick.sw.js');
  const { state, violations } = await page.evaluate(async () => {
    const violations: string[] = [];
    Object.assign(window, { violations });
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      violations.push(`${violatedDirective} ${blockedURI}`);
    });
    const { trustedTypes } = window as unknown as {
      trustedTypes: { createPolicy(name: string, rules: object): { createScriptURL(url: string): URL } };
    };
    const app = trustedTypes.createPolicy('app', { createScriptURL: (url: string) => url });
    const { state } = await window.sf.connect(app.createScriptURL('/quick.sw.js'));
    return { state, violations };
  });
  expect([state, violations]).toEqual(['controlled', []]);
  const wire = site.plan([BUSY, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
  const shown = await page.evaluate(async () => {
    const { show, showStatus } = await import(/* @vite-ignore */ '/devtools.ts' as string);
    const panel = show();
    showStatus();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return {
      height: panel.getBoundingClientRect().height > 0,
      styled: panel.shadowRoot.adoptedStyleSheets.length > 0,
      violations: (window as unknown as { violations: string[] }).violations,
    };
  });
  expect(shown).toEqual({ height: true, styled: true, violations: [] });
});

/** Another page of the site, which only a filled store would slow down. */
test('S14 S19 a database that somebody has filled costs no request its answer', async ({ site, open }) => {
  const page = await open('quick');
  await fill(page, site);
  await stopWorker(page);
  const wire = site.plan([BUSY, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
});

/** With 5,000 records that are none, or of origins that nobody has asked. */
const fill = (page: Page, { url }: Site) =>
  page.evaluate(
    (origin) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('steadfetch');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const db = opening.result;
          const tx = db.transaction('origins', 'readwrite');
          const table = tx.objectStore('origins');
          for (let n = 0; n < 5_000; n += 1) {
            table.put({ origin: `https://${n}.test`, group: 'data', budget: { tokens: -1e9, at: n } }, `x${n} data`);
          }
          table.put({ origin, group: 'data', hold: { until: 1e300 }, circuit: { openUntil: 1e300 } }, `${origin} data`);
          table.put('x'.repeat(1e6), 'note paused');
          tx.oncomplete = () => {
            db.close();
            resolve();
          };
          tx.onerror = () => reject(tx.error);
        };
      }),
    url,
  );
