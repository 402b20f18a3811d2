import { expect, header, NETWORK_ERROR, test } from '../support/browser.ts';

test('row 52 and row 54: 503, 503, 200: the page gets the 200, and is told of both retries and the recovery', async ({
  site,
  open,
}) => {
  const page = await open();
  const wire = site.plan([{ status: 503 }, { status: 503 }, { status: 200, body: 'fine' }]);
  const seen = await page.evaluate((path) => window.sf.get(`${path}?secret=1#fragment`), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(3);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([
      { type: 'retry-scheduled', attempt: 1, cause: 'status', status: 503, by: 'backoff' },
      { type: 'retry-scheduled', attempt: 2, cause: 'status', status: 503, by: 'backoff' },
      { type: 'recovered', attempts: 3, status: 200, method: 'GET', url: site.url + wire.path, group: 'data' },
    ]);
});

for (const [form, retryAfter] of Object.entries({
  seconds: 1,
  'IMF-fixdate': { imf: 2_000 },
  'RFC 850 date': { rfc850: 2_000 },
  'asctime date': { asctime: 2_000 },
})) {
  test(`row 52: Retry-After as ${form}: no hit comes earlier than the server said`, async ({ site, open }) => {
    const page = await open();
    const wire = site.plan([{ status: 503, retryAfter }, { body: 'fine' }]);
    const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
    expect(seen).toMatchObject({ status: 200, body: 'fine' });
    const [first, second] = wire.hits();
    const gapMs = (second?.at ?? 0) - (first?.at ?? 0);
    // A date has whole seconds: 2 s from now is a moment 1 to 2 s from now.
    expect(gapMs).toBeGreaterThanOrEqual(1_000);
    expect(gapMs).toBeLessThan(4_500);
    await expect
      .poll(() => page.evaluate(() => window.sf.told))
      .toMatchObject([{ by: 'retry-after' }, { type: 'recovered' }]);
  });
}

test('a Retry-After beyond the limit is not waited for: the answer comes at once, whole', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ status: 429, retryAfter: 86_400, body: 'quota' }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toMatchObject({ status: 429, body: 'quota', headers: { 'retry-after': '86400' } });
  expect(wire.hits()).toHaveLength(1);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([{ type: 'gave-up', reason: 'retry-after', attempts: 1, lastStatus: 429 }]);
});

for (const status of [400, 401, 403, 404, 405, 409, 410, 413, 422, 501, 505]) {
  test(`B053 ${status} is final: one hit, passed on as it is`, async ({ site, open }) => {
    const page = await open();
    const wire = site.plan([{ status, body: 'no' }]);
    expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status, body: 'no' });
    expect(wire.hits()).toHaveLength(1);
    expect(await page.evaluate(() => window.sf.told)).toEqual([]);
  });
}

test('a reset on a fresh connection is retried', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ reset: 'headers' }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
  await expect
    .poll(() => page.evaluate(() => window.sf.told))
    .toMatchObject([
      { type: 'retry-scheduled', cause: 'network-error' },
      { type: 'recovered', attempts: 2 },
    ]);
});

test('giving up returns the last answer with its body', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([{ status: 503, body: 'first' }, { status: 502 }, { status: 503, body: 'last' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 503, body: 'last' });
  expect(wire.hits()).toHaveLength(3);
  await expect
    .poll(() => page.evaluate(() => window.sf.told.at(-1)))
    .toMatchObject({ type: 'gave-up', reason: 'attempts', attempts: 3, lastStatus: 503 });
});

test('an answer outlives the network errors that follow it', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([{ status: 503, body: 'overloaded' }, { reset: 'headers' }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toMatchObject({ status: 503, body: 'overloaded', url: site.url + wire.path, type: 'basic' });
  expect(wire.hits()).toHaveLength(3);
});

test('an answer that is too large to keep leaves its status and headers', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([
    { status: 503, headers: { 'x-why': 'deploy' }, body: 'x'.repeat(300_000) },
    { reset: 'headers' },
  ]);
  const seen = await page.evaluate(async (path) => {
    const { status, headers, body } = await fetch(path);
    const rest = await new Response(body).text().catch(String);
    return { status, why: headers.get('x-why'), rest };
  }, wire.path);
  expect(seen).toEqual({ status: 503, why: 'deploy', rest: expect.stringMatching(/^(TypeError|AbortError)/) });
  expect(wire.hits()).toHaveLength(3);
});

test('a request that refuses redirects is sent again once, and holds nothing against its server', async ({
  site,
  open,
}) => {
  const page = await open('quick');
  const wires = [1, 2, 3].map(() => site.plan([{ redirect: '/elsewhere' }]));
  for (const { path } of wires) {
    const seen = await page.evaluate((url) => window.sf.get(url, { redirect: 'error' }), path);
    expect(seen).toEqual({ error: NETWORK_ERROR });
  }
  expect(wires.map((wire) => wire.hits().length)).toEqual([2, 2, 2]);
  const circuit = (await page.evaluate(() => window.sf.retries?.status()))?.origins.map((one) => one.circuit);
  expect(circuit).toEqual(['closed']);
});

