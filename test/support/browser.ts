import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, type Page, type Response } from '@playwright/test';
import { createServer, type Plugin } from 'vite';
import { misbehave } from '../../demo/misbehave-plugin.ts';
import { createMisbehavingServer, type Hit, type Step } from '../../demo/misbehaving-server.ts';
import { workerBundles } from '../../demo/worker-bundles.ts';
import type { Engine } from './engines/gaps.ts';
import { can, engineOf, needs, stopWorkers } from './engines/page.ts';
import { test as base } from './engines/test.ts';

/** A real site with a real misbehaving server behind it; one per test process. */
export interface Site {
  readonly url: string;
  readonly secondOrigin: string;
  /** Sets what a URL of its own answers, hit by hit, and returns that URL. */
  plan(steps: readonly Step[]): Wire;
  /** Changes what it answers from now on, and forgets its hits. */
  replan(id: string, steps: readonly Step[]): void;
  /** Workers are bundled at their first request, which on a busy machine takes longer than a page waits for one. */
  bundle(script: string): Promise<void>;
  /** Everything that it was ever asked for, whatever became of it. */
  asked(): readonly string[];
}

export interface Wire {
  readonly id: string;
  /** Of this origin, to be fetched by a page. */
  readonly path: string;
  hits(): readonly Hit[];
}

const inRepo = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

interface Fixtures {
  site: Site;
  open: (worker?: string, path?: string) => Promise<Page>;
}

export const test = base.extend<Fixtures, { server: Site & { nextHost(): string } }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures a fixture needs from it
    async ({}, use) => {
      const wire = createMisbehavingServer();
      const plugin = misbehave(wire, { secondOrigin: true });
      const asked: string[] = [];
      const vite = await createServer({
        configFile: false,
        root: inRepo('test/browser/pages'),
        cacheDir: inRepo('node_modules/.cache/vite-browser-tests'),
        logLevel: 'error',
        // A reload by the dev server in the middle of a test would be a fault of the test.
        server: { port: 0, host: 'localhost', hmr: false, watch: null, fs: { allow: [inRepo('.')] } },
        optimizeDeps: { noDiscovery: true },
        plugins: [writingDown(asked), plugin, scriptPolicies, workerBundles(workerSource)],
      });
      await vite.listen();
      const url = vite.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? '';
      let [next, hosts] = [0, 0];
      await use({
        url,
        nextHost: () => url.replace('localhost', `t${++hosts}.localhost`),
        secondOrigin: plugin.api.secondOrigin ?? '',
        plan(steps) {
          const id = `t${++next}`;
          wire.plan(id, steps);
          return { id, path: `/wire/${id}`, hits: () => wire.hits(id) };
        },
        replan: wire.plan,
        asked: () => asked,
        async bundle(script) {
          await (await fetch(`${url}/${script}`)).text();
        },
      });
      await vite.close();
    },
    { scope: 'worker' },
  ],
  // In WebKit storage and workers are kept apart by the host only.
  site: async ({ server, engine }, use) => use(engine === 'webkit' ? { ...server, url: server.nextHost() } : server),
  /** A page that the worker `test/browser/<worker>.sw.ts` controls and that hears its events. */
  open: async ({ context, site }, use) => {
    await use(async (worker = 'plain', path = '/') => {
      const page = await context.newPage();
      await page.goto(site.url + path);
      await control(page, site, worker.includes('.sw.js') ? worker : `${worker}.sw.js`);
      return page;
    });
  },
});

export { can, engineOf, expect, needs };

/** Connects a page of the site to a worker, which controls it from then on. */
export async function control(page: Page, site: Site, script: string, scope?: string): Promise<void> {
  await site.bundle(script);
  const state = async () => {
    await page.waitForFunction(() => 'sf' in window);
    const options = scope === undefined ? {} : { scope };
    const { state } = await page.evaluate(({ url, options }) => window.sf.connect(url, options), {
      url: `/${script}`,
      options,
    });
    return state;
  };
  if ((await state()) === 'controlled') return;
  // A busy machine may need longer to install a worker than a page waits for it.
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.reload();
  expect(await state()).toBe('controlled');
}

/** Kills the worker as the browser would; resolves when it is gone. The next event starts it again. */
export async function stopWorker(page: Page): Promise<void> {
  if (engineOf(page.context()) !== 'chromium') return stopWorkers(page);
  const cdp = await page.context().newCDPSession(page);
  const stopped = new Promise<void>((resolve) => {
    cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) resolve();
    });
  });
  await cdp.send('ServiceWorker.enable');
  await cdp.send('ServiceWorker.stopAllWorkers');
  await stopped;
  await cdp.detach();
}

/** How a page is told that the network failed: in Chromium, in Firefox, and in WebKit, which tells what a worker had as well. */
export const NETWORK_ERROR = expect.stringMatching(
  /^TypeError: (Failed to fetch|NetworkError when attempting to fetch resource\.|(FetchEvent\.respondWith received an error: TypeError: )?(Load failed|not sent, because .+))$/,
);
/** The same for a document that cannot be had. */
export const LOAD_FAILED = /ERR_FAILED|NS_ERROR_|nothing answers/;

/** What a page is told of a request that it has called off: WebKit keeps the reason to itself, without a worker as well. */
export const abortError = (engine: Engine, reason: string): string =>
  engine === 'webkit' ? 'AbortError: Fetch is aborted' : reason;

/** The page, or the one that it is on its way to, shows what the selector selects. */
export async function expectShown(page: Page, selector: string): Promise<void> {
  await page.waitForFunction((selector) => document.querySelector(selector)?.checkVisibility(), selector);
}

export function expectStatus(page: Page, response: Response | null, status: number): void {
  if (can(page.context(), 'document-status')) expect(response?.status()).toBe(status);
}

/** A request header as the server got it. */
export const header = (hit: Hit | undefined, name: string): string | null =>
  new Headers(hit?.headers as [string, string][]).get(name);

const writingDown = (asked: string[]): Plugin => ({
  name: 'writing-down',
  enforce: 'pre',
  configureServer({ middlewares }) {
    middlewares.use(({ url = '' }, _res, next) => {
      asked.push(url);
      next();
    });
  },
});

/**
 * A worker script whose URL has a `csp` is served with that policy. With `hidden` as well only the browser gets to see it,
 * when it installs the script: whoever reads the headers later finds none.
 */
const scriptPolicies: Plugin = {
  name: 'script-policies',
  configureServer({ middlewares }) {
    middlewares.use((req, res, next) => {
      const query = new URL(req.url ?? '', 'http://site').searchParams;
      const csp = query.get('csp');
      const hidden = query.has('hidden') && req.headers['service-worker'] === undefined;
      if (csp !== null && !hidden) res.setHeader('content-security-policy', csp);
      next();
    });
  },
};

/** The URL of `test/browser/<worker>.sw.ts` as it is served with a policy. */
export const underPolicy = (csp: string, { worker = 'plain', hidden = false } = {}): string =>
  `${worker}.sw.js?csp=${encodeURIComponent(csp)}${hidden ? '&hidden' : ''}`;

/** `/budget.sw.js` is `test/browser/budget.sw.ts`. */
function workerSource(path: string): string | undefined {
  const name = /^\/([\w-]+)\.sw\.js$/.exec(path)?.[1];
  const file = inRepo(`test/browser/${name}.sw.ts`);
  return name !== undefined && existsSync(file) ? file : undefined;
}
