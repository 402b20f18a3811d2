// `npm run outbox:engines`: the outbox in a real Firefox and a real WebKit, which have no Background Sync. Offline is a
// server whose port is closed, which is the same in all of them. By hand: it needs these browsers, and takes a minute or two.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build, runnerImport } from 'vite';
import { openPage } from './page.mjs';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const load = async (path) => (await runnerImport(inRepo(path), { configFile: false, logLevel: 'error' })).module;
const { findFirefox, launchFirefox } = await load('test/support/engines/firefox.ts');
const { findWebKit, launchWebKit } = await load('test/support/engines/webkit.ts');
let [passed, failed] = [0, 0];

const ENGINES = [
  {
    name: 'Firefox',
    found: findFirefox(),
    launch: launchFirefox,
    remedy: 'apt-get install firefox-esr, or set FIREFOX_PATH',
  },
  {
    name: 'WebKit',
    found: findWebKit(),
    launch: launchWebKit,
    remedy: 'apt-get install webkit2gtk-driver xvfb xauth',
  },
];

const site = await openSite();
for (const { name, found, launch, remedy } of ENGINES) {
  if (found === undefined) {
    failed += 1;
    console.log(`✗ no ${name} found: on Debian, as root: ${remedy}`);
    continue;
  }
  const browser = await launch(found);
  try {
    console.log(`${name} ${browser.version}`);
    await checkAll(browser);
  } finally {
    await browser.close();
    await site.open();
  }
}
await site.close();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function checkAll(browser) {
  const page = await openPage(browser, site.url);
  await page.run(async () => {
    while (!('sf' in window)) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  const state = await page.run(async () => {
    // A browser that has just been started may take longer than a page waits for its worker.
    for (let left = 5; ; left -= 1) {
      const { state } = await window.sf.connect('/outbox.sw.js');
      if (state === 'controlled' || left === 0) return state;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  });
  if (state !== 'controlled') throw new Error(`the page is ${state}`);

  await check('orders with a key are kept while the port is closed, and none without', async () => {
    await site.shut();
    // First: behind others that wait it would be kept, since it is not sent then.
    const { error } = await page.run((path) => window.sf.get(path, { method: 'POST', body: 'x' }), site.path);
    const seen = await keep(page, ['a', 'b', 'c']);
    const states = await page.run(async () => (await window.sf.retries.outbox.list()).map(({ state }) => state));
    const fits = seen.every((status) => status === 202) && states.join() === 'waiting,waiting,waiting' && error;
    return [fits, `answered ${seen.join()}, one without a key: ${error}; entries ${states.join()}`];
  });

  await check('they go in their order when the page hears that the device is back online', async () => {
    await site.open();
    await page.run(() => void dispatchEvent(new Event('online')));
    return delivered(['a', 'b', 'c'], 3_000);
  });

  await check('an open page has them sent without that', async () => {
    await site.shut();
    await keep(page, ['d']);
    await site.open();
    return delivered(['d'], 13_000);
  });

  await check('a worker that is started again sends them', async () => {
    await site.shut();
    const before = await page.run(runOf);
    await keep(page, ['e', 'f']);
    // The first has been sent in vain, and waits some seconds for its next time.
    await sleep(3_000);
    if (browser.stopWorkers) {
      await browser.stopWorkers();
      await site.open();
      // Whatever starts it.
      await page.run(() => void fetch('/page.js'));
    } else {
      // It is stopped some seconds after its last page has gone.
      await page.goto('about:blank');
      await sleep(12_000);
      await site.open();
      await page.goto(`${site.url}plain`);
    }
    const [fits, seen] = await delivered(['e', 'f'], 25_000);
    const other = (await page.run(runOf)) !== before;
    return [fits && other, `${seen}; ${other ? 'another' : 'the same'} run of the worker`];
  });
}

/** A number that each run of the worker has of its own. */
function runOf() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    navigator.serviceWorker.controller.postMessage('run', [port2]);
  });
}

function keep(page, names) {
  return page.run(
    async (path, names) => {
      const seen = [];
      for (const body of names) {
        const answer = await window.sf.get(path, {
          method: 'POST',
          body,
          headers: { 'Idempotency-Key': `key-${body}` },
        });
        seen.push(answer.status ?? answer.error);
      }
      return seen;
    },
    site.path,
    names,
  );
}

/** Each once, in this order, with its key. */
async function delivered(names, withinMs) {
  const startedAt = Date.now();
  while (site.hits().length < names.length && Date.now() - startedAt < withinMs) await sleep(50);
  const ms = Date.now() - startedAt;
  await sleep(500);
  const came = site.hits().map(({ body, headers }) => {
    const [, key] = headers.find(([name]) => name.toLowerCase() === 'idempotency-key') ?? [];
    return `${body} ${key}`;
  });
  return [came.join() === names.map((name) => `${name} key-${name}`).join(), `came ${came.join()} within ${ms} ms`];
}

/** `work` says whether it is as it should be, and what was seen. */
async function check(title, work) {
  const [fits, seen] = await work().catch((error) => [false, String(error)]);
  if (fits) passed += 1;
  else failed += 1;
  console.log(`${fits ? '✓' : '✗'} ${title}: ${seen}`);
}

/** A site of the browser tests' page whose port is closed and opened again. */
async function openSite() {
  const { createMisbehavingServer } = await load('demo/misbehaving-server.ts');
  const bundle = async (entry, formats) => {
    const [result] = [
      await build({
        configFile: false,
        logLevel: 'silent',
        define: { 'process.env.NODE_ENV': '"production"' },
        build: { write: false, lib: { entry: inRepo(entry), formats, name: 'it' } },
      }),
    ].flat();
    return result.output[0].code;
  };
  const files = {
    '/': ['text/html', '<!doctype html><title>outbox</title><script type="module" src="/page.js"></script>'],
    '/plain': ['text/html', '<!doctype html><title>a page that says nothing to its worker</title>'],
    '/page.js': ['text/javascript', await bundle('test/browser/pages/page.ts', ['es'])],
    '/outbox.sw.js': ['text/javascript', await bundle('test/by-hand/outbox.sw.ts', ['iife'])],
  };
  const wire = createMisbehavingServer();
  let [server, port] = [undefined, 0];
  const site = {
    path: '/wire/orders?box',
    hits: () => wire.hits('orders'),
    async open() {
      if (server) return;
      wire.plan('orders', [{ status: 201 }]);
      server = createServer((req, res) => {
        res.shouldKeepAlive = false;
        if (wire.handle(req, res)) return;
        const [type, text] = files[req.url] ?? [];
        res
          .writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain', 'cache-control': 'no-store' })
          .end(text);
      });
      await new Promise((resolve) => server.listen(port, 'localhost', resolve));
      ({ port } = server.address());
    },
    async shut() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      server = undefined;
    },
    close: () => server && site.shut(),
  };
  await site.open();
  return Object.assign(site, { url: `http://localhost:${port}/` });
}
