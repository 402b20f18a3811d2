// The three engines, each with the same small surface: `openPage(url)` → `run(work, ...args)`, `goto(url)`.
import { chromium } from '@playwright/test';
import { findFirefox, launchFirefox } from '../by-hand/firefox.mjs';
import { findWebKit, launchWebKit } from '../by-hand/webkit.mjs';
import { findBrowser } from '../support/find-browser.mjs';

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

/** What its driver cannot do a page can: go elsewhere. */
async function launchFirefoxWithGoto(found) {
  const browser = await launchFirefox(found, { systemAccess: true });
  return {
    ...browser,
    async openPage(url) {
      const page = await browser.openPage(url);
      return {
        ...page,
        stopWorkers: browser.stopWorkers,
        async goto(other) {
          await page.run((to) => void setTimeout(() => location.assign(to)), other);
          for (let left = 100; left > 0; left -= 1) {
            await new Promise((resolve) => setTimeout(resolve, 100));
            const there = await page
              .run((to) => location.href === to && document.readyState === 'complete', other)
              .catch(() => false);
            if (there) return;
          }
          throw new Error(`it does not get to ${other}`);
        },
      };
    },
  };
}

export const ENGINES = [
  { name: 'chromium', find: () => findBrowser(), launch: launchChromium, remedy: 'npx playwright install chromium' },
  {
    name: 'firefox',
    find: findFirefox,
    launch: launchFirefoxWithGoto,
    remedy: 'apt-get install firefox-esr, or set FIREFOX_PATH',
  },
  { name: 'webkit', find: findWebKit, launch: launchWebKit, remedy: 'apt-get install webkit2gtk-driver xvfb xauth' },
];
