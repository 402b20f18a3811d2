import type { RequestType } from './catalogue.ts';
import type { Seen } from './compare.ts';
import { openServer, type Places, type Trouble } from './server.ts';

/** As much of a page as every engine's driver has. */
export interface DrivenPage {
  goto(url: string): Promise<unknown>;
  evaluate<Argument, Result>(work: (argument: Argument) => Result, argument: Argument): Promise<Awaited<Result>>;
  waitForFunction<Argument>(work: (argument: Argument) => unknown, argument: Argument): Promise<unknown>;
}

/** A run of all types, under one worker or none. */
export interface Run {
  /** Keeps it apart from others, in paths. */
  readonly name: string;
  /** The worker's script. */
  readonly script?: string;
  readonly trouble?: Trouble;
}

/** What a type that never ends is cut off after; a page that is slow is not. */
const HUNG_MS = 25_000;

/** What servers and pages see of each type, by its id. */
export async function observe(
  newPage: () => Promise<DrivenPage>,
  types: readonly RequestType[],
  { name, script, trouble = 'none' }: Run,
): Promise<ReadonlyMap<string, Seen>> {
  const server = await openServer(name, script === undefined ? {} : { '/sw.js': script }, trouble);
  try {
    const page = await newPage();
    await page.goto(server.page);
    if (script !== undefined) {
      await page.evaluate(async (url) => {
        await navigator.serviceWorker.register(url, { scope: '/' });
      }, '/sw.js');
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated', undefined);
    }
    await page.evaluate(() => performance.setResourceTimingBufferSize(5_000), undefined);
    const tab = await newPage();
    const told = new Map<string, unknown>();
    for (const type of types) {
      const at = server.placesOf(type.id);
      told.set(type.id, await inTime(type.leaves ? leave(tab, server.page, type, at) : page.evaluate(type.page, at)));
      if (type.sends !== undefined) await server.until(type.id, type.sends);
    }
    const timings = await timingsOf(page);
    return new Map(
      types.map((type) => {
        const timing = timings.filter(({ url }) => url.includes(`/${type.id}/`));
        const seen = JSON.parse(server.plain(JSON.stringify({ told: told.get(type.id), timing })));
        return [type.id, { hits: server.hitsOf(type.id), page: { ...seen } }] satisfies [string, Seen];
      }),
    );
  } finally {
    await server.close();
  }
}

async function leave(tab: DrivenPage, start: string, { page, id, leaves }: RequestType, at: Places): Promise<unknown> {
  if (leaves === 'by-address') await tab.goto(`${at.own}end.html`);
  else {
    await tab.goto(start);
    await tab.evaluate(page, at);
  }
  // Its URL alone may be there before it is.
  await tab.waitForFunction(
    (end) => location.pathname.endsWith(end) && document.title === 'end.html' && document.readyState === 'complete',
    `/${id}/end.html`,
  );
  return tab.evaluate(() => {
    const { title, referrer, cookie, URL: url } = document;
    return { title, referrer, cookie, url };
  }, undefined);
}

/** An answer may be timed a moment after a page has it. */
async function timingsOf(page: DrivenPage): Promise<readonly { readonly url: string }[]> {
  await page.evaluate(async () => {
    const count = () => performance.getEntriesByType('resource').length;
    for (let before = -1; before !== count(); ) {
      before = count();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }, undefined);
  return page.evaluate(() => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return entries
      .map(({ name, initiatorType, workerStart }) => ({ url: name, initiatorType, viaWorker: workerStart > 0 }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }, undefined);
}

async function inTime(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise((resolve) => {
        timer = setTimeout(() => resolve('never ended'), HUNG_MS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
