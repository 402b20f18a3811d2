import { expect, expectStatus, header, test } from '../support/browser.ts';
import { type OwnServer, ownServer, pieces } from '../support/own-server.ts';

// What must come through the worker as it is: redirects, streams, partial answers, and what is not its business at all.

const BUSY = { status: 503, body: 'busy' };
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
const servers: OwnServer[] = [];
const serve = async (...args: Parameters<typeof ownServer>) => {
  const server = await ownServer(...args);
  servers.push(server);
  return server;
};

test.afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

test('B121 a document that is redirected ends at the other URL, with a 503 before it and one there', async ({
  site,
  open,
}) => {
  const page = await open('navigation');
  const html = '<!doctype html><a id="link" href="./next">next</a>';
  const target = site.plan([BUSY, { headers: { 'content-type': 'text/html' }, body: html }]);
  const wire = site.plan([BUSY, { redirect: `${target.path}/new/` }]);
  const response = await page.goto(`${site.url}${wire.path}/old`);
  expectStatus(page, response, 200);
  expect(page.url()).toBe(`${site.url}${target.path}/new/`);
  expect([wire.hits().length, target.hits().length]).toEqual([2, 2]);
  const next = await page.evaluate(() => document.querySelector('a')?.href);
  expect(next).toBe(`${site.url}${target.path}/new/next`);
});

test('B122 a redirect that the page wants to see is one, and asked for once', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([{ redirect: '/elsewhere' }]);
  const seen = await page.evaluate((path) => window.sf.get(path, { redirect: 'manual' }), wire.path);
  expect(seen).toMatchObject({ status: 0, type: 'opaqueredirect' });
  expect(wire.hits()).toHaveLength(1);
});

test('B125 a style sheet that is redirected after a retry finds its images where it is', async ({ site, open }) => {
  const page = await open('quick');
  const target = site.plan([
    { headers: { 'content-type': 'text/css' }, body: 'body { background-image: url(./i.png) }' },
    { headers: { 'content-type': 'image/svg+xml' }, body: SVG },
  ]);
  const wire = site.plan([BUSY, { redirect: `${target.path}/s/a.css` }]);
  await page.evaluate((href) => {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href }));
  }, `${wire.path}/a.css`);
  await expect
    .poll(() => target.hits().map(({ url }) => url))
    .toEqual([`${target.path}/s/a.css`, `${target.path}/s/i.png`]);
  expect(wire.hits()).toHaveLength(2);
});

test('B125 the answer of a fetch that is redirected after a retry says from where it came', async ({ site, open }) => {
  const page = await open('quick');
  const target = site.plan([{ body: 'there' }]);
  const wire = site.plan([BUSY, { redirect: target.path }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'there', url: site.url + target.path, redirected: true });
});

test('B126 an event stream comes event by event, and only the browser connects again', async ({ open }) => {
  // Attempts of this worker are overdue after 500 ms.
  const page = await open('timing');
  const stream = await serve(async (res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.flushHeaders();
    const text = (n: number) => `retry: 200\ndata: ${n}\n\n`;
    await pieces(
      res,
      [1, 2, 3].map((n) => ({ afterMs: n === 1 ? 1 : 300, text: text(n) })),
    );
    setTimeout(() => res.end(), 900);
  });
  const events = await page.evaluate(
    (url) =>
      new Promise<{ data: string; at: number }[]>((resolve) => {
        const heard: { data: string; at: number }[] = [];
        const source = new EventSource(url);
        source.onmessage = ({ data }) => {
          heard.push({ data, at: performance.now() });
          if (heard.length < 4) return;
          source.close();
          resolve(heard);
        };
      }),
    stream.url,
  );
  expect(events.map(({ data }) => data)).toEqual(['1', '2', '3', '1']);
  const [first, second, third, again] = events.map(({ at }) => at);
  for (const [from = 0, to = 0] of [
    [first, second],
    [second, third],
  ]) {
    // What is held back until the stream ends comes all at once.
    expect(to - from).toBeGreaterThan(100);
  }
  expect((again ?? 0) - (third ?? 0)).toBeGreaterThan(900);
  expect(stream.visits).toHaveLength(2);
  expect(await page.evaluate(() => window.sf.told)).toEqual([]);
});

test('B126 so does one that is fetched, also where the page would take something else', async ({ open }) => {
  const page = await open('timing');
  const stream = await serve(async (res) => {
    // Its first word comes when an ordinary attempt is long overdue.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    await pieces(
      res,
      [1, 2, 3].map((n) => ({ afterMs: 300, text: `data: ${n}\n\n` })),
    );
    res.end();
  });
  const seen = await page.evaluate(
    (url) => window.sf.get(url, { headers: { Accept: 'application/json;q=0.5, text/event-stream' } }),
    stream.url,
  );
  expect(seen).toMatchObject({ status: 200, body: 'data: 1\n\ndata: 2\n\ndata: 3\n\n' });
  expect(stream.visits).toHaveLength(1);
});

test('B128 an upload that is left alone shows its progress, and is sent once', async ({ site, open }) => {
  const page = await open('navigation');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  const answered = page.waitForResponse(`${site.url}${wire.path}?off`);
  const seen = await page.evaluate(
    (url) =>
      new Promise<{ status: number; progress: number[] }>((resolve) => {
        const progress: number[] = [];
        const xhr = new XMLHttpRequest();
        xhr.upload.onprogress = ({ loaded }) => progress.push(loaded);
        xhr.onloadend = () => resolve({ status: xhr.status, progress });
        xhr.open('PUT', url);
        xhr.send(new Uint8Array(2 * 1_048_576));
      }),
    `${wire.path}?off`,
  );
  expect((await answered).fromServiceWorker()).toBe(false);
  expect(seen.status).toBe(503);
  expect(seen.progress.at(-1)).toBe(2 * 1_048_576);
  expect(wire.hits().map(({ body }) => body.length)).toEqual([2 * 1_048_576]);
});

