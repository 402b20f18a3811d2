import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { expect, header, NETWORK_ERROR, test, type Wire } from '../support/browser.ts';

// What people reported of other layers, against a real server that does it.

const get = (page: Page, wire: Wire, marker = '', init: RequestInit = {}) =>
  page.evaluate(
    async ({ url, init }) => {
      const startedAt = performance.now();
      const seen = await window.sf.get(url, init);
      return { seen, tookMs: performance.now() - startedAt };
    },
    { url: `${wire.path}?${marker}`, init },
  );

/** Between one hit and the next, at the server. */
const gapsOf = (wire: Wire): number[] =>
  wire.hits().flatMap(({ at }, n, all) => (n === 0 ? [] : at - (all[n - 1]?.at ?? 0)));

/** A timer may fire a little early by the server’s clock. */
const EARLY_MS = 5;

const imf = (inMs: number): string => new Date(Date.now() + inMs).toUTCString();

test('B001 a date 3 s ahead is 3 s, not none', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: { imf: 3_000 } }, { body: 'fine' }]);
  expect((await get(page, wire)).seen).toMatchObject({ status: 200, body: 'fine' });
  const [gap = 0] = gapsOf(wire);
  expect(gap).toBeGreaterThanOrEqual(2_000 - EARLY_MS);
  expect(gap).toBeLessThanOrEqual(4_500);
});

test('B003 a Retry-After that is none leaves the ordinary backoff', async ({ site, open }) => {
  const page = await open('faults');
  const soon = { status: 429, retryAfter: 'soon' };
  const wire = site.plan([soon, soon, soon, { body: 'fine' }]);
  expect((await get(page, wire)).seen).toMatchObject({ status: 200, body: 'fine' });
  expect(gapsOf(wire)).toHaveLength(3);
  for (const gap of gapsOf(wire)) expect(gap).toBeGreaterThanOrEqual(300 - EARLY_MS);
});

test('B004 Retry-After: 0 is now, not absent', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: 0 }, { body: 'fine' }]);
  expect((await get(page, wire, 'base-2000')).seen).toMatchObject({ status: 200, body: 'fine' });
  expect(gapsOf(wire)[0]).toBeLessThan(1_500);
});

test('B005 a date an hour ago leaves the ordinary backoff, and the number of attempts', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: { imf: -3_600_000 } }]);
  expect((await get(page, wire)).seen).toMatchObject({ status: 503 });
  expect(gapsOf(wire)).toHaveLength(3);
  for (const gap of gapsOf(wire)) expect(gap).toBeGreaterThanOrEqual(300 - EARLY_MS);
});

test('B007 no attempt is spent before the date that the server named', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: { imf: 4_000 } }, { body: 'fine' }]);
  expect((await get(page, wire, 'base-100')).seen).toMatchObject({ status: 200, body: 'fine' });
  const [gap = 0] = gapsOf(wire);
  expect(wire.hits()).toHaveLength(2);
  expect(gap).toBeGreaterThanOrEqual(3_000 - EARLY_MS);
});

for (const [name, offMs] of [
  ['ahead', 3_600_000],
  ['behind', -3_600_000],
] as const) {
  test(`B010 a server whose clock is an hour ${name}: 3 s are 3 s`, async ({ site, open }) => {
    const page = await open('faults');
    const headers = { date: imf(offMs), 'retry-after': imf(offMs + 3_000) };
    const wire = site.plan([{ status: 503, headers }, { body: 'fine' }]);
    expect((await get(page, wire)).seen).toMatchObject({ status: 200, body: 'fine' });
    const [gap = 0] = gapsOf(wire);
    expect(gap).toBeGreaterThanOrEqual(3_000 - EARLY_MS);
    expect(gap).toBeLessThan(5_500);
  });
}

test('B010 a Date that lay in a cache is no clock: the wait is too long, and the answer comes at once', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const headers = { date: imf(3_600_000), 'retry-after': imf(3_603_000), age: '7200' };
  const wire = site.plan([{ status: 503, headers, body: 'busy' }]);
  const { seen, tookMs } = await get(page, wire);
  expect(seen).toMatchObject({ status: 503, body: 'busy' });
  expect(tookMs).toBeLessThan(2_000);
  expect(wire.hits()).toHaveLength(1);
});

test('B011 another origin’s header that scripts may not see leaves the ordinary backoff, one they may see counts', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const busy = { status: 429, retryAfter: 3 };
  const hidden = site.plan([busy, busy, { body: 'fine' }]);
  const exposed = site.plan([busy, { body: 'fine' }]);
  const seen = await page.evaluate(
    (urls) => Promise.all(urls.map((url) => window.sf.get(url))),
    [site.secondOrigin + hidden.path, `${site.secondOrigin}${exposed.path}?expose=1`],
  );
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine', type: 'cors' });
  expect(gapsOf(hidden)).toHaveLength(2);
  for (const gap of gapsOf(hidden)) {
    expect(gap).toBeGreaterThanOrEqual(300 - EARLY_MS);
    expect(gap).toBeLessThan(2_000);
  }
  expect(gapsOf(exposed)[0]).toBeGreaterThanOrEqual(3_000 - EARLY_MS);
});

