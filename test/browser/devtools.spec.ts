import { readFile } from 'node:fs/promises';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import type { LayerStatus, OutboxItem } from '../../src/page/index.ts';
import { expect, needs, test } from '../support/browser.ts';

test.beforeEach(({ browser }) => needs(browser, 'locators'));

type Module = typeof import('./pages/devtools.ts');

const showPanel = (page: Page) =>
  page.evaluate(async (url) => void ((await import(url)) as Module).show(), '/devtools.ts');
const rows = (page: Page) =>
  page
    .getByRole('grid')
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') });
const rowOf = (page: Page, path: string) => rows(page).filter({ hasText: path });
const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
const figure = (page: Page, name: string) => page.locator('dl.figures > div').filter({ hasText: name }).locator('dd');
const keyed = (key: string) => ({ method: 'POST', body: 'tea', headers: { 'Idempotency-Key': key } });

test('what it shows of requests is what the server has seen', async ({ site, open }) => {
  const page = await open('quick');
  await showPanel(page);
  await expect(page.getByText('Nothing to tell yet.')).toBeVisible();
  const good = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
  const bad = site.plan([{ status: 502 }]);
  const first = site.plan([{ body: 'fine' }]);
  const before = await page.evaluate(async () => (await window.sf.retries?.status())?.counters);
  // One after the other: what fails beside another request may leave it fewer attempts.
  for (const { path } of [good, bad, first]) await page.evaluate((path) => window.sf.get(path), path);

  await expect(rowOf(page, good.path).getByRole('gridcell')).toContainText([
    'recovered 200',
    'GET',
    good.path,
    'data',
    '3',
  ]);
  await expect(rowOf(page, bad.path).getByRole('gridcell')).toContainText([
    'gave up 502',
    'GET',
    bad.path,
    'data',
    '3',
  ]);
  expect([good.hits().length, bad.hits().length]).toEqual([3, 3]);
  await expect(rowOf(page, first.path)).toHaveCount(0);

  // Each attempt is drawn where the server was asked.
  const story = await rowOf(page, good.path).getByRole('gridcell').last().getAttribute('aria-label');
  expect(story?.match(/attempt \d: got \d+/g)).toEqual([
    'attempt 1: got 503',
    'attempt 2: got 503',
    'attempt 3: got 200',
  ]);

  await rowOf(page, good.path).click();
  await expect(page.getByRole('region', { name: 'Why' }).getByRole('listitem')).toContainText([
    /Got 503 on attempt 1; again in .* \(backoff\)\./,
    /Got 503 on attempt 2; again in .* \(backoff\)\./,
    /Recovered with 200 on attempt 3, after .*\./,
  ]);
  await rowOf(page, bad.path).click();
  await expect(page.getByRole('region', { name: 'Why' })).toContainText(
    'Gave up after 3 attempts, because all attempts are used; the page gets the last answer, 502.',
  );

  await openTab(page, 'Counters');
  const hits = good.hits().length + bad.hits().length + first.hits().length;
  await expect(figure(page, 'Attempts')).toHaveText(String((before?.attempts ?? 0) + hits));
  await expect(figure(page, 'Requests')).toHaveText(String((before?.requests ?? 0) + 3));
  await expect(figure(page, 'Retries')).toHaveText(String(hits - 3));
  await expect(figure(page, 'Recovered')).toHaveText('1');
  await expect(figure(page, 'Gave up')).toHaveText('1');
  await expect(page.getByRole('listitem').filter({ hasText: 'all attempts are used' })).toContainText('1');
});

test('a circuit, its parked requests and an empty pause are shown while they last', async ({ site, open }) => {
  const page = await open();
  await showPanel(page);
  const wires = Array.from({ length: 4 }, () => site.plan([{ status: 503 }]));
  await page.evaluate(
    (paths) => {
      for (const path of paths) void window.sf.get(path);
    },
    wires.map(({ path }) => path),
  );
  await expect(rows(page).filter({ hasText: 'circuit open' })).toBeVisible({ timeout: 15_000 });
  await expect(rows(page).filter({ hasText: 'parked' }).first()).toBeVisible({ timeout: 15_000 });
  await openTab(page, 'Origins');
  const card = page.getByRole('listitem').filter({ hasText: new URL(site.url).host });
  await expect(card).toContainText(/Parked\s*[1-4] requests?/);
  await expect(card).toContainText(/Circuit\s*(open|half-open)/);
  await expect(card.getByRole('meter')).toBeVisible();
  await card.getByRole('button', { name: 'Reset' }).click();
  await expect(page.getByText('All is well.').or(card.getByText('closed'))).toBeVisible();
});

