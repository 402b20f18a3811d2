import { type Browser, test as base } from '@playwright/test';
import { FOR_TESTS, findFirefox, launchFirefox } from './firefox.ts';
import type { Engine } from './gaps.ts';
import { createBrowser } from './page.ts';
import { findWebKit, launchWebKit } from './webkit.ts';

/** Playwright's, with the engines that Playwright cannot drive where their browsers come from a package of the system. */
export const test = base.extend<{ engine: Engine }, { browser: Browser }>({
  browser: [
    async ({ playwright, browserName }, use) => {
      const browser = await launch[browserName](playwright.chromium);
      await use(browser);
      await browser.close();
    },
    // Firefox takes as long as that on a busy machine.
    { scope: 'worker', timeout: 120_000 },
  ],
  context: async ({ browser }, use) => {
    const context = await browser.newContext();
    await use(context);
    await context.close();
  },
  engine: ({ browserName }, use) => use(browserName),
});

const launch: Record<Engine, (chromium: { launch(): Promise<Browser> }) => Promise<Browser>> = {
  chromium: (chromium) => chromium.launch(),
  async firefox() {
    const found = findFirefox();
    if (found === undefined) throw new Error('no Firefox found; `npm test` says how to install one');
    return createBrowser(await launchFirefox(found, FOR_TESTS));
  },
  async webkit() {
    const found = findWebKit();
    if (found === undefined) throw new Error('no WebKit found; `npm test` says how to install one');
    return createBrowser(await launchWebKit(found));
  },
};
