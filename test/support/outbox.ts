import type { CDPSession, Page } from '@playwright/test';
import type { LayerEvent, OutboxItem } from '../../src/page/index.ts';
import type { Seen } from '../browser/pages/page.ts';
import { expect, header, stopWorker, type Wire } from './browser.ts';
import { engineOf } from './engines/page.ts';

// What the tests of the outbox do in a page, and with its worker.

export const keyed = (key: string, body: string) => ({ method: 'POST', body, headers: { 'Idempotency-Key': key } });

export const post = (page: Page, path: string, init: RequestInit): Promise<Seen> =>
  page.evaluate(({ path, init }) => window.sf.get(path, init), { path, init });

/** The entries, as the page is shown them. */
export const list = (page: Page): Promise<OutboxItem[]> =>
  page.evaluate(() => window.sf.retries?.outbox.list() ?? []) as Promise<OutboxItem[]>;

/** What is in the database, whoever's it is. */
export const stored = (page: Page): Promise<{ state: string; sends: number; owner?: string }[]> =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('steadfetch-outbox');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const db = opening.result;
          const all = db.transaction('entries').objectStore('entries').getAll();
          all.onsuccess = () => {
            resolve(all.result);
            db.close();
          };
        };
      }),
  );

/** Sends now whatever may be sent. */
export const sendNow = (page: Page) => page.evaluate(() => window.sf.retries?.outbox.retry());

export const eventsOf = async (page: Page, ...types: LayerEvent['type'][]): Promise<LayerEvent[]> =>
  (await page.evaluate(() => window.sf.events)).filter(({ type }) => types.includes(type));

/** Bodies in the order in which they came. */
export const bodies = (wire: Wire) => wire.hits().map(({ body }) => body.toString());
export const keys = (wire: Wire) => wire.hits().map((hit) => header(hit, 'Idempotency-Key'));

/** Keeps orders with keys as a device does that is offline. */
export async function keepOffline(page: Page, path: string, names: readonly string[]): Promise<void> {
  await goOffline(page);
  for (const name of names) expect(await post(page, path, keyed(`key-${name}`, name))).toMatchObject({ status: 202 });
}

/** The worker takes the device for offline from now on, as long as it lives. */
export async function goOffline(page: Page): Promise<void> {
  // It has to be awake to hear it.
  await page.evaluate(() => window.sf.retries?.status());
  await tell(page, { onLine: false });
}

/** Back online; whatever may be sent is sent, unless the test is about who does that. */
export async function goOnline(page: Page, { send = true } = {}): Promise<void> {
  await tell(page, { onLine: true });
  if (send) await sendNow(page);
}

/** Says something to `outbox.sw.ts` that wakes nobody and sends nothing. */
const tell = (page: Page, what: object) =>
  page.evaluate(
    (what) =>
      new Promise<void>((resolve) => {
        const line = new BroadcastChannel('outbox-test');
        Object.assign(window, {
          reached: new Promise<void>((reached) => {
            line.onmessage = ({ data }) => (data === 'heard' ? resolve() : reached());
          }),
        });
        line.postMessage(what);
      }),
    what,
  );

/** Where `outbox.sw.ts` can be told to stand still, so that it is stopped right there. */
export type Place = 'keeping' | 'leasing' | 'leased' | 'answered' | 'settling';

/** Kills the worker where a test says, again and again: one session with the browser for all of it, where it has such. */
export async function killer(page: Page) {
  const kill = engineOf(page.context()) === 'chromium' ? await killByDevtools(page) : () => stopWorker(page);
  return {
    kill,
    /** Of this worker, not of the next. Resolves to what waits until it stands there, and kills it. */
    async standAt(place: Place, nth: number): Promise<() => Promise<void>> {
      await tell(page, { place, nth });
      return async () => {
        await page.evaluate(() => (window as unknown as { reached: Promise<void> }).reached);
        await kill();
      };
    },
  };
}

async function killByDevtools(page: Page): Promise<() => Promise<void>> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  let heard = (): void => {};
  let status = '';
  cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    status = versions.at(-1)?.runningStatus ?? status;
    heard();
  });
  await cdp.send('ServiceWorker.enable');
  return async () => {
    const gone = new Promise<void>((resolve) => {
      heard = () => status === 'stopped' && resolve();
    });
    await cdp.send('ServiceWorker.stopAllWorkers');
    await gone;
  };
}