test('the outbox can be sent, cancelled and cleared', async ({ site, open }) => {
  const page = await open('outbox');
  await showPanel(page);
  const wire = site.plan([{ reset: 'headers' }]);
  const queue = (key: string) =>
    page.evaluate(({ path, init }) => window.sf.get(path, init), { path: `${wire.path}?free`, init: keyed(key) });
  for (const key of ['k1', 'k2', 'k3']) expect(await queue(key)).toMatchObject({ status: 202 });
  await expect(rows(page).filter({ hasText: 'kept' })).toHaveCount(3);
  await openTab(page, 'Outbox');
  const items = page.locator('.items > li');
  await expect(items).toHaveCount(3);
  await expect(page.getByText('3 to send, 0 ended')).toBeVisible();
  await items
    .last()
    .getByRole('button', { name: /^Cancel POST/ })
    .click();
  await expect(items).toHaveCount(2);
  site.replan(wire.id, [{ status: 201 }]);
  await items
    .first()
    .getByRole('button', { name: /^Retry POST/ })
    .click();
  await page.getByRole('button', { name: 'Retry all' }).click();
  await expect(items.getByText('delivered')).toHaveCount(2);
  expect(wire.hits()).toHaveLength(2);
  await page.getByRole('button', { name: 'Clear outbox' }).click();
  await expect(items).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete all 2?' }).click();
  await expect(page.getByText('The outbox is empty.')).toBeVisible();
  await openTab(page, 'Requests');
  await expect(rows(page).filter({ hasText: 'delivered' })).toHaveCount(2);
});

test('the display can be paused, filtered and cleared, and what is kept can be saved', async ({ site, open }) => {
  const page = await open('quick');
  await showPanel(page);
  const ask = async () => {
    const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
    await page.evaluate((path) => window.sf.get(path), wire.path);
    return wire;
  };
  const one = await ask();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Pause' }).click();
  const two = await ask();
  await expect(page.getByRole('button', { name: 'Resume (2)' })).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(rows(page)).toHaveCount(2);

  await page.getByRole('searchbox').fill(two.id);
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByText('1 of 2')).toBeVisible();
  await page.getByRole('searchbox').fill('');
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('Gave up, set aside');
  await expect(page.getByText('Nothing of 2 matches the filter.')).toBeVisible();
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('All outcomes');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^steadfetch-.*\.json$/);
  const saved = JSON.parse(await readFile(await download.path(), 'utf8'));
  expect(saved).toMatchObject({ format: 'steadfetch-events', version: 1, forgotten: 0, status: { version: '0.1.0' } });
  expect(saved.events).toEqual(await page.evaluate(() => window.sf.events));
  expect(saved.events.map(({ url }: { url: string }) => url)).toEqual(
    [one, one, two, two].map(({ path }) => site.url + path),
  );

  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(page.getByText('Nothing to tell yet.')).toBeVisible();
});

const fake = async (page: Page, siteUrl: string, count = 60) => {
  await page.goto(siteUrl);
  await page.evaluate(
    async ({ url, count }) => {
      const { fakeLine, manyEvents } = (await import(url)) as Module;
      const now = Date.now();
      const origin = {
        origin: 'https://api.test',
        tokens: 3.5,
        capacity: 20,
        heldUntil: 0,
        heldPaths: {},
        openUntil: 0,
        parked: 0,
      };
      const status: LayerStatus = {
        version: '0.1.0',
        storage: 'indexeddb',
        counters: {
          requests: 30,
          attempts: 90,
          retries: 58,
          hedges: 2,
          amplification: 3,
          recovered: 10,
          gaveUp: { attempts: 8, budget: 2 },
          untold: 4,
        },
        origins: [
          { ...origin, group: 'data', circuit: 'open', openUntil: now + 60_000, parked: 2 },
          { ...origin, group: 'asset', circuit: 'closed', heldUntil: now + 60_000, heldPaths: { '/a': now + 60_000 } },
        ],
      };
      const item = {
        outbox: 'orders',
        method: 'POST',
        url: 'https://api.test/orders',
        bytes: 12,
        queuedAt: now,
        expiresAt: now + 1e6,
      };
      const items: OutboxItem[] = [
        { ...item, id: '1', state: 'waiting', sends: 1, notBefore: now + 60_000, status: 503 },
        { ...item, id: '2', state: 'failed', sends: 1, notBefore: 0, status: 422, reason: 'refused' },
        { ...item, id: '3', state: 'sent', sends: 1, notBefore: 0, status: 201 },
      ];
      fakeLine(manyEvents(count, now), status, items);
    },
    { url: '/devtools.ts', count },
  );
  await expect(rows(page).first()).toBeVisible();
};

