import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServer, persistent, takeControl } from './stage.mjs';
import { layer, rival } from './workers.mjs';

const LONGEST_MS = 300_000;
const KEYS = 4;

/**
 * How fast what was kept offline is delivered after the browser was closed and opened again, beside Workbox's queue.
 * Wrong if an entry is lost or comes out of its order.
 */
export async function outbox({ quick }) {
  const entries = quick ? 20 : 1_000;
  const ours = (orderBy) => layer({ routes: [{ match: /[/]take[/]/, outbox: { orderBy, maxEntries: entries } }] });
  /** What keeps them, its worker's script, and what its page says to set it going. */
  const kinds = {
    'steadfetch, one order': { script: ours('outbox') },
    [`steadfetch, ${KEYS} orders`]: { script: ours('url') },
    'Workbox Queue': { script: await rival('workbox-queue'), start: 'replay' },
  };
  const came = [];
  const workers = Object.fromEntries(Object.entries(kinds).map(([kind, { script }]) => [kind, script]));
  const server = await openServer(workers, (req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      came.push({ at: performance.now(), url: req.url, body });
      res.writeHead(201).end();
    });
  });
  const rows = [];
  const wrong = [];
  let chromium;
  for (const [index, [kind, { start }]] of Object.entries(kinds).entries()) {
    came.length = 0;
    const profile = await mkdtemp(join(tmpdir(), 'steadfetch-bench-'));
    let context = await persistent(profile);
    chromium = context.browser()?.version() ?? chromium;
    try {
      let page = await context.newPage();
      await page.goto(server.url);
      await page.evaluate(takeControl, `/sw-${index}.js`);
      await context.setOffline(true);
      const keptMs = await page.evaluate(keep, { entries, keys: KEYS });
      await context.close();
      context = await persistent(profile);
      page = await context.newPage();
      const openedAt = performance.now();
      await page.goto(server.url);
      // A page of an app says something to its worker soon, and asks it for something.
      await page.evaluate(async (start) => {
        (await navigator.serviceWorker.ready).active.postMessage(start ?? 'hello');
      }, start);
      while (new Set(came.map(({ body }) => body)).size < entries && performance.now() - openedAt < LONGEST_MS) {
        await page.waitForTimeout(100);
      }
      const { row, lost, disordered } = told(came, { entries, keptMs, openedAt });
      rows.push([kind, ...row]);
      if (lost + disordered > 0) wrong.push(`${kind}: ${lost} lost, ${disordered} disordered`);
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  server.close();
  return {
    chromium,
    wrong,
    tables: [
      {
        about: `${entries} POSTs kept offline, the browser closed, opened again; one run`,
        columns: ['', 'kept', 'delivered', 'first after', 'lost', 'twice', 'disordered'],
        rows,
      },
    ],
  };
}

/** In the page. */
async function keep({ entries, keys }) {
  const askedAt = performance.now();
  for (let n = 0; n < entries; n += 1) {
    const headers = { 'Idempotency-Key': `k${n}` };
    const { status } = await fetch(`/take/${n % keys}`, { method: 'POST', headers, body: `${n}` });
    if (status !== 202) throw new Error(`entry ${n} was answered with ${status}`);
  }
  return performance.now() - askedAt;
}

function told(came, { entries, keptMs, openedAt }) {
  const bodies = new Set(came.map(({ body }) => body));
  const tookMs = (came.at(-1)?.at ?? 0) - (came[0]?.at ?? 0);
  let disordered = 0;
  for (let key = 0; key < KEYS; key += 1) {
    const numbers = came.filter(({ url }) => url.endsWith(`/${key}`)).map(({ body }) => Number(body));
    disordered += numbers.filter((number, index) => index > 0 && number < numbers[index - 1]).length;
  }
  const lost = entries - bodies.size;
  const row = [
    `${((entries / keptMs) * 1_000).toFixed(0)}/s`,
    `${((bodies.size / tookMs) * 1_000).toFixed(0)}/s`,
    `${((came[0]?.at ?? Number.NaN) - openedAt).toFixed(0)} ms`,
    lost,
    came.length - bodies.size,
    disordered,
  ];
  return { row, lost, disordered };
}