test('B012 30 days are not at once: one hit in 5 s', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: 2_592_000 }]);
  expect((await get(page, wire)).seen).toMatchObject({ status: 503 });
  await page.waitForTimeout(5_000);
  expect(wire.hits()).toHaveLength(1);
});

test('B013 a wait of hours hangs nobody: the answer with its body, and one event that says why', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 429, retryAfter: 10_800, body: 'quota' }]);
  const { seen, tookMs } = await get(page, wire, 'most-2000');
  expect(seen).toMatchObject({ status: 429, body: 'quota' });
  expect(tookMs).toBeLessThan(2_000);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([{ type: 'gave-up', reason: 'retry-after', lastStatus: 429 }]);
});

test('B015 a route that ignores Retry-After ignores it', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503, retryAfter: 5 }, { body: 'fine' }]);
  expect((await get(page, wire, 'own-time')).seen).toMatchObject({ status: 200, body: 'fine' });
  const [gap = 0] = gapsOf(wire);
  expect(gap).toBeGreaterThanOrEqual(200 - EARLY_MS);
  expect(gap).toBeLessThan(2_500);
});

test('B021 the waits of two requests at once grow, each by itself', async ({ site, open }) => {
  const page = await open('faults');
  const busy = { status: 503 };
  const wires = [site.plan([busy, busy, busy, {}]), site.plan([busy, busy, busy, {}])];
  await Promise.all(wires.map((wire) => get(page, wire, 'growing')));
  for (const wire of wires) {
    const gaps = gapsOf(wire);
    expect(gaps).toHaveLength(3);
    for (const [n, ms] of [300, 600, 1_200].entries()) {
      expect(gaps[n]).toBeGreaterThanOrEqual(ms - EARLY_MS);
      expect(gaps[n]).toBeLessThan(ms + 600);
    }
  }
});

test('B022 two retries are two, and none comes early', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503 }]);
  await get(page, wire, 'base-500');
  expect(gapsOf(wire)).toHaveLength(2);
  for (const gap of gapsOf(wire)) expect(gap).toBeGreaterThanOrEqual(500 - EARLY_MS);
});

test('B023 each attempt has its whole time', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([
    { stall: 'headers', stallMs: 20_000 },
    { delayMs: 450, body: 'fine' },
  ]);
  const { seen, tookMs } = await get(page, wire, 'overdue-600');
  expect(seen).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
  expect(tookMs).toBeGreaterThanOrEqual(600 + 100 + 450 - EARLY_MS);
  expect(tookMs).toBeLessThan(3_000);
});

test('B025 a body is the same, and as long, on every hit', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503 }, { status: 503 }, { status: 200 }]);
  const body = JSON.stringify({ text: 'x'.repeat(289) });
  await get(page, wire, '', { method: 'PUT', body });
  expect(wire.hits().map((hit) => [hit.body.toString(), header(hit, 'content-length')])).toEqual(
    Array(3).fill([body, '300']),
  );
});

test('B029 the length of a text is that of its bytes', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 500 }, { status: 200 }]);
  const body = 'größer 漢字 🚀';
  const { seen } = await get(page, wire, 'and-500', { method: 'PUT', body });
  expect(seen).toMatchObject({ status: 200 });
  expect(wire.hits().map((hit) => [hit.body.toString(), Number(header(hit, 'content-length'))])).toEqual(
    Array(2).fill([body, Buffer.byteLength(body)]),
  );
});

for (const [name, bytes] of [
  ['B030 a form keeps its boundary and its parts', Uint8Array.of(1, 2, 3, 4, 5, 6)],
  ['B031 a file keeps every byte value', Uint8Array.from({ length: 256_000 }, (_, index) => index % 256)],
] as const) {
  test(name, async ({ site, open }) => {
    const page = await open('faults');
    const wire = site.plan([{ status: 503 }, { status: 200 }]);
    await page.evaluate(
      ({ path, length }) => {
        const bytes = Uint8Array.from({ length }, (_, index) => (length === 6 ? index + 1 : index % 256));
        const body = new FormData();
        body.set('text', 'é');
        body.set('file', new File([bytes], 'file.bin'));
        return window.sf.get(path, { method: 'PUT', body });
      },
      { path: wire.path, length: bytes.length },
    );
    expect(wire.hits()).toHaveLength(2);
    for (const hit of wire.hits()) {
      const headers = { 'content-type': header(hit, 'content-type') ?? '' };
      const form = await new Response(new Uint8Array(hit.body), { headers }).formData();
      expect([...form.keys()]).toEqual(['text', 'file']);
      expect(form.get('text')).toBe('é');
      const file = Buffer.from(await (form.get('file') as File).arrayBuffer());
      const sha256 = (of: Uint8Array) => createHash('sha256').update(of).digest('hex');
      expect(sha256(file)).toBe(sha256(bytes));
    }
  });
}