for (const [theme, width] of [
  ['light', 1_440],
  ['dark', 375],
] as const) {
  test(`axe finds nothing to complain about: ${theme}, ${width} px`, async ({ page, site }) => {
    // Each look takes a second or two, and there are six.
    test.slow();
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 800 });
    await fake(page, site.url, 12);
    const check = async () => {
      const { violations } = await new AxeBuilder({ page }).include('steadfetch-devtools').analyze();
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]),
      ).toEqual([]);
    };
    await check();
    await rows(page).nth(3).click();
    await check();
    for (const tab of ['Origins', 'Outbox', 'Counters']) {
      await openTab(page, tab);
      await expect(page.getByRole('tabpanel', { name: tab }).locator('.card, .items, .figures').first()).toBeVisible();
      await check();
    }
    await page.getByRole('button', { name: 'Collapse' }).click();
    await check();
  });
}

test('all tabs are in sight, however wide the window is', async ({ page, site }) => {
  await fake(page, site.url, 12);
  const tabs = page.getByRole('tablist', { name: 'Views' });
  for (const width of [375, 639, 640, 768, 1_039, 1_040, 1_440]) {
    await page.setViewportSize({ width, height: 800 });
    await expect
      .poll(() => tabs.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), `at ${width} px`)
      .toBe(0);
  }
});

test('everything can be reached and done by keyboard', async ({ page, site }) => {
  await fake(page, site.url);
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement?.shadowRoot?.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent?.trim().replace(/\s+/g, ' ') ?? '';
    });
  const walked: string[] = [];
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab');
    walked.push(await focused());
  }
  expect(walked.map((name) => name.replace(/^(Requests) \d+$/, '$1'))).toEqual([
    'Height of the panel',
    'Requests',
    'Pause',
    'Clear',
    'Export',
    'Collapse',
    expect.anything(),
    'Origin',
    'Outcome',
    'Time',
    'Requests and what became of them',
    expect.anything(),
  ]);
  const grid = page.getByRole('grid');
  await grid.focus();
  await page.keyboard.press('Home');
  await expect(page.getByRole('row', { selected: true })).toHaveAttribute('aria-rowindex', '2');
  await page.keyboard.press('End');
  await expect(page.getByRole('row', { selected: true })).toHaveAttribute('aria-rowindex', '21');
  await expect(page.getByRole('row', { selected: true })).toBeInViewport();
  await page.keyboard.press('ArrowUp');
  const id = await page.getByRole('row', { selected: true }).getAttribute('id');
  await expect(grid).toHaveAttribute('aria-activedescendant', id ?? '');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Why');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Why' })).toHaveCount(0);
  expect(await focused()).toBe('Requests and what became of them');

  await page.getByRole('tab', { name: 'Requests' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Origins' })).toBeFocused();
  await page.keyboard.press('End');
  await expect(page.getByRole('tabpanel', { name: 'Counters' })).toBeVisible();

  const grip = page.getByRole('separator');
  const before = Number(await grip.getAttribute('aria-valuenow'));
  await grip.focus();
  await page.keyboard.press('ArrowUp');
  await expect(grip).toHaveAttribute('aria-valuenow', String(before + 24));
  await page.getByRole('button', { name: 'Collapse' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'steadfetch' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('tab', { selected: true })).toBeFocused();
});

test('of 10 000 events only what is in view is in the document', async ({ page, site }) => {
  await fake(page, site.url, 10_001);
  const nodes = () =>
    page.evaluate(() => document.querySelector('steadfetch-devtools')?.shadowRoot?.querySelectorAll('*').length ?? 0);
  const grid = page.getByRole('grid');
  await expect(grid).toHaveAttribute('aria-rowcount', '3335');
  await expect(page.getByText('1 older events made room.')).toBeVisible();
  const counts = [await nodes()];
  for (const share of [0, 0.25, 0.5, 1]) {
    await grid.evaluate((element, share) => element.scrollTo(0, share * element.scrollHeight), share);
    await expect(page.getByRole('row', { name: /items/ }).first()).toBeVisible();
    await page.waitForTimeout(50);
    counts.push(await nodes());
    const gap = await grid.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const drawn = [...element.querySelectorAll('.body .cells')].map((row) => row.getBoundingClientRect());
      return [
        Math.min(...drawn.map((row) => row.top)) - top - 27,
        bottom - Math.max(...drawn.map((row) => row.bottom)),
      ];
    });
    expect(Math.max(...gap)).toBeLessThanOrEqual(1);
  }
  expect(Math.max(...counts)).toBeLessThan(1_500);
});