test('an image of a style sheet of another origin is never sent with the worker as its referrer', async ({
  site,
  open,
  engine,
}) => {
  const page = await open('quick');
  const image = site.plan([
    { status: 503, headers: { 'cache-control': 'max-age=60', expires: '0' } },
    { headers: { 'content-type': 'image/svg+xml' }, body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  ]);
  const css = `body { background-image: url("${site.url}${image.path}") }`;
  const sheet = site.plan([{ headers: { 'content-type': 'text/css' }, body: css }]);
  const url = site.secondOrigin + sheet.path;
  await page.evaluate((href) => {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href }));
  }, url);
  await expect.poll(() => image.hits().length).toBeGreaterThan(0);
  await page.waitForTimeout(1_000);
  const referrers = image.hits().map((hit) => header(hit, 'referer'));
  // WebKit names the document instead of the style sheet.
  expect(new Set(referrers)).toEqual(new Set([`${engine === 'webkit' ? site.url : site.secondOrigin}/`]));
});

test('a tab that is closed stops the retries of what it had asked for', async ({ site, open }) => {
  const page = await open();
  const other = await open();
  const wire = site.plan([{ status: 503, retryAfter: 3 }]);
  await page.evaluate((path) => void window.sf.get(path), wire.path);
  await expect.poll(() => wire.hits().length).toBe(1);
  await page.close();
  await other.waitForTimeout(5_000);
  expect(wire.hits()).toHaveLength(1);
  const gaveUp = async () => (await other.evaluate(() => window.sf.retries?.status()))?.counters.gaveUp;
  await expect.poll(gaveUp).toEqual({ 'client-gone': 1 });
});

test('network errors to the end: the page gets the network error', async ({ site, open }) => {
  const page = await open('quick');
  const wire = site.plan([{ reset: 'headers' }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toEqual({ error: NETWORK_ERROR });
  expect(wire.hits()).toHaveLength(3);
});

test('no attempt and no wait starts that cannot end before the deadline', async ({ site, open }) => {
  const page = await open('deadline');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 503, body: 'busy' });
  // 1.6 s each: hits at 0, 1.6 and 3.2 s; a fourth would start after the four seconds that the policy allows.
  expect(wire.hits()).toHaveLength(3);
  expect((wire.hits().at(-1)?.at ?? 0) - (wire.hits()[0]?.at ?? 0)).toBeLessThan(4_000);
  await expect
    .poll(() => page.evaluate(() => window.sf.told.at(-1)))
    .toMatchObject({ type: 'gave-up', reason: 'deadline', attempts: 3 });
});

test('attempts of parallel requests are counted apart', async ({ site, open }) => {
  const page = await open();
  const wires = Array.from({ length: 10 }, () => site.plan([{ status: 503 }, { body: 'fine' }]));
  const paths = wires.map(({ path }) => path);
  const seen = await page.evaluate((all) => Promise.all(all.map((path) => window.sf.get(path))), paths);
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  for (const wire of wires) expect(wire.hits()).toHaveLength(2);
});

test('an answer that has begun is final: a cut body reaches the page as it does without a worker', async ({
  site,
  open,
  engine,
}) => {
  const page = await open();
  const wire = site.plan([{ truncate: true, bytes: 100_000 }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  // WebKitGTK takes a body that is cut off for a whole one.
  if (engine === 'webkit') expect('body' in seen && seen.body.length).toBeLessThan(100_000);
  else expect(seen).toHaveProperty('error');
  expect(wire.hits()).toHaveLength(1);
});

test('an error that the browser may cache is asked for again, not served again', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ status: 503, headers: { 'cache-control': 'max-age=60' } }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
  expect(header(wire.hits()[1], 'referer')).toBe(`${site.url}/`);
});

test('an attempt that stalls before its headers is overtaken, in the default cache mode', async ({ site, open }) => {
  const page = await open('overtake');
  const wire = site.plan([{ stall: 'headers', stallMs: 6_000 }, { body: 'fine' }]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 200, body: 'fine' });
  const [first, second] = wire.hits();
  const gapMs = (second?.at ?? 0) - (first?.at ?? 0);
  expect(gapMs).toBeGreaterThanOrEqual(500);
  expect(gapMs).toBeLessThan(2_000);
});

test('an attempt that is slow but healthy answers itself', async ({ site, open }) => {
  const page = await open('overtake');
  const wire = site.plan([
    { delayMs: 1_500, body: 'slow' },
    { stall: 'headers', stallMs: 6_000 },
  ]);
  expect(await page.evaluate((path) => window.sf.get(path), wire.path)).toMatchObject({ status: 200, body: 'slow' });
});

test('nothing is spent while the device is offline', async ({ site, open, context }) => {
  const page = await open();
  const wire = site.plan([{ body: 'fine' }]);
  await context.setOffline(true);
  const answer = page.evaluate((path) => window.sf.get(path), wire.path);
  await expect.poll(() => page.evaluate(() => window.sf.told)).toMatchObject([{ type: 'waiting', cause: 'offline' }]);
  await context.setOffline(false);
  expect(await answer).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(1);
  expect(await page.evaluate(() => window.sf.retries?.status())).toMatchObject({ origins: [] });
});
