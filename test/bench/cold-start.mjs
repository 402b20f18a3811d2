// `npm run bench:cold`: what a worker costs that has to be started first, as a page sees it. Each sample stops the
// worker and times one small GET; the kinds take turns, so that what else the machine does meets all of them alike.
// `--samples N` of each kind. It holds nothing to anything: the figures are this machine's.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { findBrowser } from '../support/find-browser.mjs';

const samples = readSamples(process.argv.slice(2));
const dropin = fileURLToPath(new URL('../../dist/dropin.js', import.meta.url));
if (!existsSync(dropin)) fail('not built: dist/dropin.js; run `npm run build` first');

const layer = (options = '') => `${readFileSync(dropin)}\nsteadfetch.createRetryLayer(${options}).listen();`;
const bare = `
  addEventListener('activate', () => clients.claim());
  addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));`;

/** Kind of worker → its script. */
const KINDS = {
  'no worker': undefined,
  'bare worker': bare,
  steadfetch: layer(),
  'steadfetch, raceNetwork': layer(`{ routes: [{ match: '/small', raceNetwork: true }] }`),
  'steadfetch, retry: false': layer(`{ routes: [{ match: '/small', retry: false }] }`),
};
/** For the rest of a sample: an answer is there before the worker is, if the browser need not wait for it. */
const SETTLE_MS = 50;
/** The first ones also compile, and open their connections. */
const WARM_UP = 3;

const server = createServer(answer);
await new Promise((resolve) => server.listen(0, 'localhost', resolve));
const url = `http://localhost:${server.address().port}`;
const found = await findBrowser();
const browser = await chromium.launch({
  executablePath: found.executablePath,
  env: { ...process.env, ...found.env },
  chromiumSandbox: false,
});
const startedAt = performance.now();
const takers = [];
for (const [kind, script] of Object.entries(KINDS)) takers.push(await openTaker(kind, script));
for (let round = -WARM_UP; round < samples; round += 1) {
  // Whoever is first one time is last the next.
  takers.push(takers.shift());
  for (const { take, taken } of takers) {
    const ms = await take();
    if (round >= 0) taken.push(ms);
  }
}
const version = browser.version();
await browser.close();
server.close();
server.closeAllConnections();
report();

function answer({ url = '' }, res) {
  const kind = Object.keys(KINDS)[Number(/^\/sw-(\d+)\.js$/.exec(url)?.[1])];
  const type = kind ? 'text/javascript' : url === '/' ? 'text/html' : 'text/plain';
  res.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  res.end(kind ? KINDS[kind] : url === '/' ? '<!doctype html><title>bench</title>' : 'small');
}

/** A browser profile of its own for each, or they would share one worker. */
async function openTaker(kind, script) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  let stop = async () => {};
  if (script) {
    stop = await stopper(context, page);
    await page.evaluate(
      async (path) => {
        const { serviceWorker } = navigator;
        const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve));
        await serviceWorker.register(path);
        await controlled;
      },
      `/sw-${Object.keys(KINDS).indexOf(kind)}.js`,
    );
  }
  let next = 0;
  const take = async () => {
    await page.waitForTimeout(SETTLE_MS);
    await stop();
    return page.evaluate(async (path) => {
      const askedAt = performance.now();
      await (await fetch(path)).text();
      return performance.now() - askedAt;
    }, `/small?${next++}`);
  };
  return { kind, taken: [], take };
}

async function stopper(context, page) {
  const cdp = await context.newCDPSession(page);
  let status = 'stopped';
  let heard = () => {};
  cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    status = versions.at(-1)?.runningStatus ?? status;
    heard();
  });
  const until = async (...wanted) => {
    while (!wanted.includes(status)) {
      await new Promise((resolve) => {
        heard = resolve;
      });
    }
  };
  await cdp.send('ServiceWorker.enable');
  return async () => {
    await until('running', 'stopped');
    if (status === 'running') await cdp.send('ServiceWorker.stopAllWorkers');
    await until('stopped');
  };
}

function report() {
  const medians = new Map(takers.map(({ kind, taken }) => [kind, quantile(taken, 0.5)]));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const over = (kind, other) => `${(medians.get(kind) / medians.get(other)).toFixed(2)} ×`;
  console.log(
    `One small GET, worker stopped before each; ${samples} samples each, Chromium ${version}, ${seconds} s\n`,
  );
  console.log(line('', 'median', 'p90', 'to bare', 'to none'));
  for (const kind of Object.keys(KINDS)) {
    const { taken } = takers.find((taker) => taker.kind === kind);
    const ms = [0.5, 0.9].map((share) => `${quantile(taken, share).toFixed(1)} ms`);
    console.log(line(kind, ...ms, over(kind, 'bare worker'), over(kind, 'no worker')));
  }
}

function line(first, ...others) {
  return first.padEnd(26) + others.map((text) => text.padStart(10)).join('');
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function readSamples(args) {
  const [option, value = '', ...others] = args;
  if (option === undefined) return 30;
  if (option !== '--samples' || others.length > 0) fail(`unknown option ${args.join(' ')}; use --samples N, or none`);
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) fail(`--samples must be a whole number of at least 1, got ${value}`);
  return number;
}

function fail(problem) {
  console.error(`bench: ${problem}`);
  process.exit(1);
}
