import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { generatedBytes, type Step } from '../../demo/misbehaving-server.ts';
import { test as base, expect, header, needs, stopWorker, type Wire } from '../support/browser.ts';
import { ownServer } from '../support/own-server.ts';

const MIB = 1_048_576;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A file of which a server has ranges. */
const file = (bytes: number, more: Step = {}): Step => ({ bytes, ranges: true, headers: { ETag: '"v1"' }, ...more });
/**
 * The same, cut after `sentBytes` of what was asked for: by an orderly close, because a reset throws away what has come
 * and was not read yet, on a busy machine more of it.
 */
const cut = (bytes: number, sentBytes: number): Step => file(bytes, { truncate: true, sentBytes });

/** Reads to the end, whatever that is. */
const download = (page: Page, path: string, { chunkPauseMs = 0 } = {}) =>
  page.evaluate(
    async ({ path, chunkPauseMs }) => {
      const hex = async (bytes: BufferSource) =>
        [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
          .map((byte) => byte.toString(16).padStart(2, '0'))
          .join('');
      const response = await fetch(path);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      let error: string | undefined;
      let longestMs = 0;
      for (;;) {
        const askedAt = performance.now();
        try {
          const { done, value } = await reader.read();
          longestMs = Math.max(longestMs, performance.now() - askedAt);
          if (done) break;
          chunks.push(value as Uint8Array<ArrayBuffer>);
        } catch (problem) {
          error = String(problem);
          break;
        }
        if (chunkPauseMs > 0) await new Promise((resolve) => setTimeout(resolve, chunkPauseMs));
      }
      const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
      const length = response.headers.get('Content-Length');
      const text = bytes.length < 1_000 ? new TextDecoder().decode(bytes) : '';
      return { status: response.status, length, bytes: bytes.length, hash: await hex(bytes), text, error, longestMs };
    },
    { path, chunkPauseMs },
  );

const test = base.extend<{ resuming: () => Promise<Page> }>({
  /** A page whose worker resumes. */
  resuming: async ({ open, context }, use) => {
    await use(() => {
      needs(context, 'resume');
      return open('resume');
    });
  },
});

const ranges = (wire: Wire) => wire.hits().map((hit) => header(hit, 'range'));
/** Where each rest began. Not always where its server stopped: an error may take with it what nobody had read yet. */
const begins = (wire: Wire) =>
  ranges(wire)
    .slice(1)
    .map((range) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]));
const told = (page: Page) => page.evaluate(() => window.sf.told);

test('undici-114 five cuts: the page gets every byte, once', async ({ site, resuming }) => {
  const page = await resuming();
  const bytes = 4 * MIB;
  const wire = site.plan([...Array.from({ length: 5 }, () => cut(bytes, 700_000)), file(bytes)]);
  const seen = await download(page, wire.path);
  expect(seen).toMatchObject({ status: 200, length: String(bytes), bytes, hash: sha256(generatedBytes(bytes)) });
  expect(seen.error).toBeUndefined();
  const [first, ...rest] = wire.hits();
  expect([header(first, 'range'), header(first, 'if-range')]).toEqual([null, null]);
  expect(rest.map((hit) => header(hit, 'if-range'))).toEqual(Array.from({ length: 5 }, () => '"v1"'));
  const from = begins(wire);
  for (const [index, next] of from.entries()) {
    // What was sent is not sent again.
    expect(next - (from[index - 1] ?? 0)).toBe(700_000);
  }
  const resumed = async () => (await told(page)).filter(({ type }) => type === 'resumed');
  await expect.poll(resumed).toMatchObject(from.map((fromByte, index) => ({ resumptions: index + 1, fromByte })));
  expect((await page.evaluate(() => window.sf.retries?.status()))?.counters).toMatchObject({ resumed: 5, retries: 5 });
});

test('a body that breaks off is gone on with, but not in Firefox, whose workers may not live to its end', async ({
  site,
  open,
  engine,
}) => {
  const page = await open('resume');
  const wire = site.plan([cut(100_000, 50_000), file(100_000)]);
  const seen = await download(page, wire.path);
  if (engine === 'firefox') expect([seen.error, ranges(wire)]).toEqual([expect.stringMatching(/^TypeError/), [null]]);
  else {
    expect([seen.error, seen.bytes]).toEqual([undefined, 100_000]);
    expect(ranges(wire)).toEqual([null, expect.stringMatching(/^bytes=\d+-$/)]);
  }
});

