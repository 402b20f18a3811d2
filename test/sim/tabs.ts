import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { createServer } from 'vite';
import { misbehave } from '../../demo/misbehave-plugin.ts';
import { createMisbehavingServer } from '../../demo/misbehaving-server.ts';
import { workerBundles } from '../../demo/worker-bundles.ts';
import { FAILINGS, type Figures, failingScenario, type Scenario, simulate, steadfetch } from '../../src/sim/index.ts';
import type { FoundBrowser } from '../support/find-browser.mjs';

const TABS = 20;
const LATENCY_MS = 130;
/** Every tab hears when it begins, and has waited for it. */
const BEFORE_MS = 1_000;
const inRepo = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What all tabs together ask for during the scenario's minute. */
export const TRAFFICS = {
  '5/s': { scenario: failingScenario('10 s blip', '5/s') },
  // The simulator's own comes once a minute, and in five minutes of six it does not meet the outage.
  '30 at once every 10 s': {
    scenario: {
      ...failingScenario('10 s blip', '5/s'),
      traffic: { kind: 'burst', size: 30, everyMs: 10_000 },
    },
  },
} as const satisfies Record<string, { scenario: Scenario }>;
export type TrafficName = keyof typeof TRAFFICS;

/** The simulator's figures, and how far one minute of them lies from the mean: σ over `repetitions`. */
export function expected(name: TrafficName, repetitions = 2_000) {
  const { scenario } = TRAFFICS[name];
  const runs = Array.from({ length: repetitions }, (_, seed) => simulate(scenario, steadfetch(), { seed }));
  const sum = (of: (run: Figures) => number) => runs.reduce((total, run) => total + of(run), 0);
  const requests = sum((run) => run.requests);
  const attempts = sum((run) => run.attempts) / requests;
  const success = (100 * sum((run) => run.succeeded)) / requests;
  const deviation = (of: (run: Figures) => number, mean: number) =>
    Math.sqrt(sum((run) => (of(run) - mean) ** 2) / repetitions);
  return {
    attempts,
    success,
    attemptsSigma: deviation((run) => run.attemptsPerRequest, attempts),
    successSigma: deviation((run) => 100 * run.successShare, success),
  };
}

/** One minute of twenty tabs in a browser that has never been here, so that its budget is full. */
export async function measure(
  name: TrafficName,
  found: FoundBrowser,
): Promise<{ requests: number; attempts: number; success: number }> {
  const wire = createMisbehavingServer();
  let hits = 0;
  wire.onHit(() => {
    hits += 1;
  });
  const vite = await createServer({
    configFile: false,
    root: inRepo('test/browser/pages'),
    cacheDir: inRepo('node_modules/.cache/vite-tabs'),
    logLevel: 'error',
    server: { port: 0, host: 'localhost', hmr: false, watch: null, fs: { allow: [inRepo('.')] } },
    optimizeDeps: { noDiscovery: true },
    plugins: [misbehave(wire), workerBundles({ '/plain.sw.js': inRepo('test/browser/plain.sw.ts') })],
  });
  await vite.listen();
  const profile = await mkdtemp(join(tmpdir(), 'steadfetch-tabs-'));
  const browser = await launch(profile, found);
  try {
    const tabs: Page[] = [];
    for (let index = 0; index < TABS; index++) tabs.push(await openTab(browser, vite.resolvedUrls?.local[0] ?? ''));
    const { durationMs } = TRAFFICS[name].scenario;
    const beginAt = Date.now() + BEFORE_MS;
    const plan = (up: boolean) => wire.plan('tabs', [{ delayMs: LATENCY_MS, ...(up ? {} : { reset: 'headers' }) }]);
    plan(false);
    setTimeout(() => plan(true), beginAt + FAILINGS['10 s blip'].fault.untilMs - Date.now());
    const plans = arrivals(name, durationMs);
    const seen = await Promise.all(tabs.map((tab, index) => ask(tab, index, beginAt, plans[index] ?? [])));
    const all = seen.flat();
    const good = all.filter(Boolean).length;
    return { requests: all.length, attempts: hits / all.length, success: (100 * good) / all.length };
  } finally {
    await browser.close();
    await vite.close();
    await rm(profile, { recursive: true, force: true });
  }
}

async function launch(profile: string, { executablePath, env }: FoundBrowser): Promise<BrowserContext> {
  const ours = Object.fromEntries(Object.entries(process.env).flatMap(([key, value]) => (value ? [[key, value]] : [])));
  return chromium.launchPersistentContext(profile, {
    executablePath,
    env: { ...ours, ...env },
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-quic', '--disable-background-networking', '--disable-component-update'],
  });
}

async function openTab(browser: BrowserContext, url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'sf' in window);
  const { state } = await page.evaluate(() => window.sf.connect('/plain.sw.js'));
  if (state !== 'controlled') throw new Error(`a tab is ${state}`);
  return page;
}

/** When each tab asks, in milliseconds from the beginning: a tab that nobody looks at asks as well. */
function arrivals(name: TrafficName, durationMs: number): number[][] {
  const { traffic } = TRAFFICS[name].scenario;
  const all: number[] = [];
  if (traffic.kind === 'burst') {
    for (let at = Math.random() * traffic.everyMs; at < durationMs; at += traffic.everyMs) {
      for (let index = 0; index < traffic.size; index++) all.push(at);
    }
  } else if (traffic.kind === 'poisson') {
    const gapMs = () => (-Math.log(1 - Math.random()) / traffic.perSecond) * 1_000;
    for (let at = gapMs(); at < durationMs; at += gapMs()) all.push(at);
  }
  const tabs: number[][] = Array.from({ length: TABS }, () => []);
  for (const [index, at] of all.entries()) tabs[index % TABS]?.push(at);
  return tabs;
}

/** Which of a tab's requests were answered well. */
const ask = (tab: Page, index: number, beginAt: number, times: readonly number[]): Promise<boolean[]> =>
  tab.evaluate(
    ({ index, beginAt, times }) =>
      Promise.all(
        times.map(async (at, n) => {
          await new Promise((resolve) => setTimeout(resolve, beginAt + at - Date.now()));
          return fetch(`/wire/tabs?${index}-${n}`).then(
            ({ ok }) => ok,
            () => false,
          );
        }),
      ),
    { index, beginAt, times },
  );
