import { createHash } from 'node:crypto';
import { byTurns, openStage } from './stage.mjs';
import { median, ratios, show, spread } from './stats.mjs';
import { bare, layer } from './workers.mjs';

const MIB = 1_048_576;
const CUTS = 5;
/** What has been sent is read before the connection is lost, so that the server's count is the page's. */
const BEFORE_CUT_MS = 400;
/** 64 MiB/s: half of a gigabit line. */
const PACE = { bytes: 256 * 1_024, everyMs: 4 };
const PAUSE_MS = 3_000;

/** "re-wrapped" is what any worker pays that gives its page a body of its own. */
const WORKERS = {
  'no worker': undefined,
  'bare worker': bare(),
  'bare, re-wrapped': bare('.then((response) => new Response(response.body, response))'),
  steadfetch: () => layer(),
  'steadfetch, `resume`': () => layer({ defaults: { resume: true } }),
};
const RESUMING = 'steadfetch, `resume`';

/**
 * What a download costs that may be resumed, as fast as this machine can and as a gigabit line at half its speed; and what is
 * fetched twice if it is cut five times. Wrong if a byte is, or if more than 1 % is fetched twice.
 */
export async function resume({ quick }) {
  const mib = quick ? 4 : 64;
  const file = Buffer.alloc(mib * MIB, Buffer.from(Array.from({ length: 251 }, (_, at) => at)));
  const hash = createHash('sha256').update(file).digest('hex');
  const wrong = [];
  const sent = new Map();
  let ids = 0;
  const workers = Object.fromEntries(
    Object.entries(WORKERS).map(([kind, script]) => [kind, typeof script === 'function' ? script() : script]),
  );
  const stage = await openStage(workers, (req, res) => void sendFile(file, sent, req, res));
  const turns = { runs: quick ? 1 : 5, rounds: quick ? 1 : 2, warmUp: quick ? 0 : 1 };

  const take = (what) => async (stand) => {
    const id = String(ids++);
    const seen = await stand.page.evaluate(download, `/${what}/${id}`);
    const isRight = seen.hash === hash;
    if (!isRight) wrong.push(`${stand.kind}: ${what} is not what was sent`);
    return { ...seen, ...sent.get(id), isRight };
  };
  const fast = await byTurns(stage.stands, turns, take('whole'));
  const paced = await byTurns(stage.stands, turns, take('paced'));
  const resuming = stage.stands.find(({ kind }) => kind === RESUMING);
  const cuts = [];
  for (let time = 0; time < (quick ? 1 : 10); time += 1) cuts.push(await take('cut')(resuming));
  const paused = [];
  for (const { page } of stage.stands) {
    const id = String(ids++);
    await page.evaluate(readOnce, `/paused/${id}`);
    await page.waitForTimeout(quick ? 500 : PAUSE_MS);
    paused.push(sent.get(id).bytes);
    await page.evaluate(() => window.reader.cancel());
  }
  await stage.close();

  const speed = (run) => mib / (median(run.map(({ ms }) => ms)) / 1_000);
  const of = (taken, kind) => [
    show(spread(taken.get(kind).map(speed)), 0),
    show(ratios(taken.get(kind), taken.get('bare worker'), speed), 2),
  ];
  const again = Math.max(...cuts.map(({ bytes }) => (100 * (bytes - file.length)) / file.length));
  const requests = Math.max(...cuts.map((one) => one.requests));
  if (again > 1) wrong.push(`${again.toFixed(2)} % was fetched twice, more than 1 %`);
  return {
    chromium: stage.version,
    wrong,
    tables: [
      {
        about: `Downloads of ${mib} MiB, MiB/s, ${turns.runs} runs of ${turns.rounds}; and how much a reader that stops reading lets its server send`,
        columns: ['', 'unlimited', 'to bare', '64 MiB/s', 'to bare', 'stopped at'],
        rows: Object.keys(workers).map((kind, index) => [
          kind,
          ...of(fast, kind),
          ...of(paced, kind),
          `${(paused[index] / MIB).toFixed(1)} MiB`,
        ]),
      },
      {
        about: `The same, cut ${CUTS} times on its way; the worst of ${cuts.length}`,
        columns: ['', 'requests', 'fetched twice', 'not what was sent'],
        rows: [[RESUMING, requests, `${again.toFixed(3)} %`, cuts.filter(({ isRight }) => !isRight).length]],
      },
    ],
  };
}

/** As a server with byte ranges does; a broken one loses the connection each sixth of the file. */
async function sendFile(file, sent, { url, headers }, res) {
  const [, what, id] = /^\/(\w+)\/(\d+)$/.exec(url) ?? [];
  if (id === undefined) return res.writeHead(404).end();
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const partial = headers.range !== undefined;
  res.writeHead(partial ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': file.length - from,
    'cache-control': 'no-store',
    connection: 'close',
    'accept-ranges': 'bytes',
    etag: '"v1"',
    ...(partial && { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }),
  });
  const share = Math.ceil(file.length / (CUTS + 1));
  const end = what === 'cut' ? Math.min(file.length, from + share) : file.length;
  const log = sent.get(id) ?? { bytes: 0, requests: 0 };
  sent.set(id, log);
  log.requests += 1;
  const beganAt = performance.now();
  for (let at = from; at < end && !res.destroyed; ) {
    const chunk = file.subarray(at, Math.min(end, at + 65_536));
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
  if (end === file.length) return res.end();
  setTimeout(() => res.socket?.resetAndDestroy(), BEFORE_CUT_MS);
}

/** In the page. */
async function download(path) {
  const askedAt = performance.now();
  const reader = (await fetch(path)).body.getReader();
  const chunks = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value);
  const ms = performance.now() - askedAt;
  const digest = await crypto.subtle.digest('SHA-256', await new Blob(chunks).arrayBuffer());
  return { ms, hash: [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
}

/** In the page. */
async function readOnce(path) {
  window.reader = (await fetch(path)).body.getReader();
  await window.reader.read();
}
