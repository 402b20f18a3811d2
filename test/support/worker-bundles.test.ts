import { mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { build, createServer, type InlineConfig, type ViteDevServer } from 'vite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type WorkerEntries, workerBundles } from '../../demo/worker-bundles.ts';

vi.mock('vite', async (original) => {
  const actual = await original<typeof import('vite')>();
  return { ...actual, build: vi.fn(actual.build) };
});

// A machine under load is slow, not wrong.
vi.setConfig({ testTimeout: 30_000 });

let root: string;
let vite: ViteDevServer | undefined;

beforeEach(async () => {
  vi.mocked(build).mockClear();
  root = await mkdtemp(join(tmpdir(), 'worker-bundles-'));
  await source('sw.ts', "import { greeting } from './lib.js';\nself.result = greeting + process.env.NODE_ENV;\n");
  await source('lib.ts', "export const greeting: string = 'hello ';\n");
});
afterEach(async () => {
  await vite?.close();
  vite = undefined;
  await rm(root, { recursive: true, force: true });
});

describe('in dev', () => {
  test('serves one classic script with everything in it', async () => {
    await serve({ '/sw.js': file('sw.ts') });
    const answer = await ask('/sw.js?v=1');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript',
      'cache-control': 'no-cache',
      'service-worker-allowed': '/',
    });
    const code = await answer.text();
    expect(resultOf(code)).toBe('hello production');
    expect(code).toContain('sourceMappingURL=data:application/json');
  });

  test('HEAD too, other methods and paths not', async () => {
    await serve({ '/sw.js': file('sw.ts') });
    const head = await ask('/sw.js', { method: 'HEAD' });
    expect(head.headers.get('service-worker-allowed')).toBe('/');
    expect((await ask('/sw.js', { method: 'POST' })).headers.get('service-worker-allowed')).toBeNull();
    for (const path of ['/other.js', '/toString', '/__proto__']) {
      expect((await ask(path)).headers.get('service-worker-allowed')).toBeNull();
    }
  });

  test('a function may name the entries', async () => {
    await serve((path) => (path.endsWith('.sw.js') ? file(path.slice(1).replace('.sw.js', '.ts')) : undefined));
    expect(resultOf(await (await ask('/sw.sw.js')).text())).toBe('hello production');
    expect((await ask('/sw.js')).headers.get('service-worker-allowed')).toBeNull();
  });

  test('below a base', async () => {
    await serve({ '/sw.js': file('sw.ts') }, { base: '/app/' });
    expect(resultOf(await (await ask('/app/sw.js')).text())).toBe('hello production');
  });

  test('aliases of the Vite config apply', async () => {
    await source('sw.ts', "import { greeting } from 'the-library';\nself.result = greeting;\n");
    await serve({ '/sw.js': file('sw.ts') }, { resolve: { alias: { 'the-library': file('lib.ts') } } });
    expect(resultOf(await (await ask('/sw.js')).text())).toBe('hello ');
  });

  test('keeps a bundle until a file in it changes, however deep', async () => {
    await serve({ '/sw.js': file('sw.ts') });
    const first = await (await ask('/sw.js')).text();
    await source('unrelated.ts', 'export {};\n');
    expect(await (await ask('/sw.js')).text()).toBe(first);
    expect(build).toHaveBeenCalledTimes(1);
    await source('lib.ts', "export const greeting: string = 'howdy ';\n");
    // No wait: the very next request gets the new script.
    expect(resultOf(await (await ask('/sw.js')).text())).toBe('howdy production');
    await ask('/sw.js');
    expect(build).toHaveBeenCalledTimes(2);
  });

  test('bundles once for requests that come together', async () => {
    await serve({ '/sw.js': file('sw.ts') });
    const askAll = () => Promise.all([1, 2, 3, 4, 5].map(() => ask('/sw.js')));
    await askAll();
    expect(build).toHaveBeenCalledTimes(1);
    await source('lib.ts', "export const greeting: string = 'howdy ';\n");
    await askAll();
    expect(build).toHaveBeenCalledTimes(2);
  });

  test('notices an older file that is moved into place', async () => {
    await serve({ '/sw.js': file('sw.ts') });
    await ask('/sw.js');
    await source('older.ts', "export const greeting: string = 'adieu ';\n");
    await utimes(file('older.ts'), 0, 0);
    await rename(file('older.ts'), file('lib.ts'));
    expect(resultOf(await (await ask('/sw.js')).text())).toBe('adieu production');
  });

  test.each([
    { name: 'a syntax error', code: 'const = 1;\n', says: /sw\.ts/ },
    { name: 'a missing import', code: "import './gone.js';\n", says: /gone\.js/ },
  ])('$name is a 500 that says so, until it is mended', async ({ code, says }) => {
    const logged: string[] = [];
    await source('sw.ts', code);
    await serve({ '/sw.js': file('sw.ts') });
    if (vite !== undefined) vite.config.logger.error = (message) => logged.push(message);
    const answer = await ask('/sw.js');
    const message = await answer.text();
    expect(answer.status).toBe(500);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect(message).toMatch(says);
    expect(message).not.toContain('\u001b[');
    expect(logged).toEqual([`/sw.js: ${message}`]);
    await source('sw.ts', 'self.result = 1;\n');
    expect(resultOf(await (await ask('/sw.js')).text())).toBe(1);
  });

  test('a missing entry is a 500', async () => {
    await serve({ '/sw.js': file('gone.ts') });
    expect((await ask('/sw.js')).status).toBe(500);
  });

  test('leaves the environment of the process as it was', async () => {
    const before = { ...process.env };
    await serve({ '/sw.js': file('sw.ts') });
    await ask('/sw.js');
    expect(process.env).toEqual(before);
  });
});

describe('vite build', () => {
  test('emits the script at its path', async () => {
    await buildWith({ '/sw.js': file('sw.ts'), '/deep/er/sw.js': file('sw.ts') });
    for (const path of ['sw.js', 'deep/er/sw.js']) {
      expect(resultOf(await readFile(join(root, 'dist', path), 'utf8'))).toBe('hello production');
    }
  });

  test('a function has nothing to emit', async () => {
    await buildWith(() => file('sw.ts'));
    await expect(readFile(join(root, 'dist/sw.js'))).rejects.toThrow('ENOENT');
  });

  test('fails when a worker does', async () => {
    await source('sw.ts', 'const = 1;\n');
    await expect(buildWith({ '/sw.js': file('sw.ts') })).rejects.toThrow('sw.ts');
  });
});

function file(name: string): string {
  return join(root, 'src', name);
}

async function source(name: string, code: string): Promise<void> {
  await mkdir(join(root, 'src'), { recursive: true });
  await writeFile(file(name), code);
}

async function serve(entries: WorkerEntries, config: InlineConfig = {}): Promise<void> {
  vite = await createServer({
    ...config,
    root,
    configFile: false,
    logLevel: 'silent',
    server: { host: '127.0.0.1', port: 0, watch: null },
    plugins: [workerBundles(entries)],
  });
  await vite.listen();
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const url = new URL(path, vite?.resolvedUrls?.local[0]);
  return fetch(url, init);
}

async function buildWith(entries: WorkerEntries): Promise<void> {
  await writeFile(join(root, 'index.html'), '<!doctype html><title>page</title>');
  await build({ root, configFile: false, logLevel: 'silent', plugins: [workerBundles(entries)] });
}

/** Runs it as a classic script in which only `self` exists, as in a worker. */
function resultOf(code: string): unknown {
  const self: { result?: unknown } = {};
  runInNewContext(code, { self });
  return self.result;
}