test('a policy without inline styles does not keep it from being drawn', async ({ page, site }) => {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text());
  });
  await page.goto(site.url);
  await page.evaluate(() => {
    const meta = document.createElement('meta');
    meta.httpEquiv = 'Content-Security-Policy';
    meta.content = "style-src 'self'";
    document.head.append(meta);
  });
  await page.evaluate(async (url) => {
    const { fakeLine, manyEvents } = (await import(url)) as Module;
    fakeLine(manyEvents(30));
  }, '/devtools.ts');
  await expect(rows(page).first()).toBeVisible();
  const [first, second] = await Promise.all([0, 1].map((index) => rows(page).nth(index).boundingBox()));
  expect((second?.y ?? 0) - (first?.y ?? 0)).toBe(28);
  expect(problems).toEqual([]);
});

test('an element of the page’s own, there before its code, is no dock', async ({ site, open }) => {
  const page = await open('quick');
  await page.evaluate(async (url) => {
    const element = document.createElement('steadfetch-devtools');
    element.setAttribute('theme', 'dark');
    Object.assign(element, { retries: window.sf.retries });
    const status = document.createElement('steadfetch-status');
    Object.assign(status, { retries: window.sf.retries });
    document.body.append(element, status);
    await import(url);
  }, '/devtools.ts');
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  await page.evaluate((path) => window.sf.get(path), wire.path);
  await expect(rowOf(page, wire.path)).toContainText('recovered');
  await expect(page.getByRole('button', { name: 'Collapse' })).toHaveCount(0);
  await expect(page.locator('steadfetch-devtools .panel')).toHaveCSS('background-color', 'rgb(27, 30, 36)');
  await expect(page.locator('steadfetch-devtools')).toHaveCSS('position', 'static');
  await expect(page.locator('steadfetch-status')).toHaveAttribute('state', 'quiet');
});

test('whatever is told, the panel shows it as text and goes on', async ({ page, site }) => {
  await page.goto(site.url);
  const html = '<img src=x onerror="window.pwned = true"><script>window.pwned = true</script>';
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.evaluate(
    async ({ url, html }) => {
      const { fakeLine, manyEvents } = (await import(url)) as Module;
      const now = Date.now();
      const about = { id: 'a', at: now, method: html, url: `https://a.test/${html}`, group: html, elapsedMs: 10 };
      const told = [
        { type: 'recovered', ...about, attempts: 2, status: 200 },
        // Over before it began, of another day, told twice, and of nobody's protocol.
        { type: 'retry-scheduled', ...about, attempt: 1, delayMs: -5, cause: html, by: html },
        { type: 'recovered', ...about, at: now - 86_400_000, attempts: 2, status: 200 },
        { type: 'gave-up', ...about, id: 'b', at: now + 86_400_000, attempts: 0, reason: html },
        { type: 'waiting', ...about, id: 'c', url: 'x'.repeat(100_000), cause: html },
        { type: 'rebased', ...about, id: 'd', onto: { html } },
        { type: 'hold-started', at: now, origin: html, group: html, until: now - 5, path: html },
        { type: 'circuit-changed', at: now, origin: '', group: '', from: html, to: html },
        { type: 'queue-failed', at: now, id: '', outbox: html, method: html, url: html, reason: html, sends: 0 },
      ];
      fakeLine([...told, ...manyEvents(9)] as never);
    },
    { url: '/devtools.ts', html },
  );
  await expect(rows(page)).toHaveCount(10);
  for (const row of await rows(page).all()) {
    await row.click();
    await expect(page.getByRole('region', { name: 'Why' }).getByRole('listitem').first()).toBeVisible();
  }
  for (const text of ['<img', '.*(', '\\', '  ']) await page.getByRole('searchbox').fill(text);
  await expect(rows(page)).toHaveCount(10);
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  await expect(page.locator('steadfetch-devtools img, steadfetch-devtools script')).toHaveCount(0);
  expect(faults).toEqual([]);
});

