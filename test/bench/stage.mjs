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

/**
 * A server, a browser, and for each kind of worker a page that it controls: in a profile of its own, or they would share
 * one worker. `workers`: kind → its script, or nothing. `answer(req, res)` is asked for all but the page and the scripts.
 */
export async function openStage(workers, answer) {
  const kinds = Object.keys(workers);
  const server = createServer((req, res) => {
    const { url = '' } = req;
    const script = workers[kinds[Number(/^\/sw-(\d+)\.js$/.exec(url)?.[1])]];
    if (script === undefined && url !== '/') return void answer(req, res);
    res.writeHead(200, { ...ISOLATED, 'content-type': script ? 'text/javascript' : 'text/html' });
    res.end(script ?? PAGE);
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const url = `http://localhost:${server.address().port}`;
  const found = await findBrowser();
  const options = {
    executablePath: found.executablePath,
    env: { ...process.env, ...found.env },
    chromiumSandbox: false,
  };
  const browser = await chromium.launch(options);
  const stands = [];
  for (const [index, kind] of kinds.entries()) stands.push(await openStand(kind, index));
  return {
    stands,
    version: browser.version(),
    async close() {
      await browser.close();
      server.close();
      server.closeAllConnections();
    },
  };

  async function openStand(kind, index) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    if (workers[kind] !== undefined) await page.evaluate(takeControl, `/sw-${index}.js`);
    return { kind, context, page };
  }
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
