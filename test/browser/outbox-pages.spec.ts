import { expect, NETWORK_ERROR, test } from '../support/browser.ts';
import { bodies, eventsOf, goOffline, goOnline, keepOffline, keyed, list, post } from '../support/outbox.ts';

// What pages see of the outbox, and can do with it.

test('a page lists, gets, counts, cancels and clears what waits', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box&secret=1`, ['a', 'b', 'c']);
  await keepOffline(page, `${wire.path}?free`, ['d']);
  const seen = await list(page);
  expect(seen).toMatchObject([
    { outbox: 'orders', method: 'POST', state: 'waiting', bytes: 1, sends: 0 },
    { outbox: 'orders' },
    { outbox: 'orders' },
    { outbox: 'free' },
  ]);
  // No query, no headers, no body.
  expect(JSON.stringify(seen)).not.toMatch(/secret|key-a/);
  expect(seen[0]?.url).toBe(site.url + wire.path);
  const [a, b] = seen.map(({ id }) => id);
  const did = await page.evaluate(
    async ([a = '', b = '']) => {
      const { outbox } = window.sf.retries as NonNullable<typeof window.sf.retries>;
      return {
        depth: await outbox.depth(),
        one: (await outbox.get(a))?.id,
        none: await outbox.get('nobody'),
        orders: (await outbox.list('orders')).length,
        cancelled: (await outbox.cancel(b)).map(({ id }) => id),
        after: await outbox.depth(),
        cleared: (await outbox.clear('orders')).length,
        left: (await outbox.list()).map(({ outbox }) => outbox),
      };
    },
    [a, b],
  );
  expect(did).toEqual({
    depth: 4,
    one: a,
    none: undefined,
    orders: 3,
    cancelled: [b],
    after: 3,
    cleared: 2,
    left: ['free'],
  });
  await expect
    .poll(() => eventsOf(page, 'queue-failed'))
    .toMatchObject(Array(3).fill({ reason: 'cancelled', sends: 0 }));
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['d']);
});

test('`follow` resolves when its entry was delivered, has failed, or was cancelled', async ({ site, open }) => {
  const page = await open('outbox');
  const wires = [site.plan([{ status: 201, body: 'taken' }]), site.plan([{ status: 422 }]), site.plan([{}])];
  for (const { path } of wires) await keepOffline(page, `${path}?free`, ['x']);
  const ids = (await list(page)).map(({ id }) => id);
  const followed = page.evaluate((ids) => Promise.all(ids.map((id) => window.sf.retries?.outbox.follow(id))), ids);
  await page.evaluate((id = '') => window.sf.retries?.outbox.cancel(id), ids[2]);
  await goOnline(page);
  expect(await followed).toMatchObject([
    { id: ids[0], state: 'sent', status: 201, answer: 'taken' },
    { id: ids[1], state: 'failed', reason: 'refused', status: 422 },
    undefined,
  ]);
  // What is over is told at once.
  expect(await page.evaluate((id = '') => window.sf.retries?.outbox.follow(id), ids[0])).toMatchObject({
    state: 'sent',
  });
});

test('every tab hears what is kept, sent and set aside', async ({ site, open }) => {
  const page = await open('outbox');
  const others = [await open('outbox'), await open('outbox')];
  const fine = site.plan([{ status: 201 }]);
  const bad = site.plan([{ status: 400 }]);
  await keepOffline(page, `${fine.path}?free`, ['a']);
  await keepOffline(page, `${bad.path}?free`, ['b']);
  await goOnline(page);
  for (const tab of [page, ...others]) {
    await expect
      .poll(async () =>
        (await eventsOf(tab, 'queued', 'queue-sent', 'queue-failed'))
          .map((event) => `${event.type} ${'url' in event ? event.url.replace(site.url, '') : ''}`)
          .toSorted(),
      )
      .toEqual(
        [`queue-failed ${bad.path}`, `queue-sent ${fine.path}`, `queued ${fine.path}`, `queued ${bad.path}`].toSorted(),
      );
  }
});

test('a page that is told the error keeps the entry all the same, where the route says so', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await goOffline(page);
  expect(await post(page, `${wire.path}?error`, keyed('k', 'x'))).toEqual({ error: NETWORK_ERROR });
  expect(await list(page)).toMatchObject([{ outbox: 'silent', state: 'waiting' }]);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['x']);
});

test('S24 `retire` takes the database of the outbox along', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  const names = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  expect(await names()).toContain('steadfetch-outbox');
  expect(await page.evaluate(() => window.sf.retries?.retire())).toBe(true);
  await page.waitForTimeout(1_000);
  expect(await names()).toEqual([]);
  expect(wire.hits()).toHaveLength(0);
  // One that is made again begins anew.
  await page.evaluate(() => window.sf.connect('/outbox.sw.js'));
  await keepOffline(page, `${wire.path}?box`, ['b']);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['b']);
});