for (const { how, marker, steps, hits } of [
  { how: 'slow', marker: 'overdue-600', steps: [{ delayMs: 1_500, body: 'fine' }], hits: 1 },
  { how: 'slow where reads are hedged', marker: 'hedged', steps: [{ delayMs: 800, body: 'fine' }], hits: 1 },
  { how: 'answered with 503', marker: 'base-100', steps: [BUSY, { body: 'fine' }], hits: 2 },
  { how: 'cut off', marker: 'base-100', steps: [{ reset: 'headers' as const }, { body: 'fine' }], hits: 2 },
]) {
  test(`B129 a keepalive request of 40,000 bytes is never under way twice: ${how}`, async ({ site, open, engine }) => {
    const page = await open('faults');
    const wire = site.plan(steps);
    // A browser refuses a second of them at the same time: together they are more than 64 KiB.
    const init = { method: 'POST', keepalive: true, body: 'x'.repeat(40_000), headers: { 'Idempotency-Key': 'k' } };
    const seen = await page.evaluate(({ url, init }) => window.sf.get(url, init), {
      url: `${wire.path}?${marker}`,
      init,
    });
    // Firefox shows no worker what is to be kept alive: what comes is the first answer.
    if (engine === 'firefox' && hits > 1)
      expect([503, undefined]).toContain('status' in seen ? seen.status : undefined);
    else expect(seen).toMatchObject({ status: 200, body: 'fine' });
    const sent = wire.hits();
    expect(sent).toHaveLength(engine === 'firefox' ? 1 : hits);
    for (const [index, hit] of sent.entries()) {
      expect(sent[index - 1]?.closedAt ?? 0).toBeLessThanOrEqual(hit.at);
      // What is cut off is cut off wherever its body is.
      if (!('reset' in (steps[index] ?? {}))) expect(hit.body.length).toBe(40_000);
    }
  });
}

const PART = {
  status: 206,
  bytes: 100,
  headers: { 'content-range': 'bytes 100-199/1000', 'accept-ranges': 'bytes', etag: '"a"' },
};

for (const [name, steps] of [
  ['at once', [PART]],
  ['after a retry', [BUSY, PART]],
] as const) {
  test(`B131 the part of a file that the page has asked for is that part, ${name}`, async ({ site, open }) => {
    const page = await open('quick');
    const wire = site.plan(steps);
    const seen = await page.evaluate(async (path) => {
      const response = await fetch(path, { headers: { Range: 'bytes=100-199' } });
      const bytes = (await response.arrayBuffer()).byteLength;
      return { status: response.status, bytes, range: response.headers.get('Content-Range') };
    }, wire.path);
    expect(seen).toEqual({ status: 206, bytes: 100, range: 'bytes 100-199/1000' });
    expect(wire.hits().map((hit) => header(hit, 'range'))).toEqual(steps.map(() => 'bytes=100-199'));
  });
}

test('B131 a part that is cut off is left to the page: nothing is asked for again', async ({ site, open, engine }) => {
  const page = await open('quick');
  const wire = site.plan([{ ...PART, truncate: true }, PART]);
  const seen = await page.evaluate(async (path) => {
    const response = await fetch(path, { headers: { Range: 'bytes=100-199' } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let bytes = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { bytes, ended: 'whole' };
        bytes += value.byteLength;
      }
    } catch (error) {
      return { bytes, ended: String(error) };
    }
  }, wire.path);
  // WebKitGTK takes a body that is cut off for a whole one, with a worker or without.
  expect(seen.ended).toContain(engine === 'webkit' ? 'whole' : 'TypeError');
  // An error may take with it what the page has not read yet.
  expect(seen.bytes).toBeLessThanOrEqual(50);
  expect(wire.hits()).toHaveLength(1);
});

test('B131 a part that a video asks for is not the worker’s business', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([{ ...PART, headers: { ...PART.headers, 'content-type': 'video/mp4' } }]);
  const answered = page.waitForResponse(site.url + wire.path);
  await page.evaluate((src) => {
    document.body.append(Object.assign(document.createElement('video'), { src, preload: 'auto' }));
  }, wire.path);
  expect((await answered).fromServiceWorker()).toBe(false);
});

test('B139 a HEAD that says how long the body would be, and an answer in several parts, are whole as they are', async ({
  site,
  open,
}) => {
  const page = await open('quick');
  const head = site.plan([{ contentLength: 1_000 }]);
  const seen = await page.evaluate((path) => window.sf.get(path, { method: 'HEAD' }), head.path);
  expect(seen).toMatchObject({ status: 200, body: '', headers: { 'content-length': '1000' } });
  const part = (range: string, text: string) => `--cut\r\nContent-Range: bytes ${range}/10\r\n\r\n${text}\r\n`;
  const body = `${part('0-1', '01')}${part('8-9', '89')}--cut--\r\n`;
  const headers = { 'content-type': 'multipart/byteranges; boundary=cut' };
  const parts = site.plan([{ status: 206, headers, body }]);
  const init = { headers: { Range: 'bytes=0-1,8-9' } };
  const both = await page.evaluate(({ path, init }) => window.sf.get(path, init), { path: parts.path, init });
  expect(both).toMatchObject({ status: 206, body });
  expect([head.hits().length, parts.hits().length]).toEqual([1, 1]);
});
