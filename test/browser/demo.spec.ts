import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { type Demo, expect, test } from '../support/demo.ts';
import { needs } from '../support/engines/page.ts';

test.beforeEach(({ browser }) => needs(browser, 'locators'));

/** Of a scene that usually takes twenty. */
const SECONDS = 3;
const LANES = ['none', 'naive', 'steadfetch'] as const;
type Lane = (typeof LANES)[number];

const openScenes = async (open: (path?: string) => Promise<Page>, seconds = SECONDS) => {
  const page = await open(`?seconds=${seconds}`);
  await expect(page.getByRole('button', { name: 'Run until stopped' })).toBeEnabled({ timeout: 20_000 });
  return page;
};
const lane = (page: Page, name: Lane) => page.locator(`.way-${name}`);
const figure = (page: Page, name: Lane, of: string) =>
  lane(page, name).locator('dl > div').filter({ hasText: of }).locator('dd');

async function play(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  await expect(page.locator('#scenes')).toHaveAttribute('data-state', 'playing');
  await expect(page.locator('#scenes')).toHaveAttribute('data-state', 'over', { timeout: 25_000 });
}

/** What the server says of the scene that was played last. */
async function logOf(
  page: Page,
  { server, good }: Demo,
): Promise<Record<Lane, { hits: number; sent: number; good: number; peak: number }>> {
  const { ids, startedAt } = await page
    .locator('#scenes')
    .evaluate((section) => ({ ...(section as HTMLElement).dataset }));
  const wires = JSON.parse(ids ?? '') as Record<Lane, string>;
  const requests = (hits: ReturnType<typeof good>) => new Set(hits.map(({ url }) => url)).size;
  const of = (name: Lane) => {
    const hits = server.hits(wires[name]);
    const seconds = new Map<number, number>();
    for (const { at } of hits) {
      const second = Math.max(0, Math.floor((at - Number(startedAt)) / 1_000));
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    return {
      hits: hits.length,
      sent: requests(hits),
      good: requests(good(wires[name])),
      peak: Math.max(...seconds.values()),
    };
  };
  return { none: of('none'), naive: of('naive'), steadfetch: of('steadfetch') };
}

async function expectFigures(page: Page, demo: Demo) {
  const log = await logOf(page, demo);
  for (const name of LANES) {
    const { hits, sent, good, peak } = log[name];
    await expect(lane(page, name)).toContainText(`${hits} hits at the server for ${sent} requests`);
    await expect(figure(page, name, 'attempts a request')).toHaveText((hits / sent).toFixed(2));
    await expect(figure(page, name, 'most hits a second')).toHaveText(String(peak));
    const success = good === sent ? '100 %' : `${Math.min(99.9, (100 * good) / sent).toFixed(1)} %`;
    await expect(figure(page, name, 'succeeded')).toHaveText(success);
  }
  expect(log.none.hits).toBe(log.none.sent);
  expect(log.none.sent).toBe(log.naive.sent);
  expect(log.none.sent).toBe(log.steadfetch.sent);
  return log;
}

test.describe('each scene’s figures are those of the server', () => {
  for (const { name, tabs } of [
    { name: 'Deploy blip', tabs: '5 tabs' },
    { name: 'Rate limit', tabs: 'this tab' },
    { name: 'Outage and recovery', tabs: 'this tab' },
    { name: 'Flaky train', tabs: '5 tabs' },
    { name: 'Slow 2 %', tabs: 'this tab' },
  ]) {
    test(`${name}, from ${tabs}`, async ({ open, demo }) => {
      const page = await openScenes(open);
      await page.getByLabel('from', { exact: true }).selectOption(tabs);
      await play(page, name);
      const { none, naive, steadfetch } = await expectFigures(page, demo);
      // Who of the others does better depends on how long a busy machine takes for three attempts.
      expect(naive.hits).toBeGreaterThanOrEqual(none.hits);
      // A limit by the second is met only by a page that sends as fast as it means to.
      const fails = name !== 'Slow 2 %' && (name !== 'Rate limit' || none.good < none.sent);
      if (fails) {
        expect(none.good).toBeLessThan(none.sent);
        expect(steadfetch.good).toBeGreaterThan(none.good);
      }
      await expect(page.locator('#scene-status')).toContainText(`${name}: no worker`);
      // The tabs of the traffic are gone.
      await expect(page.locator('iframe')).toHaveCount(0);
    });
  }
});

test('all of it goes by keyboard, and a scene can be stopped', async ({ open }) => {
  const page = await openScenes(open);
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: element } = document;
      return element?.id || element?.textContent?.trim() || element?.tagName;
    });
  const seen: string[] = [];
  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab');
      const now = String(await focused());
      seen.push(now);
      if (now.startsWith(name)) return;
    }
    throw new Error(`${name} is not reached by Tab: ${seen.join(', ')}`);
  };
  await tabTo('Deploy blip');
  await page.keyboard.press('Enter');
  await expect(page.locator('#scene-stop')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('#scenes')).toHaveAttribute('data-state', 'over');
  await expect(page.getByRole('button', { name: 'Deploy blip' })).toBeFocused();
  await tabTo('rate');
  await tabTo('tabs');
  await tabTo('by-hand');
  await page.keyboard.press('Enter');
  await expect(page.locator('#scene-stop')).toBeFocused();
  await page.getByRole('radio', { name: 'fine', exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('radio', { name: 'down' })).toBeChecked();
  await page.keyboard.press('Tab');
  await expect(page.locator('#scene-stop')).toBeFocused();
  await page.keyboard.press('Space');
  await expect(page.locator('#scenes')).toHaveAttribute('data-state', 'over');
  for (const id of ['send-1', 'send-10', 'download-start']) await tabTo(id);
});

