import { readFileSync } from 'node:fs';
import { openStage } from './stage.mjs';
import { quantile } from './stats.mjs';
import { built } from './workers.mjs';

/** As many as a worker tells a page at most. */
const MORE_PER_SECOND = 20;

/**
 * How evenly the panel scrolls through its events while more come in. A frame that takes longer than two of the display's
 * is one that somebody sees.
 */
export async function devtools({ quick }) {
  const events = quick ? 500 : 10_000;
  const scrollMs = quick ? 500 : 5_000;
  const script = readFileSync(new URL(built('devtools')));
  const stage = await openStage({ panel: undefined }, (_, res) =>
    res.writeHead(200, { 'content-type': 'text/javascript' }).end(script),
  );
  const [{ page, context }] = stage.stands;
  await page.setViewportSize({ width: 1_440, height: 900 });
  // In the thread's own time, which others on this machine take nothing from.
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const spentBefore = await spent();
  const { shownMs, frames, nodes, heapMB } = await page.evaluate(scroll, {
    script: '/devtools.js',
    events,
    morePerSecond: MORE_PER_SECOND,
    scrollMs,
  });
  const spentMs = (await spent()) - spentBefore;
  await stage.close();
  const ms = (value) => `${value.toFixed(1)} ms`;
  return {
    chromium: stage.version,
    tables: [
      {
        about: `The panel with ${events.toLocaleString('en')} events, ${MORE_PER_SECOND} more a second while it is scrolled for ${scrollMs / 1_000} s`,
        columns: ['', ''],
        rows: [
          ['shown after', ms(shownMs)],
          ['elements', nodes],
          ['heap', heapMB === undefined ? 'not told' : `${heapMB.toFixed(0)} MB`],
          ['frames', frames.length],
          ['frame, p50', ms(quantile(frames, 0.5))],
          ['frame, p99', ms(quantile(frames, 0.99))],
          ['longest frame', ms(Math.max(...frames))],
          ['frames over 34 ms', frames.filter((one) => one > 34).length],
          ['main thread’s own time for each', ms(spentMs / frames.length)],
        ],
      },
    ],
  };
}

/** In the page: makes a line that tells what it is given, scrolls from end to end, and times each frame. */
async function scroll({ script, events, morePerSecond, scrollMs }) {
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