test('cuts by resets, which may take with them what had come: every byte, once', async ({ site, resuming }) => {
  const page = await resuming();
  const bytes = 2 * MIB;
  const reset = file(bytes, { reset: 'body', sentBytes: 700_000 });
  const wire = site.plan([reset, reset, file(bytes)]);
  expect(await download(page, wire.path)).toMatchObject({ bytes, hash: sha256(generatedBytes(bytes)) });
  expect(wire.hits()).toHaveLength(3);
});

test('B138 the last byte', async ({ site, resuming }) => {
  const page = await resuming();
  const wire = site.plan([cut(100_000, 99_999), file(100_000)]);
  expect(await download(page, wire.path)).toMatchObject({ hash: sha256(generatedBytes(100_000)) });
  expect(ranges(wire)).toEqual([null, 'bytes=99999-']);
});

test('what the page sees of one that was redirected and may be resumed: its own URL, and the rest as it was', async ({
  site,
  resuming,
}) => {
  const page = await resuming();
  const wire = site.plan([{ body: 'here', ranges: true, headers: { ETag: '"v1"', 'X-Own': '1' } }]);
  const moved = site.plan([{ redirect: wire.path }]);
  const seen = await page.evaluate((path) => window.sf.get(path), moved.path);
  const own = { url: site.url + moved.path, redirected: false };
  expect(seen).toMatchObject({ status: 200, body: 'here', ...own, headers: { 'x-own': '1', 'content-length': '4' } });
});

test('a file that the browser keeps parts of', async ({ site, resuming }) => {
  const page = await resuming();
  const bytes = 300_000;
  const headers = { ETag: '"v1"', 'Cache-Control': 'max-age=600' };
  const broken = { ...cut(bytes, 100_000), headers };
  const wire = site.plan([broken, broken, file(bytes, { headers })]);
  expect(await download(page, wire.path)).toMatchObject({ hash: sha256(generatedBytes(bytes)) });
  expect(ranges(wire)).toEqual([null, 'bytes=100000-', 'bytes=200000-']);
});

test('B136 undici-118 a whole of unknown length', async ({ site, resuming }) => {
  const page = await resuming();
  const rest: Step = { status: 206, body: 'o world', headers: { 'Content-Range': 'bytes 4-10/*' } };
  const wire = site.plan([
    { body: 'hello world', ranges: true, headers: { ETag: '"v1"' }, truncate: true, sentBytes: 4 },
    rest,
  ]);
  expect(await download(page, wire.path)).toMatchObject({ text: 'hello world' });
});

test('B146 an error in the middle of the series is no data, and it goes on', async ({ site, resuming }) => {
  const page = await resuming();
  const wire = site.plan([
    cut(100_000, 20_000),
    { status: 503, body: '{"error":"busy"}', retryAfter: 0 },
    file(100_000),
  ]);
  expect(await download(page, wire.path)).toMatchObject({ hash: sha256(generatedBytes(100_000)) });
  const [first, second] = begins(wire);
  expect(wire.hits()).toHaveLength(3);
  expect(first).toBeLessThanOrEqual(20_000);
  expect(second).toBe(first);
});