test('B036 one key for all attempts of a request, another for the next request', async ({ site, open }) => {
  const page = await open('faults');
  const wires = [1, 2].map(() => site.plan([{ reset: 'headers' }, { status: 503 }, { status: 200 }]));
  for (const [n, wire] of wires.entries()) {
    const headers = { 'Idempotency-Key': `key-${n}` };
    const { seen } = await get(page, wire, '', { method: 'POST', body: 'order', headers });
    expect(seen).toMatchObject({ status: 200 });
  }
  expect(wires.map((wire) => wire.hits().map((hit) => header(hit, 'idempotency-key')))).toEqual([
    ['key-0', 'key-0', 'key-0'],
    ['key-1', 'key-1', 'key-1'],
  ]);
});

for (const method of ['POST', 'PATCH', 'DELETE']) {
  test(`B048 a route for GET only: ${method} is sent once`, async ({ site, open }) => {
    const page = await open('faults');
    const wire = site.plan([{ status: 503, body: 'busy' }]);
    expect((await get(page, wire, 'get-only', { method })).seen).toMatchObject({ status: 503, body: 'busy' });
    expect(wire.hits()).toHaveLength(1);
  });
}

test('B051 ten requests to one path at once have one retry each', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([...Array.from({ length: 10 }, () => ({ status: 503 })), { body: 'fine' }]);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => get(page, wire, `one-retry&n=${n}`)));
  expect(answers.map(({ seen }) => seen)).toEqual(Array(10).fill(expect.objectContaining({ status: 200 })));
  const asked = wire.hits().map(({ url }) => /n=(\d)/.exec(url)?.[1]);
  expect(asked.toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => String(Math.floor(n / 2))));
  const numbers = async () =>
    (await page.evaluate(() => window.sf.told)).map((event) =>
      event.type === 'retry-scheduled' ? event.attempt : event.type === 'recovered' ? event.attempts : event.type,
    );
  await expect.poll(async () => (await numbers()).toSorted()).toEqual([...Array(10).fill(1), ...Array(10).fill(2)]);
});

test('B054 after giving up the page has an answer or an error, in time', async ({ site, open }) => {
  const page = await open('faults');
  const wire = site.plan([{ status: 503 }, { status: 503 }, { status: 503, body: 'last' }]);
  const { seen, tookMs } = await get(page, wire, 'base-500');
  expect(seen).toMatchObject({ status: 503, body: 'last' });
  // Two waits of 500 ms, and a second.
  expect(tookMs).toBeGreaterThanOrEqual(1_000 - EARLY_MS);
  expect(tookMs).toBeLessThan(2_000);
  // Nobody listens where somebody has just listened.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const refused = await page.evaluate(async (url) => {
    const startedAt = performance.now();
    return { seen: await window.sf.get(url), tookMs: performance.now() - startedAt };
  }, `http://localhost:${port}/?base-500`);
  expect(refused.seen).toEqual({ error: NETWORK_ERROR });
  expect(refused.tookMs).toBeGreaterThanOrEqual(1_000 - EARLY_MS);
  expect(refused.tookMs).toBeLessThan(2_000);
});

test('B056 answers that never end hold no connection: all nine attempts arrive, others are not kept waiting', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const wire = site.plan([...Array.from({ length: 8 }, () => ({ status: 503, endless: true })), { body: 'ninth' }]);
  const other = site.plan([{ body: 'fine' }]);
  const [nine, one] = await Promise.all([get(page, wire, 'nine'), get(page, other)]);
  expect(nine.seen).toMatchObject({ status: 200, body: 'ninth' });
  expect(wire.hits()).toHaveLength(9);
  expect(one.seen).toMatchObject({ status: 200, body: 'fine' });
  expect(one.tookMs).toBeLessThan(3_000);
});

test('B086 no budget is no reason to end what is under way: no hedge, and the answer of the first', async ({
  site,
  open,
}) => {
  const page = await open('spent');
  const wire = site.plan([{ delayMs: 1_000, body: 'slow' }]);
  expect((await get(page, wire)).seen).toMatchObject({ status: 200, body: 'slow' });
  expect(wire.hits()).toHaveLength(1);
});

test('B090 a 429 that a hedge outran is not forgotten: the next request waits as long as it said', async ({
  site,
  open,
}) => {
  const page = await open('faults');
  const wire = site.plan([
    { delayMs: 500, status: 429, retryAfter: 3 },
    { delayMs: 700, body: 'fine' },
  ]);
  expect((await get(page, wire, 'hedged')).seen).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
  await expect
    .poll(() => page.evaluate(() => window.sf.events.map(({ type }) => type)))
    .toEqual(['hedge-launched', 'hold-started', 'recovered']);
  await get(page, wire, 'hedged');
  expect((wire.hits()[2]?.at ?? 0) - (wire.hits()[0]?.at ?? 0)).toBeGreaterThanOrEqual(3_500 - EARLY_MS);
});