test('a scene that is stopped, while it plays or before it does, says what the server has seen of it', async ({
  open,
  demo,
}) => {
  const page = await openScenes(open, 20);
  const state = page.locator('#scenes');
  await page.getByLabel('from', { exact: true }).selectOption('20 tabs');
  // By script: the second click comes before the tabs are open.
  await page.evaluate(() => {
    for (const id of ['by-hand', 'by-hand', 'scene-stop']) document.getElementById(id)?.click();
  });
  await expect(state).toHaveAttribute('data-state', 'over', { timeout: 20_000 });
  await expect(page.locator('iframe')).toHaveCount(0);

  await page.getByLabel('from', { exact: true }).selectOption('5 tabs');
  await page.getByRole('radio', { name: 'down' }).check();
  await page.getByRole('button', { name: 'Run until stopped' }).click();
  const total = lane(page, 'steadfetch').locator('.total');
  await expect(total).toContainText(/^[1-9]\d+ hits at the server for [1-9]\d+ requests$/);
  await page.locator('#scene-stop').click();
  await expect(state).toHaveAttribute('data-state', 'over', { timeout: 20_000 });
  const words = await total.textContent();
  const [, hits = 0, sent = 0] = (/^(\d+) hits at the server for (\d+) requests$/.exec(words ?? '') ?? []).map(Number);
  const wires = JSON.parse((await state.getAttribute('data-ids')) ?? '');
  await expect.poll(() => demo.server.hits(wires.steadfetch).length).toBeGreaterThanOrEqual(hits);
  // What is parked has been asked for, too.
  const asked = new Set(demo.server.hits(wires.steadfetch).map(({ url }) => url)).size;
  expect(sent).toBeGreaterThanOrEqual(asked);
  // Over is over: what the servers are from now on changes nothing in the charts.
  const picture = () =>
    page.locator('.way-none canvas').evaluate(async (canvas) => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return (canvas as HTMLCanvasElement).toDataURL();
    });
  const before = await picture();
  await page.getByRole('radio', { name: 'cut off' }).check();
  expect((await picture()) === before).toBe(true);
});

test('one by one: each lane’s score is what its page got and what the server was asked', async ({ open, demo }) => {
  const page = await openScenes(open);
  // The first request is sent by itself.
  await expect(page.locator('#events')).toContainText('Done:', { timeout: 20_000 });
  const seen = new Set(demo.server.hits().map(({ id }) => id));
  await page.getByRole('radio', { name: 'Connection reset once' }).check();
  await page.getByRole('button', { name: 'Send 10' }).click();
  await expect(page.locator('#events')).toContainText('of 10 succeeded with', { timeout: 20_000 });
  for (const name of ['bare', 'with']) {
    const hits = demo.server.hits().filter(({ id }) => id.startsWith(`${name}-`) && !seen.has(id));
    const good = new Set(hits.flatMap(({ id }) => demo.good(id)).map(({ id }) => id)).size;
    const score = page.locator(`#lane-${name} .score dd`);
    await expect(score).toHaveText([String(good), String(10 - good), String(hits.length)]);
    await expect(page.locator(`#lane-${name} .rows > li`)).toHaveCount(10);
  }
});

