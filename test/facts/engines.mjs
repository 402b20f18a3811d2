// The three engines, each with the same small surface: `openPage(url)` → `run(work, ...args)`, `goto(url)`.

import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';
import { openPage } from '../by-hand/page.mjs';
import { findBrowser } from '../support/find-browser.mjs';

const driverOf = async (name) => {
  const path = fileURLToPath(new URL(`../support/engines/${name}.ts`, import.meta.url));
  return (await runnerImport(path, { configFile: false, logLevel: 'error' })).module;
};
const { findFirefox, launchFirefox } = await driverOf('firefox');
const { findWebKit, launchWebKit } = await driverOf('webkit');

async function launchChromium({ executablePath, env }) {
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
    args: ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
  });
  return {
    version: browser.version(),
    async openPage(url) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      return {
        run: (work, ...args) => page.evaluate(`(${work})(...${JSON.stringify(args)})`),
        goto: (other) => page.goto(other),
        async stopWorkers() {
          const cdp = await context.newCDPSession(page);
          await cdp.send('ServiceWorker.enable');
          await cdp.send('ServiceWorker.stopAllWorkers');
          await cdp.detach();
        },
      };
    },
    close: () => browser.close(),
  };
}

const driven = (launch) => async (found) => {
  const driver = await launch(found);
  return {
    version: driver.version,
    async openPage(url) {
      const page = await openPage(driver, url);
      return driver.stopWorkers ? { ...page, stopWorkers: () => driver.stopWorkers() } : page;
    },
    close: () => driver.close(),
  };
};

export const ENGINES = [
  { name: 'chromium', find: () => findBrowser(), launch: launchChromium, remedy: 'npx playwright install chromium' },
  {
    name: 'firefox',
    find: findFirefox,
    launch: driven(launchFirefox),
    remedy: 'apt-get install firefox-esr, or set FIREFOX_PATH',
  },
  {
    name: 'webkit',
    find: findWebKit,
    launch: driven(launchWebKit),
    remedy: 'apt-get install webkit2gtk-driver xvfb xauth',
  },
];
