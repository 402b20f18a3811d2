import { byTurns, openStage } from './stage.mjs';
import { median, quantile, ratios, show, spread } from './stats.mjs';
import { bare, layer, rival } from './workers.mjs';

const BODY_BYTES = 1_024;

/** What a request costs that succeeds at its first try, in a worker that runs; and how many of them a second. */
export async function firstTry({ quick }) {
  const workers = {
    'no worker': undefined,
    'bare worker': bare(),
    steadfetch: layer(),
    'Workbox NetworkOnly': await rival('workbox'),
    'Serwist NetworkOnly': await rival('serwist'),
  };
  const stage = await openStage(workers, (req, res) => {
    req.resume();
    req.on('end', () => res.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end('small'));
  });
  const runs = quick ? 2 : 5;
  const batch = quick ? 10 : 50;
  const warmUp = quick ? 1 : 4;
  const [getRounds, putRounds, rateRounds] = quick ? [2, 2, 1] : [40, 20, 5];
  const one = (how) => (stand) => stand.page.evaluate(oneAfterTheOther, { ...how, batch });
  const gets = await byTurns(stage.stands, { runs, rounds: getRounds, warmUp }, one({ method: 'GET' }));
  const put = { method: 'PUT', bytes: BODY_BYTES };
  const puts = await byTurns(stage.stands, { runs, rounds: putRounds, warmUp }, one(put));
  const rates = await byTurns(stage.stands, { runs, rounds: rateRounds, warmUp }, (stand) =>
    stand.page.evaluate(sixAtOnce, batch * 2),
  );
  await stage.close();

  const p99 = (run) => quantile(run, 0.99);
  const base = 'bare worker';
  const times = (taken) =>
    Object.keys(workers).map((kind) => [
      kind,
      show(spread(taken.get(kind).map(median)), 2, ' ms'),
      show(ratios(taken.get(kind), taken.get(base), median), 3),
      show(spread(taken.get(kind).map(p99)), 2, ' ms'),
    ]);
  const each = (rounds) => `${runs} runs of ${rounds * batch} requests, one after the other`;
  return {
    chromium: stage.version,
    tables: [
      { about: `GET: ${each(getRounds)}`, columns: ['', 'p50', 'to bare', 'p99'], rows: times(gets) },
      {
        about: `PUT of ${BODY_BYTES} bytes: ${each(putRounds)}`,
        columns: ['', 'p50', 'to bare', 'p99'],
        rows: times(puts),
      },
      {
        about: `GETs, six at a time: ${runs} runs of ${rateRounds * batch * 2} requests`,
        columns: ['', 'requests a second', 'to bare'],
        rows: Object.keys(workers).map((kind) => [
          kind,
          show(spread(rates.get(kind).map(median)), 0),
          show(ratios(rates.get(kind), rates.get(base), median), 3),
        ]),
      },
    ],
  };
}

/** In the page. */
async function oneAfterTheOther({ method, bytes = 0, batch }) {
  const body = bytes > 0 ? 'x'.repeat(bytes) : undefined;
  const took = [];
  for (let n = 0; n < batch; n += 1) {
    const askedAt = performance.now();
    await (await fetch('/small', { method, body })).text();
    took.push(performance.now() - askedAt);
  }
  return took;
}

/** In the page. */
async function sixAtOnce(requests) {
  let left = requests;
  const askedAt = performance.now();
  const lane = async () => {
    while (left-- > 0) await (await fetch('/small')).text();
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return (requests * 1_000) / (performance.now() - askedAt);
}
