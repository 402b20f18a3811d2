import { spawnSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';
import { BROUGHT, GREEN } from './test/support/engines/brought.ts';
import { findFirefox } from './test/support/engines/firefox.ts';
import { findWebKit } from './test/support/engines/webkit.ts';
import { findBrowser } from './test/support/find-browser.mjs';

const ci = Boolean(process.env.CI);
const isRoot = process.getuid?.() === 0;

const chromium = await findBrowser();

// Chromium's sandbox is made of them; most containers forbid them, and there it does not start with one.
const namespacesWork = () =>
  process.platform !== 'linux' || spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0;

/** Of the files that have been brought to this engine those that are asked for, or all files. */
function ofEngine(engine: keyof typeof BROUGHT) {
  const asked = process.env.STEADFETCH_ENGINES;
  if (asked === 'all') return { timeout: 60_000 };
  const names = [...BROUGHT[engine], ...(asked === 'green' ? GREEN[engine] : [])];
  return { testMatch: names.map((name) => `**/${name}.spec.ts`), grepInvert: /@table/, timeout: 60_000 };
}

export default defineConfig({
  testDir: 'test/browser',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results',
  timeout: 30_000,
  ...(ci ? { globalTimeout: 14 * 60_000, workers: 2 } : {}),
  retries: 0,
  forbidOnly: ci,
  reporter: [['list'], ['json', { outputFile: 'node_modules/.cache/playwright.json' }]],
  projects: [
    {
      name: 'chromium',
      use: {
        browserName: 'chromium',
        launchOptions: {
          executablePath: chromium.executablePath,
          env: { ...process.env, ...chromium.env },
          // False is --no-sandbox.
          chromiumSandbox: !isRoot && !ci && chromium.from === 'system' && namespacesWork(),
          args: [
            '--no-first-run',
            // Quiet in the background and on HTTP/1.1 or 2 only, so that tests which count hits count their own.
            '--disable-quic',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
          ],
        },
      },
    },
    ...(findFirefox() ? [{ name: 'firefox', ...ofEngine('firefox'), use: { browserName: 'firefox' as const } }] : []),
    ...(findWebKit() ? [{ name: 'webkit', ...ofEngine('webkit'), use: { browserName: 'webkit' as const } }] : []),
  ],
});
