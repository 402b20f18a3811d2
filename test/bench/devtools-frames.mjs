// `npm run bench:devtools`: how evenly the panel scrolls through 10,000 events while more come in. A frame that takes
// longer than two of the display's is one that somebody sees. It holds nothing to anything: the figures are this machine's.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { findBrowser } from '../support/find-browser.mjs';

const EVENTS = 10_000;
/** As many as a worker tells a page at most. */
const MORE_PER_SECOND = 20;
const SCROLL_MS = 5_000;

const panel = fileURLToPath(new URL('../../dist/devtools.js', import.meta.url));
if (!existsSync(panel)) {
  console.error('bench: not built: dist/devtools.js; run `npm run build` first');
  process.exit(1);
}

const server = createServer(({ url }, res) => {
  const isScript = url === '/devtools.js';
  res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
  res.end(isScript ? readFileSync(panel) : '<!doctype html><title>frames</title>');
});
await new Promise((resolve) => server.listen(0, 'localhost', resolve));
const found = await findBrowser();
const browser = await chromium.launch({
  executablePath: found.executablePath,
  env: { ...process.env, ...found.env },
  chromiumSandbox: false,
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(`http://localhost:${server.address().port}/`);

// In the thread's own time, which others on this machine take nothing from.
const cdp = await page.context().newCDPSession(page);
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
const spent = async () => {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
};
const spentBefore = await spent();
const figures = await page.evaluate(run, {
  script: '/devtools.js',
  events: EVENTS,
  morePerSecond: MORE_PER_SECOND,
  scrollMs: SCROLL_MS,
});
const spentMs = (await spent()) - spentBefore;
const version = browser.version();
await browser.close();
server.close();

const { shownMs, frames, nodes, heapMB } = figures;
const spread = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) =>
    `${(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1)} ms`;
  return `median ${at(0.5)}, 95 % ${at(0.95)}, 99 % ${at(0.99)}, longest ${at(1)}`;
};
const dropped = frames.filter((ms) => ms > 34).length;
console.log(
  `Chromium ${version}, ${EVENTS.toLocaleString('en')} events, ${MORE_PER_SECOND} more a second while scrolling`,
);
console.log(`shown after      ${shownMs.toFixed(0)} ms`);
console.log(`elements         ${nodes}`);
if (heapMB !== undefined) console.log(`heap             ${heapMB.toFixed(0)} MB`);
console.log(`frames           ${frames.length} in ${SCROLL_MS / 1_000} s`);
console.log(`frame time       ${spread(frames)}`);
console.log(`main thread      ${(spentMs / frames.length || 0).toFixed(1)} ms of its own time for each frame`);
console.log(`over 34 ms       ${dropped} frames`);

/** In the page: makes a line that tells what it is given, scrolls from end to end, and times each frame. */
async function run({ script, events, morePerSecond, scrollMs }) {
  const { showDevtools } = await import(script);
  const listeners = new Map();
  const line = {
    state: 'controlled',
    on(type, listener) {
      listeners.set(type, listener);
      return () => listeners.delete(type);
    },
    status: async () => undefined,
    retryNow: async () => true,
    reset: async () => true,
    outbox: { list: async () => [] },
  };
  const startAt = Date.now();
  const tell = (index) => {
    const request = Math.floor(index / 3);
    const at = startAt + request * 5;
    const about = { id: `r${request}`, method: 'GET', url: `https://app.test/items/${request}`, group: 'data' };
    const type = ['retry-scheduled', 'retry-scheduled', 'recovered'][index % 3];
    const elapsedMs = [60, 520, 1_600][index % 3];
    const more =
      type === 'recovered'
        ? { attempts: 3, status: 200 }
        : { attempt: (index % 3) + 1, delayMs: [400, 1_000][index % 3], cause: 'status', status: 503, by: 'backoff' };
    listeners.get(type)({ type, ...about, at: at + elapsedMs, elapsedMs, ...more });
  };
  const panel = showDevtools(line);
  const beganAt = performance.now();
  for (let index = 0; index < events; index += 1) tell(index);
  const root = panel.shadowRoot;
  while (root.querySelectorAll('.body .cells').length === 0) await new Promise(requestAnimationFrame);
  const shownMs = performance.now() - beganAt;

  const grid = root.querySelector('#grid');
  const frames = [];
  const scrollFrom = performance.now();
  let last = scrollFrom;
  let told = events;
  while (last - scrollFrom < scrollMs) {
    const share = (last - scrollFrom) / scrollMs;
    // There and back.
    grid.scrollTop = (1 - Math.abs(2 * share - 1)) * grid.scrollHeight;
    while (told < events + (share * scrollMs * morePerSecond) / 1_000) tell(told++);
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return {
    shownMs,
    frames: frames.slice(1),
    nodes: root.querySelectorAll('*').length,
    heapMB: performance.memory && performance.memory.usedJSHeapSize / 1e6,
  };
}
