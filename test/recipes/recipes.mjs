import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Opens a page of a recipe and waits until it says how it stands to the worker. */
async function open({ site, context }, path = '/') {
  const page = await context.newPage();
  await page.goto(site.url + path);
  await page.waitForFunction(() => document.getElementById('worker')?.textContent !== 'connecting');
  assert.equal(await page.textContent('#worker'), 'controlled');
  return page;
}

/** Presses the button and waits for what the page shows then. */
async function load(page) {
  await page.click('#load');
  await page.waitForFunction(() => document.getElementById('orders')?.textContent !== '');
  return page.textContent('#orders');
}

const BUSY = { status: 503 };

/** The promise of every recipe: what fails twice is answered at the third attempt. */
const retried =
  (path = '/') =>
  async (app) => {
    const page = await open(app, path);
    app.site.plan(BUSY, BUSY, { body: 'tea' });
    assert.equal(await load(page), '200 tea');
    assert.equal(app.site.hits(), 3);
  };
const RETRIED = '503, 503, 200: the page gets the 200, the server 3 hits';

/** Whoever precaches still has its page without a network. */
async function offline(app) {
  const page = await open(app);
  await page.evaluate(() => navigator.serviceWorker.ready);
  // By now the worker has what the first visit loaded before it was there.
  await page.reload();
  await page.waitForFunction(() => document.getElementById('worker')?.textContent === 'controlled');
  await app.context.setOffline(true);
  await page.reload();
  assert.equal(await page.textContent('#load'), 'Load the orders');
  await page.waitForFunction(() => document.getElementById('worker')?.textContent === 'controlled');
}

/** Each recipe of demo/recipes: what is served of it, and what must be true then. */
export const RECIPES = {
  'plain-html': {
    serves: 'public',
    checks: {
      [RETRIED]: retried(),
      'built again, nothing changes; --check is content': async ({ folder, cli }) => {
        const files = ['sw.js', 'steadfetch.dropin.js', 'steadfetch.page.js'].map((name) =>
          join(folder, 'public', name),
        );
        const before = files.map((file) => readFileSync(file, 'utf8'));
        await cli('init', 'public/');
        assert.deepEqual(
          files.map((file) => readFileSync(file, 'utf8')),
          before,
        );
        await cli('init', 'public/', '--check');
      },
      'a new drop-in is taken over though the worker stays as it is': async (app) => {
        const page = await open(app);
        const file = join(app.folder, 'public/steadfetch.dropin.js');
        const before = readFileSync(file, 'utf8');
        writeFileSync(file, `${before}// another version`);
        await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
        await page.waitForFunction(async () => (await navigator.serviceWorker.ready).waiting !== null);
        writeFileSync(file, before);
      },
      'a drop-in of another version: the console says what to run, --check fails, init mends it': async (app) => {
        const file = join(app.folder, 'public/steadfetch.dropin.js');
        const now = readFileSync(file, 'utf8');
        const { version } = JSON.parse(
          readFileSync(join(app.folder, '../node_modules/steadfetch/package.json'), 'utf8'),
        );
        writeFileSync(file, now.replaceAll(version, '0.99.0'));
        await assert.rejects(app.cli('init', 'public/', '--check'), /of 0\.99\.0.*\n.*run: npx steadfetch init public/);
        const page = await app.context.newPage();
        const warning = page.waitForEvent('console', (message) => message.text().includes('npx steadfetch init'));
        await page.goto(app.site.url);
        assert.match((await warning).text(), /the worker has version 0\.99\.0, the page \d/);
        await app.cli('init', 'public/');
        assert.equal(readFileSync(file, 'utf8'), now);
      },
    },
  },
  'sub-path': {
    serves: 'public',
    headers: { '/app/sw.js': { 'service-worker-allowed': '/' } },
    checks: {
      [RETRIED]: retried('/app/'),
      'with the header that init names it may have the whole site': async ({ site, context, folder, cli }) => {
        const said = await cli('init', 'public/app/', '--base', '/app/');
        assert.match(said, /Service-Worker-Allowed: \//, folder);
        const page = await context.newPage();
        await page.goto(`${site.url}/app/`);
        const scope = await page.evaluate(
          async () => (await navigator.serviceWorker.register('/app/sw.js', { scope: '/' })).scope,
        );
        assert.equal(scope, `${site.url}/`);
      },
    },
  },
  vite: { serves: 'dist', checks: { [RETRIED]: retried() } },
  'vite-plugin-pwa': { serves: 'dist', checks: { [RETRIED]: retried(), 'precached pages open offline': offline } },
  serwist: { serves: 'dist', checks: { [RETRIED]: retried(), 'cached pages open offline': offline } },
  'existing-worker': {
    serves: 'public',
    checks: {
      [RETRIED]: retried(),
      'the listener that was there still answers': async (app) => {
        const page = await open(app);
        assert.equal(await page.textContent('#greeting'), 'hello from the worker of old');
      },
    },
  },
  msw: {
    serves: 'dist',
    checks: {
      [RETRIED]: retried(),
      'with mocks MSW answers, and the server is not asked': async (app) => {
        app.site.plan(BUSY);
        assert.equal(await load(await open(app, '/?mocked')), '200 mocked tea');
        assert.equal(app.site.hits(), 0);
      },
      'what no mock answers goes to the server, once': async (app) => {
        app.site.plan(BUSY);
        const page = await open(app, '/?mocked');
        assert.equal(await page.evaluate(async () => (await fetch('/api/orders/today')).status), 503);
        assert.equal(app.site.hits(), 1);
      },
      'a mock that fails twice is retried in the page': async (app) => {
        assert.equal(await load(await open(app, '/?mocked&shaky&in-page')), '200 mocked tea at attempt 3');
      },
    },
  },
  'tanstack-query': {
    serves: 'dist',
    checks: {
      [RETRIED]: retried(),
      'always 503: one failure, 4 hits and not 16': async (app) => {
        const page = await open(app);
        app.site.plan(BUSY);
        assert.equal(await load(page), 'error 503, failures: 1');
        assert.equal(app.site.hits(), 4);
      },
    },
  },
  axios: {
    serves: 'dist',
    checks: {
      [RETRIED]: retried(),
      'always 503: the error is the server’s, after 4 hits': async (app) => {
        const page = await open(app);
        app.site.plan(BUSY);
        assert.equal(await load(page), 'error 503');
        assert.equal(app.site.hits(), 4);
      },
    },
  },
};