for (const { name, rest } of [
  {
    name: 'undici-115 another ETag',
    rest: { status: 206, body: 'x', headers: { 'Content-Range': 'bytes 5-9/10', ETag: '"v2"' } },
  },
  { name: 'undici-122 B146 the whole, which has changed', rest: file(10, { headers: { ETag: '"v2"' } }) },
  { name: 'B135 another beginning', rest: { status: 206, bytes: 8, headers: { 'Content-Range': 'bytes 2-9/10' } } },
  {
    name: 'B139 several parts',
    rest: { status: 206, bytes: 5, headers: { 'Content-Type': 'multipart/byteranges; boundary=x' } },
  },
  { name: 'undici-123 another length', rest: { status: 206, bytes: 2, headers: { 'Content-Range': 'bytes 5-9/10' } } },
  {
    name: 'B134 an encoded rest',
    rest: { status: 206, bytes: 5, headers: { 'Content-Range': 'bytes 5-9/10', 'Content-Encoding': 'x-own' } },
  },
  { name: 'B143 a 416 with a page', rest: { status: 416, body: '<html>', headers: { 'Content-Range': 'bytes */3' } } },
] satisfies { name: string; rest: Step }[]) {
  test(`${name}: the body breaks off, and nothing is glued on`, async ({ site, resuming }) => {
    const page = await resuming();
    const wire = site.plan([cut(10, 5), rest]);
    const seen = await download(page, wire.path);
    expect(seen).toMatchObject({
      status: 200,
      // An error may take with it what the page has not read yet.
      hash: sha256(generatedBytes(Math.min(seen.bytes, 5))),
      error: expect.stringMatching(/^TypeError/),
    });
    expect(ranges(wire)).toEqual([null, 'bytes=5-']);
    await expect
      .poll(() => told(page))
      .toMatchObject([{ type: 'retry-scheduled' }, { type: 'gave-up', reason: 'not-replayable' }]);
  });
}

