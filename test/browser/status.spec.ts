import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, needs, test } from '../support/browser.ts';

test.beforeEach(({ browser }) => needs(browser, 'locators'));

type Module = typeof import('./pages/devtools.ts');

const showStatus = (page: Page, attributes: Record<string, string> = {}) =>
  page.evaluate(async ({ url, attributes }) => ((await import(url)) as Module).showStatus(attributes), {
    url: '/devtools.ts',
    attributes,
  });
const box = (page: Page) => page.locator('steadfetch-status [part=box]');
const text = (page: Page) => page.locator('steadfetch-status [part=text]');

/** Collects what a screen reader is told. */
const listenIn = (page: Page) =>
  page.evaluate(() => {
    const said: string[] = [];
    const live = document.querySelector('steadfetch-status')?.shadowRoot?.querySelector('[role=status]');
    if (live) {
      new MutationObserver(() => {
        if (live.textContent) said.push(live.textContent);
      }).observe(live, { childList: true, characterData: true, subtree: true });
    }
    Object.assign(window, { said });
  });
const said = (page: Page) => page.evaluate(() => (window as unknown as { said: string[] }).said);

test('there is nothing to see while all is well, then one line until it is again, said once', async ({
  site,
  open,
}) => {
  const page = await open();
  await showStatus(page);
  await listenIn(page);
  await expect(box(page)).toBeHidden();
  // Not so much as an empty line.
  expect(await page.evaluate(() => document.body.offsetHeight)).toBe(0);
  await expect(page.locator('steadfetch-status')).toHaveAttribute('state', 'quiet');
  const wires = [1, 2, 3].map(() => site.plan([{ status: 503, retryAfter: 3 }, { body: 'fine' }]));
  const answers = page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  await expect(text(page)).toHaveText('Reconnecting, 3 waiting');
  await expect(box(page)).toBeVisible();
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    const { violations } = await new AxeBuilder({ page }).include('steadfetch-status').analyze();
    expect(violations.map(({ id }) => id)).toEqual([]);
  }
  expect(await answers).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
  await expect(box(page)).toBeHidden();
  expect(await said(page)).toEqual([expect.stringMatching(/^Reconnecting, \d waiting$/), 'Connected again']);
});

test('what is over in a moment is not shown', async ({ site, open }) => {
  const page = await open('quick');
  await showStatus(page);
  await listenIn(page);
  const wire = site.plan([{ status: 502 }, { body: 'fine' }]);
  await page.evaluate((path) => window.sf.get(path), wire.path);
  await page.waitForTimeout(900);
  await expect(box(page)).toBeHidden();
  expect(await said(page)).toEqual([]);
});

test('the button, by keyboard too, ends the wait of a kept request; words can be others', async ({ site, open }) => {
  const page = await open('outbox');
  await showStatus(page, {
    'text-waiting': 'Verbindung fehlt, {count} warten',
    'text-retry': 'Jetzt senden',
    'delay-ms': '0',
  });
  const wire = site.plan([{ reset: 'headers' }]);
  const init = { method: 'POST', body: 'tea', headers: { 'Idempotency-Key': 'k' } };
  await page.evaluate(({ path, init }) => window.sf.get(path, init), { path: `${wire.path}?free`, init });
  await expect(text(page)).toHaveText('Verbindung fehlt, 1 warten');
  site.replan(wire.id, [{ status: 201 }]);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Jetzt senden' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(text(page)).toHaveText('Connected again');
  expect(wire.hits()).toHaveLength(1);
  // As long as somebody is on it, it is not taken away.
  await page.waitForTimeout(1_200);
  await expect(box(page)).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(box(page)).toBeHidden();
});

test('a device that is offline is told so, and a status that is taken away listens no more', async ({
  open,
  context,
}) => {
  const page = await open();
  await showStatus(page);
  await context.setOffline(true);
  await expect(text(page)).toHaveText('Offline');
  await expect(page.locator('steadfetch-status')).toHaveAttribute('state', 'offline');
  await expect(page.getByRole('button', { name: 'Retry now' })).toHaveCount(0);
  await context.setOffline(false);
  await expect(box(page)).toBeHidden();
  const element = await page.locator('steadfetch-status').elementHandle();
  await element?.evaluate((status) => status.remove());
  await context.setOffline(true);
  expect(await element?.evaluate((status) => (status as HTMLElement).getAttribute('state'))).toBe('quiet');
});
