import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, type Page, test } from '@playwright/test';
import type { Driver, LoadState, Profile, Tab } from './driver.ts';
import { type Engine, type GapName, gapText, hasGap } from './gaps.ts';

// Of Playwright's API what the tests use, over a driver. Whatever else a test reaches for is a gap that has a name, or an error.

const LOAD_MS = 30_000;
const POLL_MS = 30;

const GAP_OF: Readonly<Record<string, GapName>> = {
  getByLabel: 'locators',
  getByRole: 'locators',
  getByText: 'locators',
  locator: 'locators',
  frameLocator: 'locators',
  setOffline: 'offline',
  route: 'route',
  newCDPSession: 'devtools',
  serviceWorkers: 'inside-worker',
  waitForResponse: 'responses',
};

const drivers = new WeakMap<object, Driver>();

export const engineOf = (of: Browser | BrowserContext): Engine => drivers.get(of)?.engine ?? 'chromium';

/** Skips the test that is running where there is this gap. */
export function needs(of: Browser | BrowserContext, name: GapName): void {
  const engine = engineOf(of);
  if (hasGap(engine, name)) lacks(engine, name);
}

/** Where there is this gap, the test that is running checks less, and its report says so. */
export function can(of: Browser | BrowserContext, name: GapName): boolean {
  const engine = engineOf(of);
  const gap = hasGap(engine, name);
  if (gap) test.info().annotations.push({ type: 'checks-less', description: gapText(engine, name) });
  return !gap;
}

/** The one way to leave a test out. */
function lacks(engine: Engine, name: GapName): never {
  test.skip(true, gapText(engine, name));
  throw new Error('a test that is skipped ends where it is');
}

/** The workers of all contexts of its browser. */
export async function stopWorkers(page: Page): Promise<void> {
  needs(page.context(), 'stop-worker');
  await drivers.get(page.context())?.stopWorkers?.();
}

export function createBrowser(driver: Driver): Browser {
  const { engine } = driver;

  async function newContext(): Promise<BrowserContext> {
    const profile = await driver.openProfile();
    const pages: Page[] = [];
    const context: BrowserContext = strict(engine, 'context', {
      browser: () => browser,
      pages: () => pages,
      async newPage() {
        const page = createPage(await profile.openTab());
        pages.push(page);
        return page;
      },
      async addCookies(cookies: Parameters<Profile['setCookie']>[0][]) {
        for (const cookie of cookies) await profile.setCookie(cookie);
      },
      close: () => profile.close(),
    });

    function createPage(tab: Tab): Page {
      let url = 'about:blank';
      let closed = false;
      const evaluate = (work: Work, arg?: unknown): Promise<unknown> => {
        const answer = tab.evaluate(expressionOf(work, arg)).then(unpack);
        // A test that is left out halfway waits no more for what it has asked, and its page goes.
        answer.catch(() => {});
        return answer;
      };
      const arrived = async () => {
        const { href, status } = (await evaluate(() => {
          const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
          return { href: location.href, status: navigation?.responseStatus };
        })) as { href: string; status?: number };
        url = href;
        return status === undefined ? null : { url: () => href, status: () => status };
      };
      const page: Page = strict(engine, 'page', {
        context: () => context,
        evaluate,
        url: () => url,
        title: () => evaluate(() => document.title),
        isClosed: () => closed,
        async goto(to: string, { waitUntil = 'load' }: { waitUntil?: LoadState } = {}) {
          await tab.goto(to, waitUntil);
          return arrived();
        },
        async reload() {
          await tab.reload();
          return arrived();
        },
        async waitForFunction(work: Work, arg?: unknown, { timeout = LOAD_MS } = {}) {
          for (const until = Date.now() + timeout; ; ) {
            // The page may be on its way to another document.
            if (await evaluate(work, arg).catch(() => false)) return;
            if (Date.now() > until) throw new Error(`page.waitForFunction: not within ${timeout} ms: ${work}`);
            await sleep(POLL_MS);
          }
        },
        async addInitScript(work: () => void) {
          if (tab.addInitScript) await tab.addInitScript(`(${work})()`);
          else lacks(engine, 'init-script');
        },
        waitForTimeout: (ms: number) => sleep(ms),
        async close() {
          closed = true;
          pages.splice(pages.indexOf(page), 1);
          await tab.close();
        },
      });
      return page;
    }

    drivers.set(context, driver);
    return context;
  }

  const browser: Browser = strict(engine, 'browser', {
    newContext,
    version: () => driver.version,
    close: () => driver.close(),
  });
  drivers.set(browser, driver);
  return browser;
}

type Work = string | ((arg: never) => unknown);

const expressionOf = (work: Work, arg: unknown): string =>
  `(async () => (${pack})(${
    typeof work === 'string'
      ? `await eval(${JSON.stringify(work)})`
      : `await (${work})((${unpack})(${JSON.stringify(pack(arg))}))`
  }))()`;

/** As text, with what JSON has no words for. It runs in pages as well, so it is all that it needs. */
function pack(value: unknown): string {
  return JSON.stringify({ value }, (_, part: unknown) => {
    if (part === undefined) return { $: 'undefined' };
    if (typeof part === 'number' && !Number.isFinite(part)) return { $: String(part) };
    if (typeof part === 'bigint' || part instanceof Map || part instanceof Set || ArrayBuffer.isView(part)) {
      throw new TypeError(`${Object.prototype.toString.call(part)} does not come out of a page here`);
    }
    return part;
  });
}

function unpack(text: string): unknown {
  return JSON.parse(text, (_, part: unknown) => {
    const { $ } = (part ?? {}) as { $?: string };
    return $ === undefined ? part : $ === 'undefined' ? undefined : Number($);
  }).value;
}

/** For Playwright's type: a member that is not there is a gap with a name, or an error. */
function strict<T extends object>(engine: 'firefox' | 'webkit', what: string, members: object): T {
  return new Proxy(members, {
    get(target, name) {
      if (name in target || typeof name === 'symbol' || name === 'then') return Reflect.get(target, name);
      const gap = GAP_OF[name];
      if (gap !== undefined) return () => lacks(engine, gap);
      throw new Error(`${what}.${name} is not there in ${engine}: add it to test/support/engines, or a gap for it`);
    },
  }) as T;
}
