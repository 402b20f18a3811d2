import { expect, header, test } from '../support/browser.ts';

test('an endpoint that takes 12 s to its headers answers itself, with all defaults', async ({ site, open }) => {
  test.setTimeout(60_000);
  const page = await open();
  const wire = site.plan([
    { delayMs: 12_000, body: 'slow' },
    { stall: 'headers', stallMs: 20_000 },
  ]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 200, body: 'slow' });
});

test('a slow PUT is never sent twice', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ delayMs: 2_000, body: 'done' }]);
  const seen = await page.evaluate((path) => window.sf.get(path, { method: 'PUT', body: 'x' }), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'done' });
  expect(wire.hits()).toHaveLength(1);
});

test('a PUT that is overdue is cut off before the next, where the route says so', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ stall: 'headers', stallMs: 20_000 }, { body: 'done' }]);
  const seen = await page.evaluate((path) => window.sf.get(`${path}?cut`, { method: 'PUT', body: 'x' }), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'done' });
  const [first, second] = wire.hits();
  expect(first?.closedAt ?? Number.POSITIVE_INFINITY).toBeLessThan((second?.at ?? 0) + 500);
  expect([first, second].map((hit) => [hit?.body.toString(), header(hit, 'referer')])).toEqual([
    ['x', `${site.url}/`],
    ['x', `${site.url}/`],
  ]);
});

test('a GET that is overdue is cut off, and the next does not wait behind it in the cache', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ stall: 'headers', stallMs: 20_000 }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(`${path}?cut`), wire.path)).toMatchObject({ body: 'fine' });
  const [first, second] = wire.hits();
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2_000);
  expect(first?.closedAt ?? Number.POSITIVE_INFINITY).toBeLessThan((second?.at ?? 0) + 500);
});

test('six stalled requests do not starve another of their origin', async ({ site, open }) => {
  const page = await open('timing');
  const stalled = Array.from({ length: 6 }, () => site.plan([{ stall: 'headers', stallMs: 20_000 }, { body: 'late' }]));
  const other = site.plan([{ body: 'fine' }]);
  const seen = await page.evaluate(
    async ({ paths, path }) => {
      // Their connections are the page's own as well: what it gives up is called off.
      const answers = paths.map((one) => window.sf.get(`${one}?cut`));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const startedAt = performance.now();
      const seen = await window.sf.get(path);
      const tookMs = performance.now() - startedAt;
      return { seen, tookMs, all: await Promise.all(answers) };
    },
    { paths: stalled.map(({ path }) => path), path: other.path },
  );
  expect(seen.seen).toMatchObject({ status: 200, body: 'fine' });
  expect(seen.tookMs).toBeLessThan(5_000);
  for (const answer of seen.all) expect(answer).toMatchObject({ status: 200, body: 'late' });
});

test('hardTotal ends a request at its deadline', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ stall: 'headers', stallMs: 20_000 }]);
  const { seen, tookMs } = await page.evaluate(async (path) => {
    const startedAt = performance.now();
    const seen = await window.sf.get(`${path}?hard`);
    return { seen, tookMs: performance.now() - startedAt };
  }, wire.path);
  expect(seen).toHaveProperty('error');
  expect(tookMs).toBeGreaterThanOrEqual(1_490);
  expect(tookMs).toBeLessThan(4_000);
  await expect
    .poll(() => page.evaluate(() => window.sf.told.at(-1)))
    .toMatchObject({ type: 'gave-up', reason: 'deadline' });
});

test('hardTotal gives the page the last answer, if there was one', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([
    { status: 503, body: 'busy' },
    { stall: 'headers', stallMs: 20_000 },
  ]);
  const seen = await page.evaluate((path) => window.sf.get(`${path}?hard`), wire.path);
  expect(seen).toMatchObject({ status: 503, body: 'busy' });
});

test('a classifier sees the body, and the page still has it', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ body: '{"transient":true}' }, { body: '{"transient":false}' }]);
  const seen = await page.evaluate((path) => window.sf.get(`${path}?judge`), wire.path);
  expect(seen).toMatchObject({ status: 200, body: '{"transient":false}' });
  expect(wire.hits()).toHaveLength(2);
  const marked = site.plan([{ status: 500, body: 'for good' }]);
  const final = await page.evaluate((path) => window.sf.get(`${path}?judge`), marked.path);
  expect(final).toMatchObject({ status: 500, body: 'for good' });
  expect(marked.hits()).toHaveLength(1);
});

