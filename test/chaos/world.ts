import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, CDPSession, Page } from '@playwright/test';
import type { Step } from '../../demo/misbehaving-server.ts';
import { requestBody } from './body.ts';
import type { Evidence, Memory, Report, ServerHit } from './evidence.ts';
import { LONGEST_STALL_MS } from './faults.ts';
import { mostMs, UPLOADS } from './invariants.ts';
import type { Asked } from './page.ts';
import { type Issue, isBoxed, issuesOf, onwardOf, type Plan, TABS } from './plan.ts';
import { type ChaosSite, openSite, type Scripts } from './site.ts';

/** Requests that are under way at once. */
const MOST_IN_FLIGHT = 32;
/** How long something may take to come to rest that is bounded by no wait of the run. */
const REST_MS = 15_000;
const LOOK_MS = 50;
const MIB = 1_048_576;

/** Carries a plan out in a browser, and brings back all that was seen. */
export async function live(plan: Plan, scripts: Scripts, browser: Browser): Promise<Evidence> {
  const site = await openSite(scripts);
  const context = await browser.newContext();
  try {
    return await carryOut(plan, site, context);
  } finally {
    await context.close();
    await site.close();
  }
}

async function carryOut(plan: Plan, site: ChaosSite, context: BrowserContext): Promise<Evidence> {
  const reports: Report[] = [];
  const complaints: string[] = [];
  const issuedAt = new Map<string, number>();
  const underWay = new Map<string, Issue>();
  const kills: number[] = [];
  const flips: { from: number; to: number }[] = [];
  const closes: { tab: number; at: number }[] = [];
  const steps = new Map<string, Step>();
  site.wire.onHit(({ id, n }, step) => void steps.set(`${id} ${n}`, step));

  await context.exposeBinding('report', (_source, report: Report) => {
    reports.push(report);
    underWay.delete(report.id);
  });
  await context.exposeBinding('complain', (_source, what: string) => {
    if (!BUSY.test(what)) complaints.push(what);
  });
  context.on('weberror', (error) => void complaints.push(`page: ${error.error().stack ?? error.error()}`));
  context.on('console', (message) => {
    // Of every load that fails the browser itself writes an error.
    const isOwn = message.type() === 'error' && !BROWSERS_OWN.test(message.text());
    if (isOwn || (message.text().startsWith('steadfetch') && !BUSY.test(message.text())))
      complaints.push(`page: ${message.type()} ${message.text()}`);
  });

  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(site.first);
    const state = await page.evaluate((url) => window.chaos.connect(url), `/sw.js?guards=${plan.guards}`);
    if (state !== 'controlled') throw new Error(`a page of the run is ${state}`);
    return page;
  };
  // It stays to the end.
  const home = await open();
  await home.evaluate(() => window.chaos.listen());
  const tabs = await Promise.all(Array.from({ length: TABS }, open));
  const killer = await createKiller(home);

  let before = 0;
  let flipping: Promise<void> | undefined;
  for (const action of plan.actions) {
    switch (action.do) {
      case 'issue': {
        await until(() => inFlight() < MOST_IN_FLIGHT);
        const { issue } = action;
        site.wire.plan(issue.id, issue.steps);
        if (issue.onward) site.wire.plan(onwardOf(issue.id), issue.onward);
        issuedAt.set(issue.id, Date.now());
        underWay.set(issue.id, issue);
        tell(tabs[issue.tab], toAsked(issue, site));
        break;
      }
      case 'kill':
        kills.push(Date.now());
        await killer.kill();
        // Their load never ends (see `lost`).
        for (const { id, kind } of [...underWay.values()]) if (kind === 'frame') underWay.delete(id);
        break;
      case 'flip':
        await flipping;
        flipping = flip(action.offlineMs);
        break;
      case 'hurry':
        await home.evaluate(() => window.chaos.hurry());
        break;
      case 'close': {
        await flipping;
        await tabs[action.tab]?.close();
        closes.push({ tab: action.tab, at: Date.now() });
        for (const { id, tab } of [...underWay.values()]) if (tab === action.tab) underWay.delete(id);
        tabs[action.tab] = await open();
        break;
      }
      case 'weigh':
        await flipping;
        await until(() => inFlight() === 0);
        before = await weigh(context);
        break;
    }
  }
  await flipping;
  await until(() => inFlight() === 0);
  const endedAt = Date.now();
  const isOpen = () => site.wire.hits().filter(({ closedAt }) => closedAt === undefined);
  await until(() => isOpen().length === 0, LONGEST_STALL_MS + REST_MS);
  const stillOpen = isOpen().map(({ id }) => id);

  const outbox = await deliverAll(plan, home, site);
  const memory = await remember(home, site, context, before);
  return {
    plan,
    site,
    issuedAt,
    endedAt,
    reports,
    hits: toHits(plan, site, steps),
    kills,
    flips,
    closes,
    outbox,
    complaints,
    stillOpen,
    openSockets: site.openSockets(),
    memory,
  };

  /** Whatever has been waited for beyond what is allowed is waited for no longer. */
  function inFlight(): number {
    const now = Date.now();
    return [...underWay.keys()].filter((id) => now - (issuedAt.get(id) ?? 0) < mostMs(3)).length;
  }

  async function flip(offlineMs: number): Promise<void> {
    const from = Date.now();
    await context.setOffline(true);
    await sleep(offlineMs);
    await context.setOffline(false);
    flips.push({ from, to: Date.now() });
  }
}

