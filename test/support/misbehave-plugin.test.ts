import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createServer, type InlineConfig, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type MisbehavePlugin, misbehave } from '../../demo/misbehave-plugin.ts';

// A machine under load is slow, not wrong.
vi.setConfig({ testTimeout: 30_000 });

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'misbehave-'));
  await writeFile(join(root, 'index.html'), '<!doctype html><title>page</title>');
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe.each([
  { name: 'dev server', start: startDev },
  { name: 'preview server', start: startPreview },
])('in Vite’s $name', ({ start }) => {
  test('answers /wire/ as planned and leaves the rest to Vite', async () => {
    const plugin = misbehave();
    const vite = await start(plugin);
    plugin.api.server.plan('a', [{ status: 503, retryAfter: 2 }]);
    const answer = await fetch(`${vite.url}/wire/a`, { headers: { origin: 'http://localhost:1' } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(answer.headers.get('vary')).toBeNull();
    const page = await fetch(vite.url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<title>page</title>');
    await vite.close();
  });

  test('no answer of Vite’s leaves a connection open that a /wire/ request could go out on', async () => {
    const vite = await start(misbehave());
    for (const path of ['/', '/index.html', '/nothing.js']) {
      expect((await fetch(vite.url + path)).headers.get('connection')).toBe('close');
    }
    await vite.close();
  });

  test('an OPTIONS request reaches the plan', async () => {
    const plugin = misbehave();
    const vite = await start(plugin);
    plugin.api.server.plan('a', [{ status: 418 }]);
    expect((await fetch(`${vite.url}/wire/a`, { method: 'OPTIONS' })).status).toBe(418);
    await vite.close();
  });

  test('opens a second origin with the same plans and tells the page where', async () => {
    const plugin = misbehave(undefined, { secondOrigin: true });
    expect(plugin.api.secondOrigin).toBeUndefined();
    const vite = await start(plugin);
    const { origin } = await (await fetch(`${vite.url}/wire-control/second-origin`)).json();
    expect(origin).toBe(plugin.api.secondOrigin);
    expect(origin).not.toBe(new URL(vite.url).origin);

    plugin.api.server.plan('a', [{ status: 503 }, { status: 200 }]);
    const answer = await fetch(`${origin}/wire/a`, { headers: { origin: vite.url } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([503, vite.url]);
    expect((await fetch(`${vite.url}/wire/a`)).status).toBe(200);
    expect(plugin.api.server.hits('a').map((hit) => hit.origin)).toEqual(['second', 'first']);
    expect((await fetch(`${origin}/index.html`)).status).toBe(404);

    await vite.close();
    expect(plugin.api.secondOrigin).toBeUndefined();
    await expect(fetch(`${origin}/wire/a`)).rejects.toThrow();
  });

  test('without one, says how to get it', async () => {
    const vite = await start(misbehave());
    const answer = await fetch(`${vite.url}/wire-control/second-origin`);
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('{ secondOrigin: true }')]);
    await vite.close();
  });

  test('closes while answers of every unfinished kind are under way on both origins', async () => {
    const plugin = misbehave(undefined, { secondOrigin: true });
    const vite = await start(plugin);
    const { server } = plugin.api;
    server.plan('a', [{ stall: 'headers' }, { stall: 'body' }, { endless: true }, { delayMs: 60_000 }]);
    const asked = [1, 2, 3, 4].flatMap((n) =>
      [vite.url, plugin.api.secondOrigin].map((origin) => settled(`${origin}/wire/${n}?plan=${UNFINISHED[n - 1]}`)),
    );
    asked.push(settled(`${vite.url}/wire-control/events`));
    await expect.poll(() => server.hits().length, { timeout: 20_000 }).toBe(8);
    await vite.close();
    await Promise.all(asked);
    await expect.poll(() => server.hits().every((hit) => hit.closedAt !== undefined), { timeout: 20_000 }).toBe(true);
  });
});

test('a restart of Vite opens a new second origin and closes the old one', async () => {
  const plugin = misbehave(undefined, { secondOrigin: true });
  const vite = await createServer(configFor(plugin));
  await vite.listen();
  const before = plugin.api.secondOrigin;
  await vite.restart();
  const after = plugin.api.secondOrigin;
  expect(after).not.toBe(before);
  expect((await fetch(`${after}/wire/a`)).status).toBe(200);
  await expect(fetch(`${before}/wire/a`)).rejects.toThrow();
  await vite.close();
  expect(plugin.api.secondOrigin).toBeUndefined();
});

test.each(['createServer', 'preview'])(
  'Node exits by itself after %s has closed',
  async (start) => {
    const { code, output } = await runNode(`
    import { get } from 'node:http';
    import { ${start} as start, runnerImport } from 'vite';
    const { module: { misbehave } } = await runnerImport(${JSON.stringify(PLUGIN)});
    const plugin = misbehave(undefined, { secondOrigin: true });
    const root = ${JSON.stringify(root)};
    const at = { host: '127.0.0.1', port: 0 };
    const vite = await start({
      root, configFile: false, logLevel: 'silent', build: { outDir: root }, server: at, preview: at, plugins: [plugin],
    });
    await vite.listen?.();
    const { port } = vite.httpServer.address();
    for (const origin of ['http://127.0.0.1:' + port, plugin.api.secondOrigin]) {
      for (const plan of ${JSON.stringify(UNFINISHED)}) get(origin + '/wire/a?plan=' + plan).on('error', () => {});
      get(origin + '/wire-control/events').on('error', () => {});
    }
    while (plugin.api.server.hits().length < 8) await new Promise((resolve) => setTimeout(resolve, 10));
    await vite.close();
    console.log('closed');
  `);
    expect([output, code]).toEqual(['closed\n', 0]);
  },
  30_000,
);

const PLUGIN = fileURLToPath(new URL('../../demo/misbehave-plugin.ts', import.meta.url));
const UNFINISHED = ['[{"stall":"headers"}]', '[{"stall":"body"}]', '[{"endless":true}]', '[{"delayMs":60000}]'].map(
  encodeURIComponent,
);

interface Started {
  readonly url: string;
  close(): Promise<void>;
}

function configFor(plugin: MisbehavePlugin): InlineConfig {
  const at = { host: '127.0.0.1', port: 0 };
  return {
    root,
    configFile: false,
    logLevel: 'silent',
    build: { outDir: root },
    server: { ...at, watch: null },
    preview: at,
    plugins: [plugin],
  };
}

async function startDev(plugin: MisbehavePlugin): Promise<Started> {
  const vite = await createServer(configFor(plugin));
  await vite.listen();
  return { url: urlOf(vite), close: () => vite.close() };
}

async function startPreview(plugin: MisbehavePlugin): Promise<Started> {
  const vite = await preview(configFor(plugin));
  return { url: urlOf(vite), close: () => vite.close() };
}

function urlOf({ resolvedUrls }: { readonly resolvedUrls: { readonly local: readonly string[] } | null }): string {
  return (resolvedUrls?.local[0] ?? '').replace(/\/$/, '');
}

/** However it ends. */
async function settled(url: string): Promise<void> {
  await fetch(url)
    .then((answer) => answer.arrayBuffer())
    .catch(() => {});
}

async function runNode(code: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 25_000,
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { output: await text(child.stdout), code: await ended };
}