test('Retry-Attempt counts retries, and changes nothing else that the page has set', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ status: 503 }, { status: 503 }, { body: 'fine' }]);
  await page.evaluate((path) => window.sf.get(`${path}?told`, { headers: { 'X-A': '1' } }), wire.path);
  expect(wire.hits().map((hit) => [header(hit, 'retry-attempt'), header(hit, 'x-a'), header(hit, 'referer')])).toEqual([
    [null, '1', `${site.url}/`],
    ['1', '1', `${site.url}/`],
    ['2', '1', `${site.url}/`],
  ]);
});

test('a hedge reaches the server while the first attempt is slow, in the default cache mode', async ({
  site,
  open,
}) => {
  const page = await open('timing');
  const wire = site.plan([{ delayMs: 3_000, body: 'slow' }, { body: 'fast' }]);
  const seen = await page.evaluate((path) => window.sf.get(`${path}?plain-hedge`), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'fast' });
  const [first, second] = wire.hits();
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2_000);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([
      { type: 'hedge-launched', attempt: 2 },
      { type: 'recovered', attempts: 2 },
    ]);
  // Not as the server has it, whom the first may reach late.
  expect(await page.evaluate(() => window.sf.told[0]?.elapsedMs)).toBeGreaterThanOrEqual(95);
  expect((await page.evaluate(() => window.sf.retries?.status()))?.counters).toMatchObject({ hedges: 1, retries: 0 });
});

test('B087 the loser is gone within 500 ms of the win; a POST is not hedged', async ({ site, open }) => {
  const page = await open('timing');
  const wire = site.plan([{ delayMs: 10_000 }, { body: 'fast' }]);
  await page.evaluate((path) => window.sf.get(`${path}?hedge`), wire.path);
  const wonAt = Date.now();
  await expect.poll(() => wire.hits()[0]?.closedAt).toBeLessThan(wonAt + 500);
  const post = site.plan([{ delayMs: 1_000, body: 'ok' }]);
  await page.evaluate(
    (path) => window.sf.get(`${path}?hedge`, { method: 'POST', headers: { 'Idempotency-Key': '1' }, body: 'x' }),
    post.path,
  );
  expect(post.hits()).toHaveLength(1);
});

test('2,000 requests, 2 % of them slow: hedging takes the tail away, for at most 5 % more requests', async ({
  site,
  open,
  engine,
}) => {
  test.setTimeout(180_000);
  const REQUESTS = 2_000;
  const SLOW_MS = 700;
  const page = await open('timing');
  // Every fiftieth answer is slow, whoever gets it.
  const steps = Array.from({ length: REQUESTS * 1.1 }, (_, index) => ({
    bytes: 2_000,
    keepAlive: true,
    ...(index % 50 === 25 ? { delayMs: SLOW_MS } : {}),
  }));
  const sides = { hedge: site.plan(steps), bare: site.plan(steps) };
  const measure = (path: string, kind: string) =>
    page.evaluate(
      async ({ url, count }) => {
        const times: number[] = [];
        let cut = 0;
        let left = count;
        const lane = async () => {
          while (left-- > 0) {
            const startedAt = performance.now();
            const response = await fetch(url);
            times.push(performance.now() - startedAt);
            if ((await response.arrayBuffer()).byteLength !== 2_000) cut += 1;
          }
        };
        await Promise.all([lane(), lane(), lane()]);
        times.sort((a, b) => a - b);
        return { p50: times[Math.floor(count * 0.5)] ?? 0, p99: times[Math.floor(count * 0.99)] ?? 0, cut };
      },
      { url: `${path}?${kind}`, count: REQUESTS },
    );
  const hedged = await measure(sides.hedge.path, 'hedge');
  const bare = await measure(sides.bare.path, 'bare');
  const ratio = hedged.p99 / bare.p99;
  const extra = (sides.hedge.hits().length - REQUESTS) / REQUESTS;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(
    `hedged p50 ${ms(hedged.p50)}, p99 ${ms(hedged.p99)}; not hedged p50 ${ms(bare.p50)}, p99 ${ms(bare.p99)}: ` +
      `ratio of the p99 ${ratio.toFixed(3)}, ${(extra * 100).toFixed(2)} % more requests`,
  );
  expect(hedged.cut).toBe(0);
  expect(sides.bare.hits()).toHaveLength(REQUESTS);
  // How fast the other engines are on a busy machine is no part of it: what the server holds back has to be gone.
  expect(ratio).toBeLessThanOrEqual(engine === 'chromium' ? 0.3 : 1);
  expect(hedged.p99).toBeLessThan(SLOW_MS);
  // The first hedge is free.
  expect(extra).toBeLessThanOrEqual(0.05 + 1 / REQUESTS);
  expect(extra).toBeGreaterThan(0.015);
});
