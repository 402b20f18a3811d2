import type { Page } from '@playwright/test';
import { expect, test } from '../support/browser.ts';

// The panel and the status in each engine, asked for what they show. Their keys, themes and words are tested where there are
// locators: `devtools.spec.ts`, `status.spec.ts`.

type Module = typeof import('./pages/devtools.ts');

const showPanel = (page: Page) =>
  page.evaluate(async (url) => void ((await import(url)) as Module).show(), '/devtools.ts');
const showStatus = (page: Page) =>
  page.evaluate(async (url) => ((await import(url)) as Module).showStatus(), '/devtools.ts');

/** The texts of the cells that can be seen, row by row. */
const rows = (page: Page): Promise<string[][]> =>
  page.evaluate(() => {
    const root = document.querySelector('steadfetch-devtools')?.shadowRoot;
    return [...(root?.querySelectorAll('[role=row]') ?? [])]
      .map((row) => [...row.querySelectorAll('[role=gridcell]')])
      .filter((cells) => cells.some((cell) => cell.checkVisibility() && cell.getBoundingClientRect().height > 0))
      .map((cells) => cells.map((cell) => cell.getAttribute('aria-label') ?? cell.textContent?.trim() ?? ''));
  });

/** The numbers below `Counters`, by their names. */
const figures = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() => {
    const root = document.querySelector('steadfetch-devtools')?.shadowRoot;
    const tabs = [...(root?.querySelectorAll<HTMLElement>('[role=tab]') ?? [])];
    tabs.find(({ textContent }) => textContent?.includes('Counters'))?.click();
    const shown = [...(root?.querySelectorAll('dl.figures > div') ?? [])].filter((one) => one.checkVisibility());
    return Object.fromEntries(
      shown.map((one) => [one.querySelector('dt')?.textContent, one.querySelector('dd')?.textContent]),
    );
  });

/** What the status shows, if it can be seen. */
const line = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => {
    const root = document.querySelector('steadfetch-status')?.shadowRoot;
    const [box, text] = ['box', 'text'].map((part) => root?.querySelector(`[part=${part}]`));
    return box?.checkVisibility() && box.getBoundingClientRect().height > 0 ? text?.textContent : undefined;
  }) as Promise<string | undefined>;

test('the rows and numbers of the panel are what the server has seen', async ({ site, open }) => {
  const page = await open('quick');
  await showPanel(page);
  const good = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
  const bad = site.plan([{ status: 502 }]);
  const first = site.plan([{ body: 'fine' }]);
  const wires = [good, bad, first];
  const before = await page.evaluate(async () => (await window.sf.retries?.status())?.counters);
  // One after the other: what fails beside another request may leave it fewer attempts.
  for (const { path } of wires) await page.evaluate((path) => window.sf.get(path), path);
  const [goodHits = 0, badHits = 0, firstHits = 0] = wires.map(({ hits }) => hits().length);
  expect([goodHits, badHits, firstHits]).toEqual([3, 3, 1]);

  const row = (outcome: RegExp, path: string, attempts: number, story: RegExp) => [
    expect.stringMatching(outcome),
    'GET',
    expect.stringContaining(path),
    'data',
    String(attempts),
    expect.stringMatching(/\d/),
    expect.stringMatching(story),
  ];
  const rowOf = async (path: string) => (await rows(page)).filter((cells) => cells[2]?.includes(path));
  await expect
    .poll(() => rowOf(good.path))
    .toEqual([row(/^recovered\s+200$/, good.path, goodHits, /1: got 503.*2: got 503.*3: got 200/s)]);
  await expect
    .poll(() => rowOf(bad.path))
    .toEqual([row(/^gave up\s+502$/, bad.path, badHits, /1: got 502.*2: got 502.*3: got 502/s)]);
  expect(await rowOf(first.path)).toEqual([]);

  const hits = goodHits + badHits + firstHits;
  await expect
    .poll(() => figures(page))
    .toMatchObject({
      Requests: String((before?.requests ?? 0) + wires.length),
      Attempts: String((before?.attempts ?? 0) + hits),
      Retries: String(hits - wires.length),
      Recovered: '1',
      'Gave up': '1',
    });
});

test('the status counts what waits while it waits, and is gone when it has come', async ({ site, open }) => {
  const page = await open();
  await showStatus(page);
  expect(await line(page)).toBeUndefined();
  const wires = [1, 2, 3].map(() => site.plan([{ status: 503, retryAfter: 3 }, { body: 'fine' }]));
  const answers = page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  await expect.poll(() => line(page)).toBe('Reconnecting, 3 waiting');
  expect(await answers).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
  expect(wires.map(({ hits }) => hits().length)).toEqual([2, 2, 2]);
  await expect.poll(() => line(page)).toBeUndefined();
});