test('a download that is cut five times has the right digest, and without steadfetch it has not', async ({ open }) => {
  const page = await openScenes(open);
  await page.getByRole('button', { name: 'Download 24 MiB' }).click();
  const side = (title: string) => page.locator('.download').filter({ has: page.getByRole('heading', { name: title }) });
  await expect(side('No worker')).toContainText('then it broke off');
  await expect(side('steadfetch')).toContainText('(that of the file)', { timeout: 25_000 });
  await expect(side('steadfetch').locator('dl > div').filter({ hasText: 'connections' }).locator('dd')).toHaveText('6');
  await expect(page.locator('#download-status')).toHaveText(
    'No worker: the page has a broken one. steadfetch: the page has the whole file.',
  );
});

test('orders are kept while the server or the network is away, and delivered once', async ({ open, context, demo }) => {
  const page = await open('orders.html');
  const order = async (tea: string) => {
    await page.getByLabel('Tea', { exact: true }).selectOption(tea);
    await page.getByRole('button', { name: 'Order', exact: true }).click();
  };
  await expect(page.locator('#order-status')).toHaveText('Ready. Nothing that you order is lost.', { timeout: 20_000 });
  const delivered = page.locator('#delivered li');
  await page.getByLabel('Tea', { exact: true }).selectOption('Assam');
  await page.getByRole('button', { name: 'Order', exact: true }).evaluate((button) => {
    for (const _ of 'twice') (button as HTMLButtonElement).click();
  });
  await expect(delivered).toHaveText(['2 × Assam']);
  await page.reload();
  await expect(page.locator('#submit')).toBeEnabled({ timeout: 20_000 });
  // What the server has, it still has.
  await expect(delivered).toHaveText(['2 × Assam']);

  await page.getByRole('radio', { name: 'is away' }).check();
  await order('Sencha');
  await expect(page.locator('#order-status')).toContainText('The order is kept');
  await expect(page.locator('#outbox li')).toHaveCount(1);

  await page.reload();
  await expect(page.locator('#submit')).toBeEnabled({ timeout: 20_000 });
  await expect(page.getByRole('radio', { name: 'is away' })).toBeChecked();
  await expect(page.locator('#outbox li')).toHaveCount(1);
  await expect(delivered).toHaveText(['2 × Assam']);
  await page.getByRole('radio', { name: 'takes orders' }).check();
  await page.getByRole('button', { name: 'Send now' }).click();
  await expect(page.locator('#outbox li')).toHaveCount(0);
  await expect(page.locator('#outbox-title')).toBeFocused();
  await expect(delivered).toHaveText(['2 × Sencha', '2 × Assam']);

  await context.setOffline(true);
  await order('Darjeeling');
  await expect(page.locator('#outbox li')).toHaveCount(1);
  await context.setOffline(false);
  await page
    .getByRole('button', { name: 'Send now' })
    .click({ timeout: 3_000 })
    .catch(() => {});
  await expect(delivered.first()).toHaveText('2 × Darjeeling', { timeout: 15_000 });
  const id = await page.evaluate(() => `order-${localStorage.getItem('shop')}`);
  expect(demo.good(id).filter(({ url }) => url.includes('Darjeeling'))).toHaveLength(1);
});

test('the orders can be installed', async ({ open }) => {
  const page = await open('orders.html');
  await expect(page.locator('#submit')).toBeEnabled({ timeout: 20_000 });
  const cdp = await page.context().newCDPSession(page);
  const { errors, url } = await cdp.send('Page.getAppManifest');
  expect([url.endsWith('/manifest.webmanifest'), errors]).toEqual([true, []]);
  const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
  // A test's window is a private one.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
});

for (const path of ['', 'orders.html']) {
  test(`/${path} is clean for axe in light and dark, and fits from 375 to 1440 px`, async ({ open }) => {
    const page = path === '' ? await openScenes(open, 1) : await open(path);
    if (path === '') await play(page, 'Deploy blip');
    else await expect(page.locator('#submit')).toBeEnabled({ timeout: 20_000 });
    for (const width of [375, 640, 768, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    for (const [colorScheme, width] of [
      ['light', 1_440],
      ['dark', 375],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`)).toEqual([]);
    }
  });
}
