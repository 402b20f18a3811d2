// `npm run bench:resume`: what a download costs that may be resumed, and what is fetched twice if it is cut five times.
// Once as fast as this machine can, once as fast as a gigabit line at half its speed. The kinds take turns, so that what
// else the machine does meets all of them alike; "re-wrapped" is what any worker pays that gives its page a body of its
// own. `--samples N` of each kind. It fails if a byte is wrong or more than 1 % is fetched twice; the other figures are
// this machine's.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { findBrowser } from '../support/find-browser.mjs';

const samples = readSamples(process.argv.slice(2));
const dropin = fileURLToPath(new URL('../../dist/dropin.js', import.meta.url));
if (!existsSync(dropin)) fail('not built: dist/dropin.js; run `npm run build` first');

const MIB = 1_048_576;
const FILE = Buffer.alloc(64 * MIB, Buffer.from(Array.from({ length: 251 }, (_, at) => at)));
const HASH = createHash('sha256').update(FILE).digest('hex');
const CUTS = 5;
/** What has been sent is read before the connection is lost, so that the server's count is the page's. */
const BEFORE_CUT_MS = 400;
/** 64 MiB/s: half of a gigabit line. */
const PACE = { bytes: 256 * 1_024, everyMs: 4 };
const PAUSE_MS = 3_000;

const layer = (retry) =>
  `${readFileSync(dropin)}\nsteadfetch.createRetryLayer({ defaults: ${JSON.stringify(retry)} }).listen();`;
const bare = (then = '') => `
  addEventListener('activate', () => clients.claim());
  addEventListener('fetch', (event) => event.respondWith(fetch(event.request)${then}));`;

/** Kind of worker → its script. */
const KINDS = {
  'no worker': undefined,
  'bare worker': bare(),
  'bare, re-wrapped': bare('.then((response) => new Response(response.body, response))'),
  steadfetch: layer({}),
  'steadfetch, resume': layer({ resume: true }),
};
const RESUMING = 'steadfetch, resume';
/** The first ones also compile, and open their connections. */
const WARM_UP = 1;

const sent = new Map();
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
  for (const taker of takers) {
    const [fast, paced] = [await taker.take('/whole'), await taker.take('/paced')];
    if (round < 0) continue;
    taker.fast.push(fast.ms);
    taker.paced.push(paced.ms);
  }
}
const resuming = takers.find(({ kind }) => kind === RESUMING);
const broken = [];
for (let round = 0; round < samples; round += 1) broken.push(await resuming.take('/cut'));
const paused = [];
for (const { kind, pause } of takers) paused.push([kind, await pause()]);
const version = browser.version();
await browser.close();
server.close();
server.closeAllConnections();
report();

function answer(req, res) {
  const path = req.url ?? '';
  const [, what, id] = /^\/(\w+)\/?(\S*)$/.exec(path) ?? [];
  if (['whole', 'paced', 'cut', 'paused'].includes(what)) return void sendFile(req, res, what, id);
  const kind = Object.keys(KINDS)[Number(/^\/sw-(\d+)\.js$/.exec(path)?.[1])];
  res.writeHead(200, { 'content-type': kind ? 'text/javascript' : 'text/html', 'cache-control': 'no-store' });
  res.end(kind ? KINDS[kind] : '<!doctype html><title>bench</title>');
}

