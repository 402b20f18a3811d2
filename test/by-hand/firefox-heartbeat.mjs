// `npm run heartbeat:firefox`: what pages get in a real Firefox, which stops a worker that waits for longer than a minute.
// By hand: it needs a Firefox, and the waits are as long as they are.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createServer, runnerImport } from 'vite';
import { openPage } from './page.mjs';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const load = async (path) => (await runnerImport(inRepo(path), { configFile: false, logLevel: 'error' })).module;
const { findFirefox, launchFirefox } = await load('test/support/engines/firefox.ts');

const executable = findFirefox();
if (executable === undefined) {
  console.error(
    'No Firefox found: install one (on Debian, as root: apt-get install firefox-esr) or set FIREFOX_PATH to its executable',
  );
  process.exit(1);
}

const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
let [passed, failed] = [0, 0];

const site = await openSite();
const firefox = await launchFirefox(executable).catch(async (error) => {
  await site.close();
  console.error(`Firefox could not be started: ${error.message}`);
  process.exit(1);
});
try {
  console.log(`Firefox ${firefox.version}, as it comes; the longest wait takes 70 to 75 s\n`);
  // The long waits go on meanwhile in tabs that nobody looks at, each with a worker of its own.
  const long = [await waitUnaided(), await waitWithHeartbeat(), await waitWithoutHeartbeat()];
  await checkQuickly();
  await Promise.all(long.map(({ checked }) => checked));
} finally {
  await firefox.close();
  await site.close();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** The figure that the others are to be held against. */
async function waitUnaided() {
  const page = await openPage(firefox, site.url);
  await page.run(async () => {
    const claimed = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
    await navigator.serviceWorker.register('/unaided.sw.js');
    await claimed;
  });
  const checked = check('for comparison: a worker that just waits 70 s is stopped', async () => {
    const { error, ms } = await timed(page, '/wire/unaided');
    return [error?.startsWith('TypeError') && ms < 70_000, `${error} after ${seconds(ms)}`];
  });
  return { checked };
}

async function waitWithHeartbeat() {
  const page = await openConnected();
  const wire = site.plan([{ status: 503, retryAfter: 70 }, { body: 'fine' }]);
  const checked = check('with the heartbeat Retry-After: 70 is waited for', async () => {
    const { status, body, error, ms } = await timed(page, `${wire.path}?patient`);
    const [first, second] = wire.hits();
    const gap = second ? `, hits ${seconds(second.at - first.at)} apart` : '';
    const fits = status === 200 && body === 'fine' && second?.at - first.at >= 70_000 && wire.hits().length === 2;
    // The wait has up to 5 s of jitter, upwards.
    return [fits && ms < 80_000, `${status ?? error} after ${seconds(ms)}${gap}`];
  });
  return { checked };
}

async function waitWithoutHeartbeat() {
  const page = await openConnected({ heartbeat: false });
  const wire = site.plan([{ status: 503, retryAfter: 70, body: 'busy' }]);
  const checked = check('without the heartbeat the page gets the 503 before the worker is stopped', async () => {
    const { status, body, error, ms } = await timed(page, `${wire.path}?patient`);
    const reason = await page.run(() => window.sf.told.find(({ type }) => type === 'gave-up')?.reason);
    const fits = status === 503 && body === 'busy' && reason === 'deadline' && wire.hits().length === 1;
    return [fits && ms < 60_000, `${status ?? error} '${body}' after ${seconds(ms)}, reason '${reason}'`];
  });
  return { checked };
}

async function checkQuickly() {
  const page = await openConnected();

  await check('503, 503, 200 is recovered', async () => {
    const wire = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
    const { status, error } = await page.run((path) => window.sf.get(path), wire.path);
    const types = await page.run(() => window.sf.told.map(({ type }) => type));
    const fits = status === 200 && wire.hits().length === 3 && types.at(-1) === 'recovered';
    return [fits, `${status ?? error}, ${hitsOf(wire)}, told ${types.join(', ')}`];
  });

  await check('a call that asks for one attempt has one', async () => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    const { status, error } = await page.run((path) => window.sf.ask(path, { retry: { attempts: 1 } }), wire.path);
    return [status === 503 && wire.hits().length === 1, `${status ?? error}, ${hitsOf(wire)}`];
  });

  await check('so has a plain fetch of a URL with the fragment', async () => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    const { status, error } = await page.run(
      (path) => window.sf.get(window.sf.withRetry(path, { attempts: 1 })),
      wire.path,
    );
    return [status === 503 && wire.hits().length === 1, `${status ?? error}, ${hitsOf(wire)}`];
  });

  await check('an abort during a wait ends it', async () => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    const seen = await page.run(async (path) => {
      const controller = new AbortController();
      const answer = window.sf.retries.fetch(path, { signal: controller.signal });
      setTimeout(() => controller.abort('changed my mind'), 500);
      return answer.then(({ status }) => status, String);
    }, `${wire.path}?slow`);
    // The next attempt would have come in this time.
    await sleep(3_000);
    const { gaveUp } = await page.run(async () => (await window.sf.retries.status()).counters);
    const fits = seen === 'changed my mind' && wire.hits().length === 1 && gaveUp.aborted === 1;
    return [fits, `the page sees '${seen}', ${hitsOf(wire)}, gave up ${JSON.stringify(gaveUp)}`];
  });

  await check('a POST with a key is replayed byte for byte', async () => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    const length = 100_000;
    const { status, error } = await page.run(
      (path, bytes) =>
        window.sf.get(path, {
          method: 'POST',
          headers: { 'Idempotency-Key': 'k' },
          body: Uint8Array.from({ length: bytes }, (_, index) => index % 251),
        }),
      wire.path,
      length,
    );
    const sent = Buffer.from(Uint8Array.from({ length }, (_, index) => index % 251));
    const bodies = wire.hits().map(({ method, body }) => method === 'POST' && body.equals(sent));
    const fits = status === 200 && bodies.length === 2 && bodies.every(Boolean);
    return [fits, `${status ?? error}, ${hitsOf(wire)}, bodies of ${length} bytes the same: ${bodies.join(', ')}`];
  });

  await check('pause() leaves requests alone until resume()', async () => {
    const ask = async (change) => {
      const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
      const done = await page.run((what) => window.sf.retries[what](), change);
      const { status } = await page.run((path) => window.sf.get(path), wire.path);
      return `${change} ${done}: ${status}, ${hitsOf(wire)}`;
    };
    const seen = `${await ask('pause')}; ${await ask('resume')}`;
    return [seen === 'pause true: 503, 1 hit; resume true: 200, 2 hits', seen];
  });

  await check('retire() leaves nothing behind', async () => {
    const retired = await page.run(() => window.sf.retries.retire());
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    const { status } = await page.run((path) => window.sf.get(path), wire.path);
    // The worker writes behind: nothing may come back.
    await sleep(1_500);
    const left = await page.run(async () => ({
      registrations: (await navigator.serviceWorker.getRegistrations()).length,
      databases: (await indexedDB.databases()).map(({ name }) => name),
    }));
    const fits = retired && wire.hits().length === 1 && left.registrations === 0 && left.databases.length === 0;
    return [fits, `${retired}, ${JSON.stringify(left)}, a fetch then: ${status}, ${hitsOf(wire)}`];
  });
}