test('what comes while the display is paused is counted and saved to the last event', async ({ page, site }) => {
  await page.goto(site.url);
  await page.evaluate(async (url) => {
    const { fakeLine, manyEvents } = (await import(url)) as Module;
    const sent = { id: 'e', outbox: 'orders', method: 'POST', url: 'https://a.test/o', bytes: 3, answer: 'secret' };
    const item: OutboxItem = { ...sent, state: 'sent', queuedAt: 1, expiresAt: 9e15, sends: 1, notBefore: 0 };
    Object.assign(window, { tell: fakeLine(manyEvents(3), undefined, [item]).tell, manyEvents });
  }, '/devtools.ts');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.evaluate(() => {
    const { tell, manyEvents } = window as unknown as {
      tell: (events: unknown) => void;
      manyEvents: (n: number) => [];
    };
    for (let portion = 0; portion < 10; portion += 1) tell(manyEvents(10_002));
  });
  await expect(page.getByRole('button', { name: 'Resume (100020)' })).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  const { events, forgotten, outbox } = JSON.parse(await readFile(await saved.path(), 'utf8'));
  expect([events.length, forgotten]).toEqual([10_000, 100_023 - 10_000]);
  // No body of anybody's, as docs/security.md says.
  expect(outbox).toMatchObject([{ id: 'e', url: 'https://a.test/o', bytes: 3 }]);
  expect(JSON.stringify(outbox)).not.toContain('secret');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(page.getByText('Nothing to tell yet.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Resume', exact: true })).toBeVisible();
});

test('nobody who uses the keyboard loses the place when an entry, a card or the details go', async ({ page, site }) => {
  await page.goto(site.url);
  await page.evaluate(async (url) => {
    const { fakeLine } = (await import(url)) as Module;
    const item = { outbox: 'orders', method: 'POST', url: 'https://a.test/1', bytes: 1, queuedAt: 0, expiresAt: 9e15 };
    const items: OutboxItem[] = ['1', '2'].map((id) => ({ ...item, id, state: 'waiting', sends: 0, notBefore: 0 }));
    const origins = ['https://a.test', 'https://b.test'].map((origin) => ({
      origin,
      group: 'data',
      tokens: 1,
      capacity: 20,
      circuit: 'closed' as const,
      openUntil: 0,
      heldUntil: 0,
      heldPaths: {},
      parked: 0,
    }));
    const counters = {
      requests: 0,
      attempts: 0,
      retries: 0,
      hedges: 0,
      amplification: 1,
      recovered: 0,
      gaveUp: {},
      untold: 0,
    };
    const status: LayerStatus = { version: '0.1.0', storage: 'indexeddb', counters, origins };
    const { panel } = fakeLine([], status, items);
    const { retries } = panel;
    if (!retries) return;
    Object.assign(retries, { reset: async () => origins.shift() });
    Object.assign(retries.outbox, { cancel: async () => items.shift(), clear: async () => items.splice(0) });
  }, '/devtools.ts');
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id);
  await openTab(page, 'Origins');
  const reset = page.getByRole('button', { name: 'Reset' });
  await expect(reset).toHaveCount(2);
  await reset.first().focus();
  await page.keyboard.press('Enter');
  await expect(reset).toHaveCount(1);
  // Not on the button of another origin, which would be the next to be pressed.
  expect(await focused()).toBe('view');
  await openTab(page, 'Outbox');
  const cancel = page.getByRole('button', { name: /^Cancel POST/ });
  await cancel.first().focus();
  await page.keyboard.press('Enter');
  await expect(cancel).toHaveCount(1);
  expect(await focused()).toBe('view');
  // A double click is not yet a yes.
  await page.getByRole('button', { name: 'Clear outbox' }).dblclick();
  const sure = page.getByRole('button', { name: 'Delete all 1?' });
  await expect(sure).toBeVisible();
  await expect(cancel).toHaveCount(1);
  await sure.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('The outbox is empty.')).toBeVisible();
  expect(await focused()).toBe('view');
});

