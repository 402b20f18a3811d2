import { createServer } from 'node:http';
import { chromium } from '@playwright/test';
import { findBrowser } from '../support/find-browser.mjs';

/** Pages measure in steps of 5 µs with these, of 100 µs without. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cache-control': 'no-store',
};
const PAGE = '<!doctype html><title>bench</title>';

/** Serves a page at `/`, the script of each of `workers` at `/sw-0.js` and so on, and asks `answer(req, res)` for the rest. */
export async function openServer(workers, answer) {
  const scripts = Object.values(workers);
  const server = createServer((req, res) => {
    const script = scripts[Number(/^\/sw-(\d+)\.js$/.exec(req.url)?.[1])];
    if (script === undefined && req.url !== '/') return void answer(req, res);
    res.writeHead(200, { ...ISOLATED, 'content-type': script ? 'text/javascript' : 'text/html' });
    res.end(script ?? PAGE);
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function launchOptions() {
  const { executablePath, env } = await findBrowser();
  return { executablePath, env: { ...process.env, ...env }, chromiumSandbox: false };
}

/** A browser with one profile, which outlasts it. */
export const persistent = async (profile) => chromium.launchPersistentContext(profile, await launchOptions());

/**
 * A server, a browser, and for each kind of worker a page that it controls: in a profile of its own, or they would share
 * one worker. `workers`: kind → its script, or nothing.
 */
export async function openStage(workers, answer) {
  const server = await openServer(workers, answer);
  const browser = await chromium.launch(await launchOptions());
  const stands = [];
  for (const [index, [kind, script]] of Object.entries(workers).entries()) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    if (script !== undefined) await page.evaluate(takeControl, `/sw-${index}.js`);
    stands.push({ kind, context, page });
  }
  return {
    stands,
    version: browser.version(),
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** In a page: resolves once a worker with this script controls it. */
export async function takeControl(script) {
  const { serviceWorker } = navigator;
  const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve));
  await serviceWorker.register(script);
  await controlled;
}

/**
 * Takes samples of all stands by turns, so that what else the machine does meets all of them alike; whoever is first one
 * time is last the next. Resolves to kind → for each run, its samples; `take` gives one or several. The first ones also
 * compile and open their connections: `warmUp` rounds do not count.
 */
export async function byTurns(stands, { runs, rounds, warmUp = 1 }, take) {
  const taken = new Map(stands.map(({ kind }) => [kind, Array.from({ length: runs }, () => [])]));
  const order = [...stands];
  for (let round = -warmUp; round < runs * rounds; round += 1) {
    order.push(order.shift());
    for (const stand of order) {
      const samples = [await take(stand)].flat();
      if (round >= 0) taken.get(stand.kind)[Math.floor(round / rounds)].push(...samples);
    }
  }
  return taken;
}