test('B144 all of it was there: a 416 is a clean end', async ({ site, resuming, engine }) => {
  const page = await resuming();
  const whole = { bytes: 10, headers: { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Transfer-Encoding': 'chunked' } };
  const wire = site.plan([{ ...whole, truncate: true, sentBytes: 10 }, file(10)]);
  const seen = await download(page, wire.path);
  expect(seen).toMatchObject({ bytes: 10, length: null });
  expect(seen.error).toBeUndefined();
  // A body without a length that is cut off is a whole one for WebKit.
  expect(ranges(wire)).toEqual(engine === 'webkit' ? [null] : [null, 'bytes=10-']);
});

test('B134 an encoded body is left as it is', async ({ site, open, engine }) => {
  const page = await open('resume');
  const encoded = gzipSync(generatedBytes(200_000));
  const server = await ownServer((res) => {
    res.writeHead(200, {
      'Access-Control-Expose-Headers': 'ETag, Accept-Ranges, Content-Encoding',
      'Accept-Ranges': 'bytes',
      ETag: '"v1"',
      'Content-Encoding': 'gzip',
      'Content-Length': String(encoded.length),
    });
    res.write(encoded.subarray(0, encoded.length / 2));
    setTimeout(() => res.destroy(), 100);
  });
  const seen = await download(page, server.url);
  // WebKit takes what is closed in the middle for a whole one, and so does Firefox if it is encoded.
  if (engine === 'chromium') expect(seen.error).toMatch(/^TypeError/);
  expect(seen.bytes).toBeLessThan(200_000);
  expect(server.visits).toHaveLength(1);
  await server.close();
  const wire = site.plan([
    { bytes: 100, reset: 'body', headers: { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Content-Encoding': 'x-own' } },
    file(100),
  ]);
  expect((await download(page, wire.path)).error).toMatch(/^TypeError/);
  expect(wire.hits()).toHaveLength(1);
});

test('B139 B131 undici-117 a HEAD, several parts and a range of the page’s own pass through', async ({
  site,
  open,
}) => {
  const page = await open('resume');
  const head = site.plan([file(1_000)]);
  expect(await page.evaluate((path) => window.sf.get(path, { method: 'HEAD' }), head.path)).toMatchObject({
    status: 200,
    body: '',
  });
  const parts = site.plan([
    { status: 206, body: '--x--', headers: { 'Content-Type': 'multipart/byteranges; boundary=x' } },
  ]);
  const ask = (path: string, Range: string) =>
    page.evaluate(({ path, Range }) => window.sf.get(path, { headers: { Range } }), { path, Range });
  expect(await ask(parts.path, 'bytes=0-1,4-5')).toMatchObject({ status: 206, body: '--x--' });
  const own = site.plan([
    {
      status: 206,
      bytes: 100,
      reset: 'body',
      headers: { 'Content-Range': 'bytes 100-199/1000', ETag: '"v1"', 'Accept-Ranges': 'bytes' },
    },
  ]);
  expect(await ask(own.path, 'bytes=100-199')).toHaveProperty('error');
  expect([head.hits().length, parts.hits().length, own.hits().length]).toEqual([1, 1, 1]);
});

test('undici-120 undici-121 without a strong validator the body breaks off as ever', async ({ site, open }) => {
  const page = await open('resume');
  const wire = site.plan([file(100, { headers: { ETag: 'W/"v1"' }, reset: 'body' }), file(100)]);
  expect((await download(page, wire.path)).error).toMatch(/^TypeError/);
  expect(wire.hits()).toHaveLength(1);
});

test('another origin is asked without a preflight, if it shows the headers that matter', async ({
  resuming,
  engine,
}) => {
  const page = await resuming();
  const bytes = generatedBytes(200_000);
  const methods: (string | undefined)[] = [];
  const server = await ownServer(async (res, _n, { method, headers }) => {
    methods.push(method);
    const from = Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0);
    const range = headers.range === undefined ? {} : { 'Content-Range': `bytes ${from}-199999/200000` };
    res.writeHead(headers.range === undefined ? 200 : 206, {
      'Access-Control-Expose-Headers': 'ETag, Accept-Ranges, Content-Range',
      'Accept-Ranges': 'bytes',
      ETag: '"v1"',
      'Content-Length': String(bytes.length - from),
      ...range,
    });
    if (headers.range !== undefined) return void res.end(bytes.subarray(from));
    res.write(bytes.subarray(0, 50_000));
    setTimeout(() => res.destroy(), 100);
  });
  // Its length is not to be relied on, as it may be that of encoded bytes; and WebKit says of no body that it was cut off.
  const end = engine === 'webkit' ? 50_000 : 200_000;
  expect(await download(page, server.url)).toMatchObject({ bytes: end, hash: sha256(bytes.subarray(0, end)) });
  expect(methods).toEqual(engine === 'webkit' ? ['GET'] : ['GET', 'GET']);
  await server.close();
});

test('B142 undici-124 a slow reader gets on after a break', async ({ site, resuming }) => {
  const page = await resuming();
  const bytes = 5 * MIB;
  const wire = site.plan([cut(bytes, MIB), file(bytes)]);
  const seen = await download(page, wire.path, { chunkPauseMs: 15 });
  expect(seen).toMatchObject({ bytes, hash: sha256(generatedBytes(bytes)) });
  expect(seen.longestMs).toBeLessThan(2_000);
});

test('a reader that pauses stops its server', async ({ open, engine }) => {
  const page = await open('resume');
  // Firefox and WebKit read on, whoever pauses: there is an end to it.
  const total = (engine === 'chromium' ? 256 : 64) * MIB;
  let written = 0;
  const server = await ownServer((res) => {
    res.writeHead(200, {
      'Access-Control-Expose-Headers': 'ETag, Accept-Ranges',
      'Accept-Ranges': 'bytes',
      ETag: '"v1"',
      'Content-Length': String(total),
    });
    const chunk = generatedBytes(64 * 1024);
    const pour = (): void => {
      while (written < total) {
        written += chunk.length;
        if (!res.write(chunk)) return void res.once('drain', pour);
      }
    };
    pour();
  });
  await page.evaluate(async (url) => {
    const reader = ((await fetch(url)).body as ReadableStream).getReader();
    await reader.read();
    Object.assign(window, { reader });
  }, server.url);
  // It has come to rest when nothing more was taken for half a second.
  let before = -1;
  while (before !== written) {
    before = written;
    await page.waitForTimeout(500);
  }
  if (engine === 'chromium') expect(written).toBeLessThan(32 * MIB);
  else expect(written).toBe(total);
  // And a page that reads no further lets go of the connection.
  await page.evaluate(() => (window as unknown as { reader: ReadableStreamDefaultReader }).reader.cancel());
  await expect.poll(() => server.visits[0]?.closedAt).toBeDefined();
  await server.close();
});

test('a worker that is killed in the middle: never a clean end', async ({ site, resuming, context }) => {
  needs(context, 'stop-worker');
  const page = await resuming();
  const wire = site.plan([cut(MIB, 100_000), file(MIB, { stall: 'body', sentBytes: 100_000 })]);
  const seen = download(page, wire.path);
  await expect.poll(() => wire.hits().length).toBe(2);
  await stopWorker(page);
  expect((await seen).error).toMatch(/^TypeError/);
});

test('a page that calls off during the wait: nothing is sent', async ({ site, resuming }) => {
  const page = await resuming();
  const wire = site.plan([cut(MIB, 100_000), { status: 503, retryAfter: 1 }]);
  const error = await page.evaluate(async (path) => {
    const controller = new AbortController();
    const response = await fetch(path, { signal: controller.signal });
    window.sf.retries?.on('retry-scheduled', ({ status }) => {
      if (status === 503) controller.abort();
    });
    return response.arrayBuffer().then(
      () => undefined,
      (problem: Error) => problem.name,
    );
  }, wire.path);
  expect(error).toBe('AbortError');
  await page.waitForTimeout(1_500);
  expect(wire.hits()).toHaveLength(2);
});

test.describe('in the page itself', () => {
  for (const worker of [undefined, 'resume']) {
    test(worker ? 'beside a worker that is left out' : 'without a worker', async ({ site, open, page: plain }) => {
      const page = worker ? await open(worker) : plain;
      if (!worker) await plain.goto(site.url);
      const body = Array.from({ length: 30_000 }, (_, index) => index).join(' ');
      const whole: Step = { body, ranges: true, headers: { ETag: '"v1"' } };
      const broken: Step = { ...whole, truncate: true, sentBytes: 50_000 };
      const wire = site.plan([broken, broken, whole]);
      const seen = await page.evaluate(
        async ({ path, module }) => (await import(module)).get(path, { retry: { resume: true } }),
        { path: wire.path, module: '/fetching.ts' },
      );
      expect(seen).toMatchObject({ status: 200, body, url: site.url + wire.path, type: 'basic' });
      const [first = 0, second = 0] = begins(wire);
      expect(wire.hits()).toHaveLength(3);
      expect(first).toBeLessThanOrEqual(50_000);
      expect(second - first).toBeLessThanOrEqual(50_000);
    });
  }
});

test.describe('holdBody', () => {
  const JSON_BODY = JSON.stringify({ items: Array.from({ length: 100 }, (_, index) => index) });

  test('a JSON that is cut short is asked for again', async ({ site, open }) => {
    const page = await open('resume');
    const wire = site.plan([
      { body: JSON_BODY, reset: 'body' },
      { body: JSON_BODY, truncate: true },
      { body: JSON_BODY, headers: { 'X-Own': '1' } },
    ]);
    const seen = await page.evaluate((path) => window.sf.get(path), `${wire.path}?held`);
    expect(seen).toMatchObject({
      status: 200,
      body: JSON_BODY,
      url: `${site.url}${wire.path}?held`,
      headers: { 'x-own': '1' },
    });
    expect(wire.hits()).toHaveLength(3);
    await expect
      .poll(() => told(page))
      .toMatchObject([
        { type: 'retry-scheduled', cause: 'network-error' },
        { type: 'retry-scheduled', cause: 'network-error' },
        { type: 'recovered', attempts: 3 },
      ]);
  });

  test('a stream goes through as it comes', async ({ site, open }) => {
    const page = await open('resume');
    const endless = site.plan([{ endless: true }]);
    const large = site.plan([{ bytes: 20_000, stall: 'body' }]);
    for (const { path } of [endless, large]) {
      const status = await page.evaluate(async (path) => {
        const controller = new AbortController();
        const response = await fetch(path, { signal: controller.signal });
        await response.body?.getReader().read();
        controller.abort();
        return response.status;
      }, `${path}?held`);
      expect(status).toBe(200);
    }
  });

  test('B139 a HEAD with a length has no body to wait for, nor has a 204', async ({ site, open }) => {
    const page = await open('resume');
    const wire = site.plan([{ bytes: 1_000 }, { status: 204 }]);
    expect(await page.evaluate((path) => window.sf.get(path, { method: 'HEAD' }), `${wire.path}?held`)).toMatchObject({
      status: 200,
    });
    expect(await page.evaluate((path) => window.sf.get(path), `${wire.path}?held`)).toMatchObject({ status: 204 });
    expect(wire.hits()).toHaveLength(2);
  });
});
