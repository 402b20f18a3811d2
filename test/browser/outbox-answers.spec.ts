import { expect, header, NETWORK_ERROR, test } from '../support/browser.ts';
import {
  bodies,
  eventsOf,
  goOffline,
  goOnline,
  keepOffline,
  keys,
  list,
  post,
  sendNow,
  stored,
} from '../support/outbox.ts';

// What becomes of an entry by its server's answer.

const states = async (page: Parameters<typeof list>[0]) => (await list(page)).map(({ state }) => state);

for (const status of [503, 429]) {
  test(`a ${status} keeps the entry for as long as the server asks, whoever hurries`, async ({ site, open }) => {
    const page = await open('outbox');
    const wire = site.plan([{ status, retryAfter: 2 }, { status: 201 }]);
    await keepOffline(page, `${wire.path}?box`, ['a']);
    await goOnline(page);
    await expect.poll(() => wire.hits().length).toBe(1);
    await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', status, sends: 1 }]);
    for (let n = 0; n < 3; n += 1) await sendNow(page);
    const saidAt = wire.hits()[0]?.at ?? 0;
    expect((await list(page))[0]?.notBefore).toBeGreaterThanOrEqual(saidAt + 2_000);
    await expect
      .poll(async () => {
        await sendNow(page);
        return states(page);
      })
      .toEqual(['sent']);
    expect(bodies(wire)).toEqual(['a', 'a']);
    expect(keys(wire)).toEqual(['key-a', 'key-a']);
    expect((wire.hits()[1]?.at ?? 0) - saidAt).toBeGreaterThanOrEqual(2_000);
  });
}

test('B098 a captive portal’s page is no delivery', async ({ site, open }) => {
  const page = await open('outbox');
  const login = site.plan([{ headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' }]);
  const wire = site.plan([{ redirect: login.path }, { status: 204 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page);
  await expect.poll(() => login.hits().length).toBe(1);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', status: 200 }]);
  expect(await eventsOf(page, 'queue-sent')).toEqual([]);
  await sendNow(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', status: 204, sends: 2 }]);
  expect(bodies(wire)).toEqual(['a', 'a']);
});

test('B100 what a server refuses is set aside with its reason, and the next entry goes in the same replay', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const refusing = site.plan([{ status: 422, body: 'no such article' }]);
  const fine = site.plan([{ status: 200 }]);
  await keepOffline(page, `${refusing.path}?box`, ['a']);
  await keepOffline(page, `${fine.path}?box`, ['b']);
  await goOnline(page);
  await expect.poll(() => bodies(fine)).toEqual(['b']);
  await expect
    .poll(() => list(page))
    .toMatchObject([
      { state: 'failed', reason: 'refused', status: 422, answer: 'no such article', sends: 1 },
      { state: 'sent', sends: 1 },
    ]);
  await expect
    .poll(() => eventsOf(page, 'queue-failed'))
    .toMatchObject([{ reason: 'refused', status: 422, method: 'POST', url: `${site.url}${refusing.path}` }]);
  // Nothing but the user sends it again.
  const [{ id } = { id: '' }] = await list(page);
  await page.evaluate(() => window.sf.retries?.retryNow());
  await page.waitForTimeout(300);
  expect(refusing.hits()).toHaveLength(1);
  site.replan(refusing.id, [{ status: 201 }]);
  await page.evaluate((id) => window.sf.retries?.outbox.retry(id), id);
  await expect.poll(() => states(page)).toEqual(['sent', 'sent']);
});

for (const order of ['byurl', 'free']) {
  test(`B101 a 500 for ever blocks no other key: ${order}`, async ({ site, open }) => {
    const page = await open('outbox');
    const broken = site.plan([{ status: 500 }]);
    const fine = site.plan([{ status: 200 }]);
    await keepOffline(page, `${broken.path}?${order}`, ['a']);
    await keepOffline(page, `${fine.path}?${order}`, ['b', 'c']);
    await goOnline(page);
    await expect.poll(() => bodies(fine).toSorted()).toEqual(['b', 'c']);
    await expect
      .poll(() => list(page))
      .toMatchObject([{ state: 'waiting', status: 500 }, { state: 'sent' }, { state: 'sent' }]);
  });
}

test('B101 an order waits for what is before it until that has expired', async ({ site, open }) => {
  const page = await open('outbox.sw.js?maxAgeMs=4000');
  const broken = site.plan([{ status: 500 }]);
  await keepOffline(page, `${broken.path}?box`, ['a']);
  await page.waitForTimeout(1_500);
  const fine = site.plan([{ status: 200 }]);
  await keepOffline(page, `${fine.path}?box`, ['b']);
  await goOnline(page);
  await expect.poll(() => broken.hits().length).toBeGreaterThanOrEqual(1);
  await sendNow(page);
  expect(fine.hits()).toHaveLength(0);
  await expect
    .poll(
      async () => {
        await page.evaluate(() => window.sf.retries?.retryNow());
        return list(page);
      },
      { intervals: [200], timeout: 12_000 },
    )
    .toMatchObject([{ state: 'failed', reason: 'expired' }, { state: 'sent' }]);
  await expect.poll(() => eventsOf(page, 'queue-failed')).toMatchObject([{ reason: 'expired' }]);
});

test('B101 a 401 asks `prepare` once, and the entry is sent with what that says and its own key', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 401 }, { status: 200 }]);
  await keepOffline(page, `${wire.path}?box`, ['c']);
  await goOnline(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent' }]);
  expect(wire.hits().map((hit) => header(hit, 'Authorization'))).toEqual([null, 'fresh']);
  expect(keys(wire)).toEqual(['key-c', 'key-c']);
  expect(bodies(wire)).toEqual(['c', 'c']);
});

test('B101 a 401 that `prepare` does not help is set aside, and kept for the user', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 401 }]);
  const fine = site.plan([{ status: 200 }]);
  await keepOffline(page, `${wire.path}?box`, ['c']);
  await keepOffline(page, `${fine.path}?box`, ['d']);
  await goOnline(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'failed', reason: 'unauthorized' }, { state: 'sent' }]);
  expect(wire.hits()).toHaveLength(2);
  site.replan(wire.id, [{ status: 200 }]);
  await sendNow(page);
  await expect.poll(() => bodies(wire)).toEqual(['c']);
});

