import { expect, stopWorker, test } from '../support/browser.ts';

test('an outage of ten seconds under thirty requests at once: all are answered, and the server is spared', async ({
  site,
  open,
}) => {
  test.setTimeout(60_000);
  const page = await open();
  const wires = Array.from({ length: 30 }, () => site.plan([{ status: 503 }]));
  const answers = page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  await page.waitForTimeout(10_000);
  const during = wires.reduce((sum, { hits }) => sum + hits().length, 0);
  for (const { id } of wires) site.replan(id, [{ body: 'fine' }]);
  for (const answer of await answers) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  const after = wires.reduce((sum, { hits }) => sum + hits().length, 0);
  const hits = during + after;
  console.log(
    `30 requests, 10 s outage: ${during} hits during it, ${after} after it, ${(hits / 30).toFixed(2)} per request`,
  );
  // The first attempt of each is one; the answer of each is another.
  expect(after).toBe(30);
  expect((during - 30) / 30).toBeLessThanOrEqual(0.3);
  await expect
    .poll(() => page.evaluate(() => window.sf.events.filter((event) => event.type === 'circuit-changed').at(-1)))
    .toMatchObject({ to: 'closed' });
});

test('a worker that is killed while its circuit is half-open is not stuck', async ({ site, open }) => {
  const page = await open();
  const wires = Array.from({ length: 12 }, () => site.plan([{ status: 503 }]));
  const answers = page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  await expect
    .poll(() =>
      page.evaluate(() => window.sf.events.map((event) => (event.type === 'circuit-changed' ? event.to : ''))),
    )
    .toContain('open');
  await page.waitForTimeout(2_500);
  await stopWorker(page);
  await answers;
  const later = site.plan([{ body: 'fine' }]);
  const startedAt = Date.now();
  expect(await page.evaluate((path) => window.sf.get(path), later.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(Date.now() - startedAt).toBeLessThan(1_000);
  await expect
    .poll(() => page.evaluate(async () => (await window.sf.retries?.status())?.origins.map(({ circuit }) => circuit)))
    .not.toContain('open');
});

test('the device going offline and back opens no circuit', async ({ site, open, context }) => {
  const page = await open('quick');
  await page.evaluate((path) => window.sf.get(path), site.plan([{ body: 'fine' }]).path);
  await context.setOffline(true);
  const wires = Array.from({ length: 15 }, () => site.plan([{ body: 'fine' }]));
  const answers = page.evaluate(
    (paths) => Promise.all(paths.map((path) => window.sf.get(path))),
    wires.map(({ path }) => path),
  );
  await page.waitForTimeout(1_500);
  await context.setOffline(false);
  for (const answer of await answers) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  expect(await page.evaluate(() => window.sf.events.map(({ type }) => type))).not.toContain('circuit-changed');
});

test('a burst of resets of two origins at once opens no circuit', async ({ site, open }) => {
  const page = await open();
  const urls = Array.from({ length: 20 }, (_, index) => {
    const { path } = site.plan([{ reset: 'headers' }, { body: 'fine' }]);
    return index % 2 === 0 ? path : site.secondOrigin + path;
  });
  const seen = await page.evaluate((all) => Promise.all(all.map((url) => window.sf.get(url))), urls);
  for (const answer of seen) expect(answer).toMatchObject({ status: 200, body: 'fine' });
  const status = await page.evaluate(() => window.sf.retries?.status());
  expect(status?.origins.map(({ circuit }) => circuit)).not.toContain('open');
});

test('B072 a circuit that refuses: a problem with its time, over a kill of the worker, and one probe', async ({
  site,
  open,
}) => {
  const page = await open('reject');
  const wire = site.plan([{ status: 503, body: 'busy' }]);
  const get = () => page.evaluate((path) => window.sf.get(path), wire.path);
  for (let n = 0; n < 2; n++) {
    expect(await get()).toMatchObject({ status: 503, body: 'busy' });
    await page.waitForTimeout(20);
  }
  const refusal = await get();
  expect(refusal).toMatchObject({
    status: 503,
    headers: { 'content-type': 'application/problem+json', 'retry-after': expect.stringMatching(/^[12]$/) },
    body: expect.stringContaining('urn:steadfetch:circuit-open'),
  });
  expect(wire.hits()).toHaveLength(2);
  await page.waitForTimeout(500);
  await stopWorker(page);
  expect(await get()).toMatchObject({ body: expect.stringContaining('urn:steadfetch:circuit-open') });
  expect(wire.hits()).toHaveLength(2);
  await page.waitForTimeout(1_200);
  site.replan(wire.id, [{ body: 'fine', delayMs: 300 }]);
  const answers = await page.evaluate(
    (path) => Promise.all(Array.from({ length: 10 }, () => window.sf.get(path))),
    wire.path,
  );
  // The opposite would let all who waited in at once.
  expect(answers.filter((answer) => 'body' in answer && answer.body === 'fine')).toHaveLength(1);
  expect(wire.hits()).toHaveLength(1);
  expect(await get()).toMatchObject({ status: 200 });
});

test('one endpoint that always fails leaves the others at the latency of a first try', async ({ site, open }) => {
  test.setTimeout(60_000);
  const page = await open();
  const broken = site.plan([{ status: 500 }]);
  const fine = site.plan([{ body: 'fine' }]);
  const timed = (path: string, times: number) =>
    page.evaluate(
      async ({ path, times }) => {
        const tookMs: number[] = [];
        for (let n = 0; n < times; n++) {
          const startedAt = performance.now();
          if ((await fetch(path)).status !== 200) throw new Error('not answered');
          tookMs.push(performance.now() - startedAt);
        }
        return tookMs.sort((a, b) => a - b);
      },
      { path, times },
    );
  const before = await timed(fine.path, 20);
  const failing = page.evaluate(
    (path) => Promise.all(Array.from({ length: 10 }, () => window.sf.get(path))),
    broken.path,
  );
  const circuit = async () => (await page.evaluate(() => window.sf.retries?.status()))?.origins[0]?.circuit;
  await expect.poll(circuit).not.toBe('closed');
  const during = await timed(fine.path, 20);
  console.log(`p50 beside a broken endpoint ${during[10]?.toFixed(1)} ms, alone ${before[10]?.toFixed(1)} ms`);
  // Not one of them waited for anything, or was sent twice.
  expect(await page.evaluate((path) => window.sf.told.filter(({ url }) => url.endsWith(path)), fine.path)).toEqual([]);
  expect(fine.hits()).toHaveLength(40);
  await failing;
});
