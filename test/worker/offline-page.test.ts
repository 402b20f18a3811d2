/// <reference lib="webworker" />
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOfflinePage } from '../../src/worker/offline-page.ts';

/** What all workers of an origin have: name of a cache, URL, text. */
let stored: Map<string, Map<string, string>>;
beforeEach(() => {
  stored = new Map();
  vi.stubGlobal('fetch', async ({ url }: Request) => new Response(`page of ${new URL(url).pathname}`));
});
afterEach(() => vi.unstubAllGlobals());

const caches = {
  async open(name: string) {
    const pages = stored.get(name) ?? new Map<string, string>();
    stored.set(name, pages);
    return {
      put: async (url: string, page: Response) => void pages.set(url, await page.text()),
      keys: async () => [...pages.keys()].map((url) => new Request(url)),
      delete: async ({ url }: Request) => pages.delete(url),
    };
  },
  async match(url: string, { cacheName }: { cacheName: string }) {
    const text = stored.get(cacheName)?.get(url);
    return text === undefined ? undefined : new Response(text, { headers: { 'Content-Type': 'text/html' } });
  },
  delete: async (name: string) => stored.delete(name),
};

/** A version of the worker with this scope. */
function version(scope: string, path: string) {
  const listeners = new Map<string, (event: object) => void>();
  const page = createOfflinePage(
    {
      caches,
      location: new URL('https://app.test/sw.js'),
      registration: { scope: `https://app.test${scope}` },
      addEventListener: (type: string, listener: (event: object) => void) => listeners.set(type, listener),
    } as unknown as ServiceWorkerGlobalScope,
    path,
    (problem) => {
      throw problem;
    },
  );
  page.listen();
  const on = async (type: 'install' | 'activate') => {
    const waits: Promise<unknown>[] = [];
    listeners.get(type)?.({ waitUntil: (work: Promise<unknown>) => waits.push(work) });
    await Promise.all(waits);
  };
  const shown = async () => {
    const answer = await page.insteadOf(Promise.reject(new TypeError('offline'))).catch(String);
    return typeof answer === 'string' ? answer : answer.text();
  };
  return { ...page, on, shown };
}

test('workers of two scopes have a page each, and one that goes takes its own with it', async () => {
  const [shop, blog] = [version('/shop/', '/shop/offline.html'), version('/blog/', '/blog/offline.html')];
  for (const worker of [shop, blog]) {
    await worker.on('install');
    await worker.on('activate');
  }
  expect([await shop.shown(), await blog.shown()]).toEqual([
    'page of /shop/offline.html',
    'page of /blog/offline.html',
  ]);
  await shop.destroy();
  expect([await shop.shown(), await blog.shown()]).toEqual(['TypeError: offline', 'page of /blog/offline.html']);
});

test('a version that waits takes nothing from the one that is there, and leaves nothing of it once it is gone', async () => {
  const [last, next] = [version('/', '/offline-1.html'), version('/', '/offline-2.html')];
  await last.on('install');
  await next.on('install');
  expect(await last.shown()).toBe('page of /offline-1.html');
  await next.on('activate');
  expect(await next.shown()).toBe('page of /offline-2.html');
  expect([...stored.values()].flatMap((pages) => [...pages.keys()])).toEqual(['https://app.test/offline-2.html']);
});
