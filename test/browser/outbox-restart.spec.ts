import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, needs, test } from '../support/browser.ts';
import { bodies, goOffline, keys, sendNow } from '../support/outbox.ts';

test('200 entries that were kept offline outlive the browser, and go in the order of their keys', async ({
  site,
  browser,
  playwright,
  launchOptions,
}) => {
  needs(browser, 'restart');
  test.setTimeout(90_000);
  const profile = await mkdtemp(join(tmpdir(), 'steadfetch-outbox-'));
  const launch = () => playwright.chromium.launchPersistentContext(profile, launchOptions);
  const wires = Array.from({ length: 4 }, () => site.plan([{ status: 201 }]));
  const names = Array.from({ length: 50 }, (_, index) => `${index}`);
  let context = await launch();
  try {
    let page = await context.newPage();
    const open = async () => {
      await page.goto(site.url);
      await page.waitForFunction(() => 'sf' in window);
      await page.evaluate(() => window.sf.connect('/outbox.sw.js?maxEntries=200'));
    };
    await open();
    await goOffline(page);
    await page.evaluate(
      async ({ paths, names }) => {
        for (const path of paths) {
          for (const body of names) {
            const headers = { 'Idempotency-Key': `key-${body}` };
            const { status } = await fetch(`${path}?byurl`, { method: 'POST', headers, body });
            if (status !== 202) throw new Error(`${status}`);
          }
        }
      },
      { paths: wires.map(({ path }) => path), names },
    );
    expect(await page.evaluate(() => window.sf.retries?.outbox.depth())).toBe(200);
    await context.close();
    expect(wires.flatMap((wire) => wire.hits())).toHaveLength(0);

    context = await launch();
    page = await context.newPage();
    await open();
    await sendNow(page);
    for (const wire of wires) {
      await expect.poll(() => bodies(wire), { timeout: 30_000 }).toEqual(names);
      expect(keys(wire)).toEqual(names.map((name) => `key-${name}`));
    }
    await expect.poll(() => page.evaluate(() => window.sf.retries?.outbox.depth())).toBe(0);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