test('S23 another owner’s entries wait unseen, and go when that owner is back, also after a stop', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 200 }]);
  const own = (owner?: string) => page.evaluate((owner) => window.sf.retries?.outbox.setOwner(owner), owner);
  expect(await own('ann')).toBe(true);
  await keepOffline(page, `${wire.path}?box`, ['anns']);
  await own('bob');
  await keepOffline(page, `${wire.path}?box`, ['bobs']);
  expect(await list(page)).toHaveLength(1);
  expect(await page.evaluate(() => window.sf.retries?.outbox.depth())).toBe(1);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['bobs']);
  await own();
  await sendNow(page);
  expect(await list(page)).toEqual([]);
  await page.waitForTimeout(300);
  expect(bodies(wire)).toEqual(['bobs']);
  await expect
    .poll(async () => (await stored(page)).map(({ owner, state }) => `${owner} ${state}`))
    .toEqual(['ann waiting', 'bob sent']);
  await own('ann');
  await expect.poll(() => bodies(wire)).toEqual(['bobs', 'anns']);
  // Signing out takes one's own along, and nobody else's.
  await page.evaluate(() => window.sf.retries?.outbox.clear());
  await expect.poll(async () => (await stored(page)).map(({ owner }) => owner)).toEqual(['bob']);
});

test('a key that the server is still busy with keeps the entry', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 409 }, { status: 200 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'waiting', status: 409 }]);
  await sendNow(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', sends: 2 }]);
});

test('an order of which nobody knows whether it was taken is not sent twice', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ reset: 'headers' }]);
  await goOffline(page);
  expect(await post(page, `${wire.path}?box`, { method: 'POST', body: 'no key' })).toMatchObject({ status: 202 });
  await goOnline(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'failed', reason: 'unknown', sends: 1 }]);
  await expect.poll(() => eventsOf(page, 'queue-failed')).toMatchObject([{ reason: 'unknown' }]);
  site.replan(wire.id, [{ status: 200 }]);
  await page.evaluate(() => window.sf.retries?.retryNow());
  await page.waitForTimeout(300);
  expect(wire.hits()).toHaveLength(0);
  // The user may know.
  await sendNow(page);
  await expect.poll(() => bodies(wire)).toEqual(['no key']);
});

test('a POST without a key whose answer is lost is never kept, and the page gets the real error', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  for (const step of [{ reset: 'headers' }, { status: 503, body: 'down' }] as const) {
    const wire = site.plan([step]);
    const seen = await post(page, `${wire.path}?box`, { method: 'POST', body: 'x' });
    expect(seen).toMatchObject('reset' in step ? { error: NETWORK_ERROR } : { status: 503, body: 'down' });
    expect(wire.hits()).toHaveLength(1);
  }
  expect(await stored(page)).toEqual([]);
  expect(await eventsOf(page, 'queued', 'queue-failed')).toEqual([]);
});

test('`addKey` gives each order one key, on every attempt and on every later send', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const wires = [site.plan([{ reset: 'headers' }]), site.plan([{ status: 503 }])];
  for (const [index, wire] of wires.entries()) {
    expect(await post(page, `${wire.path}?addkey`, { method: 'POST', body: `${index}` })).toMatchObject({
      status: 202,
    });
  }
  const first = wires.map((wire) => keys(wire));
  const after = wires.map((wire) => {
    site.replan(wire.id, [{ status: 409 }, { status: 201 }]);
    return wire;
  });
  await expect
    .poll(
      async () => {
        await sendNow(page);
        return states(page);
      },
      // Its circuit may be open.
      { timeout: 15_000 },
    )
    .toEqual(['sent', 'sent']);
  for (const [index, wire] of after.entries()) {
    const all = new Set([...(first[index] ?? []), ...keys(wire)]);
    expect(all.size).toBe(1);
    expect([...all][0]).toMatch(/^[\da-f-]{36}$/);
    expect(bodies(wire)).toEqual([`${index}`, `${index}`]);
  }
});
