import { byTurns, openStage } from './stage.mjs';
import { median, quantile, ratios, show, spread } from './stats.mjs';
import { bare, layer, rival } from './workers.mjs';

/** For the rest of a sample: an answer is there before the worker is, if the browser need not wait for it. */
const SETTLE_MS = 50;

/** What a worker costs that has to be started first: each sample stops it, and times one small GET. */
export async function cold({ quick }) {
  const workers = {
    'no worker': undefined,
    'bare worker': bare(),
    steadfetch: layer(),
    'steadfetch, `raceNetwork`': layer({ routes: [{ match: '/small', raceNetwork: true }] }),
    'steadfetch, `retry: false`': layer({ routes: [{ match: '/small', retry: false }] }),
    'Workbox NetworkOnly': await rival('workbox'),
    'Serwist NetworkOnly': await rival('serwist'),
  };
  const stage = await openStage(workers, (_, res) =>
    res.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end('small'),
  );
  const stops = new Map();
  for (const stand of stage.stands) stops.set(stand, await stopper(stand));
  const turns = quick ? { runs: 2, rounds: 2 } : { runs: 5, rounds: 20, warmUp: 3 };
  let next = 0;
  const taken = await byTurns(stage.stands, turns, async (stand) => {
    await stand.page.waitForTimeout(SETTLE_MS);
    await stops.get(stand)();
    return stand.page.evaluate(timed, `/small?${next++}`);
  });
  await stage.close();
  const p90 = (run) => quantile(run, 0.9);
  return {
    chromium: stage.version,
    tables: [
      {
        about: `One small GET, the worker stopped before each: ${turns.runs} runs of ${turns.rounds}`,
        columns: ['', 'p50', 'to bare', 'to none', 'p90'],
        rows: Object.keys(workers).map((kind) => [
          kind,
          show(spread(taken.get(kind).map(median)), 1, ' ms'),
          show(ratios(taken.get(kind), taken.get('bare worker'), median), 2),
          show(ratios(taken.get(kind), taken.get('no worker'), median), 2),
          show(spread(taken.get(kind).map(p90)), 1, ' ms'),
        ]),
      },
    ],
  };
}

/** In the page. */
async function timed(path) {
  const askedAt = performance.now();
  await (await fetch(path)).text();
  return performance.now() - askedAt;
}

async function stopper({ context, page }) {
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
