// `npm run bench:outbox`: how fast what was kept offline is delivered after the browser was closed and opened again,
// beside Workbox's queue. `--entries N` of each, 1 000 unless given. It holds nothing to anything but what must not be
// lost or come out of its order: the figures are this machine's.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { findBrowser } from '../support/find-browser.mjs';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const entries = readEntries(process.argv.slice(2));
const dropin = inRepo('dist/dropin.js');
if (!existsSync(dropin)) fail('not built: dist/dropin.js; run `npm run build` first');
const LONGEST_MS = 300_000;
const KEYS = 4;

const layer = (orderBy) => `${readFileSync(dropin)}
steadfetch.createRetryLayer({
  routes: [{ match: /[/]take[/]/, outbox: { orderBy: '${orderBy}', maxEntries: ${entries} } }],
}).listen();`;

/** What keeps them, its worker's script, and what its page says to set it going. */
const KINDS = {
  'steadfetch, one order': { script: layer('outbox') },
  [`steadfetch, ${KEYS} orders`]: { script: layer('url') },
  'Workbox Queue': { script: await workbox(), start: 'replay' },
};

const came = [];
const server = createServer((req, res) => {
  const { url = '', method } = req;
  const script = Object.values(KINDS)[Number(/^\/sw-(\d+)\.js$/.exec(url)?.[1])]?.script;
  if (method === 'POST') {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      came.push({ at: performance.now(), url, body });
      res.writeHead(201).end();
    });
    return;
  }
  res.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html', 'cache-control': 'no-store' });
  res.end(script ?? '<!doctype html><title>bench</title>');
});
await new Promise((resolve) => server.listen(0, 'localhost', resolve));
const origin = `http://localhost:${server.address().port}`;
const found = await findBrowser();

console.log(`${entries} POSTs kept offline, the browser closed, opened again; Node ${process.version}\n`);
console.log(line('', 'kept', 'delivered', 'rate', 'first after', 'lost', 'twice', 'disordered'));
for (const [index, [kind, { start }]] of Object.entries(KINDS).entries()) await measure(kind, index, start);
server.close();
server.closeAllConnections();

async function measure(kind, index, start) {
  came.length = 0;
  const profile = await mkdtemp(join(tmpdir(), 'steadfetch-bench-'));
  const launch = () =>
    chromium.launchPersistentContext(profile, {
      executablePath: found.executablePath,
      env: { ...process.env, ...found.env },
      chromiumSandbox: false,
    });
  let context = await launch();
  try {
    let page = await context.newPage();
    await page.goto(origin);
    await page.evaluate(async (script) => {
      const { serviceWorker } = navigator;
      const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve));
      await serviceWorker.register(script);
      await controlled;
    }, `/sw-${index}.js`);
    await context.setOffline(true);
    const keptMs = await page.evaluate(
      async ({ entries, keys }) => {
        const askedAt = performance.now();
        for (let n = 0; n < entries; n += 1) {
          const headers = { 'Idempotency-Key': `k${n}` };
          const { status } = await fetch(`/take/${n % keys}`, { method: 'POST', headers, body: `${n}` });
          if (status !== 202) throw new Error(`entry ${n} was answered with ${status}`);
        }
        return performance.now() - askedAt;
      },
      { entries, keys: KEYS },
    );
    await context.close();
    context = await launch();
    page = await context.newPage();
    const openedAt = performance.now();
    await page.goto(origin);
    // A page of an app says something to its worker soon, and asks it for something.
    await page.evaluate(async (start) => {
      (await navigator.serviceWorker.ready).active.postMessage(start ?? 'hello');
    }, start);
    while (new Set(came.map(({ body }) => body)).size < entries && performance.now() - openedAt < LONGEST_MS) {
      await page.waitForTimeout(100);
    }
    report(kind, keptMs, openedAt);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function report(kind, keptMs, openedAt) {
  const bodies = new Set(came.map(({ body }) => body));
  const tookMs = (came.at(-1)?.at ?? 0) - (came[0]?.at ?? 0);
  let disordered = 0;
  for (let key = 0; key < KEYS; key += 1) {
    const numbers = came.filter(({ url }) => url.endsWith(`/${key}`)).map(({ body }) => Number(body));
    disordered += numbers.filter((number, index) => index > 0 && number < numbers[index - 1]).length;
  }
  console.log(
    line(
      kind,
      `${((entries / keptMs) * 1_000).toFixed(0)}/s`,
      `${(tookMs / 1_000).toFixed(1)} s`,
      `${((bodies.size / tookMs) * 1_000).toFixed(0)}/s`,
      `${((came[0]?.at ?? Number.NaN) - openedAt).toFixed(0)} ms`,
      entries - bodies.size,
      came.length - bodies.size,
      disordered,
    ),
  );
  if (bodies.size < entries || disordered > 0) process.exitCode = 1;
}

async function workbox() {
  const [result] = [
    await build({
      configFile: false,
      logLevel: 'silent',
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        write: false,
        lib: { entry: inRepo('test/bench/rivals/workbox-queue.sw.ts'), formats: ['iife'], name: 'sw' },
      },
    }),
  ].flat();
  return result.output[0].code;
}

function line(first, ...others) {
  return first.padEnd(24) + others.map((text) => String(text).padStart(12)).join('');
}

function readEntries(args) {
  const [option, value = '', ...others] = args;
  if (option === undefined) return 1_000;
  if (option !== '--entries' || others.length > 0) fail(`unknown option ${args.join(' ')}; use --entries N, or none`);
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) fail(`--entries must be a whole number of at least 1, got ${value}`);
  return number;
}

function fail(problem) {
  console.error(`bench: ${problem}`);
  process.exit(1);
}