test('it fits into 320 px, in a page from right to left and in the colours of the system', async ({ page, site }) => {
  await page.setViewportSize({ width: 320, height: 480 });
  await fake(page, site.url, 12);
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));
  for (const tab of ['Requests', 'Origins', 'Outbox', 'Counters']) {
    await openTab(page, tab);
    const beyond = await page
      .locator('steadfetch-devtools .view')
      .evaluate((view) => view.scrollWidth - view.clientWidth);
    expect([tab, beyond]).toEqual([tab, 0]);
  }
  await openTab(page, 'Requests');
  await expect(page.locator('steadfetch-devtools')).toHaveCSS('direction', 'ltr');
  await page.emulateMedia({ forcedColors: 'active' });
  await rows(page).first().click();
  await expect(page.getByRole('row', { selected: true })).toHaveCSS('outline-style', 'solid');
  const border = (selected: boolean) =>
    page
      .getByRole('tab', { selected })
      .first()
      .evaluate((tab) => getComputedStyle(tab).borderBottomColor);
  expect(await border(true)).not.toBe(await border(false));
  // Of another window, and of nobody's.
  for (const heightPx of [99_999, -5]) {
    await page.evaluate((height) => localStorage.setItem('steadfetch-devtools', `{"heightPx":${height}}`), heightPx);
    await page.locator('steadfetch-devtools').evaluate((panel) => panel.remove());
    await page.evaluate(async (url) => {
      const { fakeLine, manyEvents } = (await import(url)) as Module;
      fakeLine(manyEvents(3));
    }, '/devtools.ts');
    await expect(page.getByRole('separator')).toHaveAttribute('aria-valuenow', heightPx < 0 ? '160' : '432');
  }
});

test('the worker is left alone while nobody can see the panel', async ({ page, site }) => {
  await fake(page, site.url, 3);
  await page.evaluate(() => {
    const panel = document.querySelector('steadfetch-devtools');
    const { retries } = panel ?? {};
    let asked = 0;
    const status = async () => {
      asked += 1;
    };
    if (retries) Object.assign(retries, { status });
    Object.assign(window, { asked: () => asked });
  });
  const asked = () => page.evaluate(() => (window as unknown as { asked: () => number }).asked());
  const panel = page.locator('steadfetch-devtools');
  await openTab(page, 'Counters');
  await expect.poll(asked).toBeGreaterThan(1);
  for (const hide of [
    () => page.getByRole('button', { name: 'Collapse' }).click(),
    () => panel.evaluate((element) => element.setAttribute('hidden', '')),
    () => panel.evaluate((element) => element.remove()),
  ]) {
    await hide();
    const before = await asked();
    await page.waitForTimeout(1_300);
    expect(await asked()).toBe(before);
    await page.evaluate(() => {
      const panel = document.querySelector('steadfetch-devtools');
      if (panel) Object.assign(panel, { hidden: false, open: true });
    });
    if (await panel.count()) await expect.poll(asked).toBeGreaterThan(before);
  }
});

test('two panels of one page hear the same, and one without a line says so', async ({ site, open }) => {
  const page = await open('quick');
  await showPanel(page);
  await page.evaluate(() => {
    for (const retries of [window.sf.retries, undefined]) {
      document.body.append(Object.assign(document.createElement('steadfetch-devtools'), { retries }));
    }
  });
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  await page.evaluate((path) => window.sf.get(path), wire.path);
  await expect(rowOf(page, wire.path)).toHaveCount(2);
  await expect(page.getByText('Not connected.')).toBeVisible();
});