/** Not of the layer's making: a disk that takes seconds. */
const BUSY = /steadfetch: the database cannot be used.* no answer within/s;
const BROWSERS_OWN = /^(Failed to load resource|Access to |The FetchEvent for|Refused to execute script)/;

/** Not waited for: the way to a page takes longer than all else. */
function tell(tab: Page | undefined, asked: Asked): void {
  tab
    ?.evaluate((asked) => window.chaos.issue(asked), asked)
    .catch((error) => {
      if (!tab.isClosed()) throw error;
    });
}

function toAsked({ id, kind, method, keepalive, key, bodyBytes, route, shard, origin }: Issue, site: ChaosSite): Asked {
  const url = `${origin === 'first' ? '' : site.second}/wire/${id}?${route}&${shard}`;
  return {
    id,
    kind,
    method,
    keepalive,
    url,
    ...(key ? { key } : {}),
    ...(bodyBytes === undefined ? {} : { bodyBytes }),
  };
}

/** Every server is well from now on: what was kept is to be delivered. */
async function deliverAll(plan: Plan, home: Page, site: ChaosSite) {
  for (const issue of issuesOf(plan)) {
    if (isBoxed(issue)) site.wire.play(issue.id, [{ forMs: 1, step: { status: 201, body: 'taken' } }]);
  }
  await home.evaluate(() => window.chaos.reset());
  const endAt = Date.now() + 2 * REST_MS;
  for (;;) {
    await home.evaluate(() => window.chaos.hurry());
    const items = await home.evaluate(() => window.chaos.outbox());
    const waits = items.some(({ state }) => state === 'waiting' || state === 'sending');
    if (!waits || Date.now() > endAt) return items;
    await sleep(500);
  }
}

async function remember(home: Page, site: ChaosSite, context: BrowserContext, before: number): Promise<Memory> {
  let uploadsReplayed = 0;
  // A machine that is busy may take too long over one; what is never let go stays.
  for (let tried = 0; tried < 5 && uploadsReplayed < UPLOADS; tried += 1)
    uploadsReplayed = await upload(home, site, tried);
  const look = () =>
    home.evaluate(async () => ({ ...(await window.chaos.left()), parked: await window.chaos.parked() }));
  let left = await look();
  const isAtRest = () => left.answers + left.fetches + left.timers + left.parked === 0;
  for (const endAt = Date.now() + REST_MS; !isAtRest() && Date.now() < endAt; ) {
    await sleep(250);
    left = await look();
  }
  const records = await home.evaluate(() => window.chaos.records());
  return { heapBytes: { before, after: await weigh(context) }, left: { ...left, records }, uploadsReplayed };
}

