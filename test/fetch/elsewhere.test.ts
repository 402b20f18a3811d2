import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openWire, type Wire } from '../support/wire.ts';

// A machine under load is slow, not wrong.
vi.setConfig({ testTimeout: 30_000 });

let wire: Wire;
let dir: string;
beforeAll(async () => {
  wire = await openWire();
  dir = await mkdtemp(join(tmpdir(), 'steadfetch-'));
});
afterAll(async () => {
  await wire.close();
  await rm(dir, { recursive: true, force: true });
});

/** The entry as it is published, or as one script that gives it the name `steadfetch`. */
async function bundle(format: 'es' | 'iife'): Promise<string> {
  const outputs = (await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: {
        entry: fileURLToPath(new URL('../../src/fetch/index.ts', import.meta.url)),
        formats: [format],
        name: 'steadfetch',
        fileName: () => 'fetch.js',
      },
    },
  })) as Rolldown.RolldownOutput[];
  return outputs.flatMap(({ output }) => output.flatMap((one) => ('code' in one ? one.code : []))).join('\n');
}

test('where there is nothing but what an edge runtime has', async () => {
  const { url, hits } = wire.plan([{ status: 503 }, { reset: 'headers' }, { body: 'fine' }]);
  const context = {
    fetch,
    Request,
    Response,
    Headers,
    URL,
    AbortController,
    AbortSignal,
    DOMException,
    setTimeout,
    clearTimeout,
    crypto,
    performance,
    ReadableStream,
    TextDecoder,
    TextEncoder,
    console,
    url,
    result: undefined as unknown,
  };
  runInNewContext(
    `${await bundle('iife')}
    const retryFetch = steadfetch.createRetryFetch({ backoff: steadfetch.constant(20) });
    const types = [];
    for (const type of ['retry-scheduled', 'recovered']) retryFetch.on(type, (event) => types.push(event.type));
    result = retryFetch(url).then(async (answer) => {
      const tried = await steadfetch.retry(({ attempt }) => {
        if (attempt < 3) throw new Error('no');
        return attempt;
      }, { backoff: steadfetch.constant(1) });
      return JSON.stringify([answer.status, await answer.text(), tried, types, retryFetch.status().storage]);
    });`,
    context,
  );
  expect(JSON.parse((await context.result) as string)).toEqual([
    200,
    'fine',
    3,
    ['retry-scheduled', 'retry-scheduled', 'recovered'],
    'memory',
  ]);
  expect(hits()).toHaveLength(3);
});

test('a process that has nothing else to do ends', async () => {
  const recovers = wire.plan([{ status: 502 }, { body: 'fine' }]);
  const held = wire.plan([{ status: 503, retryAfter: 60 }]);
  const stalls = wire.plan([{ stall: 'headers' }]);
  await writeFile(join(dir, 'fetch.mjs'), await bundle('es'));
  await writeFile(
    join(dir, 'main.mjs'),
    `import { constant, createRetryFetch, retry } from './fetch.mjs';
    const retryFetch = createRetryFetch({ backoff: constant(20) });
    console.log((await retryFetch(process.argv[2])).status);
    console.log((await retryFetch(process.argv[3])).status);
    await retryFetch(process.argv[4], { signal: AbortSignal.timeout(100) }).catch(({ name }) => console.log(name));
    await retry(() => Promise.reject(new Error('no')), { attempts: 2, backoff: constant(1), attemptTimeoutMs: 60_000 }).catch(
      ({ attempts }) => console.log(attempts),
    );
    console.log('done');`,
  );
  const child = spawn(process.execPath, [join(dir, 'main.mjs'), recovers.url, held.url, stalls.url]);
  let printed = '';
  let doneAt = 0;
  child.stderr.on('data', (data) => {
    printed += data;
  });
  child.stdout.on('data', (data) => {
    printed += data;
    if (printed.includes('done')) doneAt = Date.now();
  });
  const timer = setTimeout(() => child.kill(), 20_000);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  expect([printed, code]).toEqual(['200\n503\nTimeoutError\n2\ndone\n', 0]);
  expect(Date.now() - doneAt).toBeLessThan(3_000);
});