/** `work` says whether it is as it should be, and what was seen. */
async function check(title, work) {
  const [fits, seen] = await work().catch((error) => [false, String(error)]);
  if (fits) passed += 1;
  else failed += 1;
  console.log(`${fits ? '✓' : '✗'} ${title}: ${seen}`);
}

async function openConnected(options = {}) {
  const page = await openPage(firefox, site.url);
  const { state } = await page.run((asked) => window.sf.connect('/heartbeat.sw.js', asked), options);
  if (state !== 'controlled') throw new Error(`a page is ${state}`);
  return page;
}

/** What the page gets, and after how long by its own clock. */
function timed(page, path) {
  return page.run(async (url) => {
    const askedAt = performance.now();
    const seen = await window.sf.get(url);
    return { ...seen, ms: performance.now() - askedAt };
  }, path);
}

function hitsOf(wire) {
  const { length } = wire.hits();
  return `${length} hit${length === 1 ? '' : 's'}`;
}

/** The pages of the browser tests, with a misbehaving server behind them. */
async function openSite() {
  const { createMisbehavingServer } = await load('demo/misbehaving-server.ts');
  const { misbehave } = await load('demo/misbehave-plugin.ts');
  const { workerBundles } = await load('demo/worker-bundles.ts');
  const wire = createMisbehavingServer();
  const workers = {
    '/heartbeat.sw.js': inRepo('test/by-hand/heartbeat.sw.ts'),
    '/unaided.sw.js': inRepo('test/by-hand/unaided.sw.ts'),
  };
  const vite = await createServer({
    configFile: false,
    root: inRepo('test/browser/pages'),
    cacheDir: inRepo('node_modules/.cache/vite-firefox'),
    logLevel: 'error',
    server: { port: 0, host: 'localhost', hmr: false, watch: null, fs: { allow: [inRepo('.')] } },
    optimizeDeps: { noDiscovery: true },
    plugins: [misbehave(wire), workerBundles(workers)],
  });
  await vite.listen();
  let next = 0;
  return {
    url: vite.resolvedUrls.local[0],
    /** Sets what a URL of its own answers, hit by hit. */
    plan(steps) {
      const id = `t${++next}`;
      wire.plan(id, steps);
      return { path: `/wire/${id}`, hits: () => wire.hits(id) };
    },
    close: () => vite.close(),
  };
}