/** Uploads at once, each of which its server wants again; resolves to how many went again. */
async function upload(home: Page, { wire }: ChaosSite, round: number): Promise<number> {
  const ids = Array.from({ length: UPLOADS }, (_, index) => `upload${round}-${index}`);
  for (const id of ids) wire.plan(id, [{ status: 503, delayMs: 300 }, { body: 'taken' }]);
  await home.evaluate(() => window.chaos.reset());
  await home.evaluate(
    ({ ids, bytes }) => {
      const body = 'x'.repeat(bytes);
      return Promise.allSettled(
        ids.map((id, shard) => fetch(`/wire/${id}?plain&${shard % 4}`, { method: 'PUT', body })),
      );
    },
    { ids, bytes: MIB - 1_024 },
  );
  return ids.filter((id) => wire.hits(id).length === 2).length;
}

function toHits(plan: Plan, { wire }: ChaosSite, steps: ReadonlyMap<string, Step>): ServerHit[] {
  const bodies = new Map(
    issuesOf(plan).map(({ id, bodyBytes }) => [id, bodyBytes === undefined ? '' : requestBody(id, bodyBytes)]),
  );
  return wire.hits().map(({ id, n, at, method, headers, body, complete }) => {
    const sent = bodies.get(id);
    const got = body.toString();
    const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1];
    const isSame = sent === undefined || got === sent;
    return {
      id,
      at,
      method,
      ...(key === undefined ? {} : { key }),
      step: steps.get(`${id} ${n}`) ?? {},
      body: isSame ? 'same' : complete !== true && sent.startsWith(got) ? 'partial' : 'other',
    };
  });
}

/** Stops the worker as the browser would; resolves when it is gone, also if it was not there. */
async function createKiller(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  let stops = 0;
  cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) stops += 1;
  });
  await cdp.send('ServiceWorker.enable');
  return {
    async kill(): Promise<void> {
      const before = stops;
      await cdp.send('ServiceWorker.stopAllWorkers');
      await until(() => stops > before, 1_000);
    },
  };
}

/** What the worker's heap holds after everything that can go has gone. */
async function weigh(context: BrowserContext): Promise<number> {
  const browser = context.browser();
  if (browser === null) throw new Error('there is no browser whose workers could be weighed');
  const cdp = await browser.newBrowserCDPSession();
  try {
    const { targetInfos } = await cdp.send('Target.getTargets');
    const worker = targetInfos.find(({ type }) => type === 'service_worker');
    if (worker === undefined) throw new Error('there is no worker to be weighed');
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId: worker.targetId, flatten: false });
    const ask = createAsk(cdp, sessionId);
    await ask('HeapProfiler.enable');
    await ask('HeapProfiler.collectGarbage');
    await ask('HeapProfiler.collectGarbage');
    const { usedSize } = await ask('Runtime.getHeapUsage');
    await cdp.send('Target.detachFromTarget', { sessionId });
    return Number(usedSize);
  } finally {
    await cdp.detach();
  }
}

/** Playwright has no sessions with workers, so their messages go through that of the browser. */
function createAsk(cdp: CDPSession, sessionId: string) {
  let next = 0;
  return (method: string): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++next;
    return new Promise((resolve, reject) => {
      cdp.on('Target.receivedMessageFromTarget', ({ message }) => {
        const answer = JSON.parse(message);
        if (answer.id !== id) return;
        if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
        else resolve(answer.result);
      });
      cdp.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) }).catch(reject);
    });
  };
}

async function until(holds: () => boolean, mostMs = Number.POSITIVE_INFINITY): Promise<void> {
  const endAt = Date.now() + mostMs;
  while (!holds() && Date.now() < endAt) await sleep(LOOK_MS);
}
