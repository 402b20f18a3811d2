import { fileURLToPath } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { createServer } from 'vite';
import type { MisbehaveApi } from '../../demo/misbehave-plugin.ts';
import type { Hit, MisbehavingServer } from '../../demo/misbehaving-server.ts';
import { test as base } from './engines/test.ts';

/** The demo as `npm start` serves it, on a port of its own; one per test process. */
export interface Demo {
  readonly url: string;
  readonly server: MisbehavingServer;
  /** Of an id's hits those that were answered well. */
  good(id: string): readonly Hit[];
}

const inRepo = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const test = base.extend<{ open: (path?: string) => Promise<Page> }, { demo: Demo }>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures a fixture needs from it
    async ({}, use) => {
      const vite = await createServer({
        configFile: inRepo('demo/vite.config.ts'),
        cacheDir: inRepo('node_modules/.cache/vite-demo-tests'),
        logLevel: 'error',
        server: { port: 0, host: 'localhost', hmr: false, watch: null },
      });
      await vite.listen();
      const url = vite.resolvedUrls?.local[0] ?? '';
      // Bundled at its first request, which on a busy machine takes longer than a page waits for its worker.
      await (await fetch(`${url}sw.js`)).text();
      const plugin = vite.config.plugins.find(({ name }) => name === 'misbehave');
      if (plugin === undefined) throw new Error('the demo is served without its misbehaving server');
      const { server } = plugin.api as MisbehaveApi;
      const good: Hit[] = [];
      server.onHit((hit, { status = 200, reset, stall }) => {
        if (status < 400 && reset === undefined && stall === undefined) good.push(hit);
      });
      await use({ url, server, good: (id) => good.filter((hit) => hit.id === id) });
      await vite.close();
    },
    { scope: 'worker' },
  ],
  open: async ({ context, demo }, use) => {
    await use(async (path = '') => {
      const page = await context.newPage();
      await page.goto(demo.url + path);
      return page;
    });
  },
});

export { expect };