/** As a server with byte ranges does; a broken one loses the connection each sixth of the file. */
async function sendFile({ headers }, res, what, id) {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const partial = headers.range !== undefined;
  res.writeHead(partial ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': FILE.length - from,
    'cache-control': 'no-store',
    connection: 'close',
    'accept-ranges': 'bytes',
    etag: '"v1"',
    ...(partial && { 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}` }),
  });
  const share = Math.ceil(FILE.length / (CUTS + 1));
  const end = what === 'cut' ? Math.min(FILE.length, from + share) : FILE.length;
  const log = sent.get(id) ?? { bytes: 0, requests: 0 };
  sent.set(id, log);
  log.requests += 1;
  const beganAt = performance.now();
  for (let at = from; at < end && !res.destroyed; ) {
    const chunk = FILE.subarray(at, Math.min(end, at + 65_536));
    at += chunk.length;
    await new Promise((resolve) => {
      res.once('close', resolve);
      res.write(chunk, () => {
        res.off('close', resolve);
        resolve();
      });
    });
    log.bytes += chunk.length;
    const dueMs = what === 'paced' ? beganAt + ((at - from) / PACE.bytes) * PACE.everyMs - performance.now() : 0;
    if (dueMs >= 1) await new Promise((resolve) => setTimeout(resolve, dueMs));
  }
  if (end === FILE.length) return res.end();
  setTimeout(() => res.socket?.resetAndDestroy(), BEFORE_CUT_MS);
}

/** A browser profile of its own for each, or they would share one worker. */
async function openTaker(kind, script) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  if (script) {
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
  const idOf = () => `${Object.keys(KINDS).indexOf(kind)}-${next++}`;
  return {
    kind,
    fast: [],
    paced: [],
    async take(path) {
      const id = idOf();
      const seen = await page.evaluate(async (path) => {
        const askedAt = performance.now();
        const reader = (await fetch(path)).body.getReader();
        const chunks = [];
        for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value);
        const ms = performance.now() - askedAt;
        const digest = await crypto.subtle.digest('SHA-256', await new Blob(chunks).arrayBuffer());
        return { ms, hash: [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
      }, `${path}/${id}`);
      if (seen.hash !== HASH) fail(`${kind}: ${path} is not what was sent`);
      return { ...seen, ...sent.get(id) };
    },
    /** How much a reader that has stopped reading lets its server send. */
    async pause() {
      const id = idOf();
      await page.evaluate(async (path) => {
        const reader = (await fetch(path)).body.getReader();
        await reader.read();
        window.reader = reader;
      }, `/paused/${id}`);
      await page.waitForTimeout(PAUSE_MS);
      const { bytes } = sent.get(id);
      await page.evaluate(() => window.reader.cancel());
      return bytes;
    },
  };
}

function report() {
  const of = (wanted) => takers.find(({ kind }) => kind === wanted);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const speed = (ms) => `${(FILE.length / MIB / (ms / 1_000)).toFixed(0)} MiB/s`;
  const share = (kind, pace) => `${((100 * median(of('bare worker')[pace])) / median(of(kind)[pace])).toFixed(0)} %`;
  console.log(`64 MiB, ${samples} samples each, Chromium ${version}, ${seconds} s\n`);
  console.log(line('', 'unlimited', 'of bare', '64 MiB/s', 'of bare', 'paused at'));
  for (const kind of Object.keys(KINDS)) {
    const { fast, paced } = of(kind);
    const at = paused.find(([other]) => other === kind)?.[1] ?? 0;
    console.log(
      line(
        kind,
        speed(median(fast)),
        share(kind, 'fast'),
        speed(median(paced)),
        share(kind, 'paced'),
        `${(at / MIB).toFixed(1)} MiB`,
      ),
    );
  }
  const again = Math.max(...broken.map(({ bytes }) => (100 * (bytes - FILE.length)) / FILE.length));
  const requests = Math.max(...broken.map((one) => one.requests));
  console.log(`\n${CUTS} cuts: every byte right, ${requests} requests, ${again.toFixed(3)} % fetched twice`);
  if (again > 1) fail('more than 1 % was fetched twice');
}

function line(first, ...others) {
  return first.padEnd(22) + others.map((text) => text.padStart(12)).join('');
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function readSamples(args) {
  const [option, value = '', ...others] = args;
  if (option === undefined) return 10;
  if (option !== '--samples' || others.length > 0) fail(`unknown option ${args.join(' ')}; use --samples N, or none`);
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) fail(`--samples must be a whole number of at least 1, got ${value}`);
  return number;
}

function fail(problem) {
  console.error(`bench: ${problem}`);
  process.exit(1);
}
