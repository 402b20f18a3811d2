import { expect, header, test } from '../support/browser.ts';
import { bodies, goOffline, goOnline, keepOffline, keyed, list, post, sendNow } from '../support/outbox.ts';

test('a keyed order that cannot be delivered is kept, and delivered once its server is there', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ reset: 'headers' }]);
  const seen = await post(page, `${wire.path}?box`, keyed('k1', 'two apples'));
  expect(seen).toMatchObject({ status: 202 });
  const item = JSON.parse('body' in seen ? seen.body : '');
  expect(item).toMatchObject({ outbox: 'orders', state: 'waiting', method: 'POST' });
  site.replan(wire.id, [{ status: 201, body: 'taken' }]);
  await sendNow(page);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', status: 201, answer: 'taken' }]);
  expect(wire.hits()).toHaveLength(1);
  expect(bodies(wire)).toEqual(['two apples']);
  expect(header(wire.hits()[0], 'Idempotency-Key')).toBe('k1');
});

test('what is asked for while a kept order waits is kept as well, and arrives after it', async ({ site, open }) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 503 }]);
  expect(await post(page, `${wire.path}?box`, keyed('k1', 'create'))).toMatchObject({ status: 202 });
  const tries = wire.hits().length;
  const keptAt = wire.hits().at(-1)?.at ?? 0;
  site.replan(wire.id, [{ status: 201 }]);
  // Its server would take it at once.
  expect(await post(page, `${wire.path}?box`, keyed('k2', 'update'))).toMatchObject({ status: 202 });
  expect(wire.hits()).toEqual([]);
  expect(await list(page)).toMatchObject([{ sends: tries }, { sends: 0 }]);
  // Nothing but the page's timer and what the browser does by itself: after two attempts 2 to 4 s are waited for.
  await expect.poll(() => bodies(wire), { timeout: 15_000 }).toEqual(['create', 'update']);
  expect((wire.hits()[0]?.at ?? 0) - keptAt).toBeGreaterThanOrEqual(2_000);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent' }, { state: 'sent', sends: 1 }]);
  // Nothing waits any more: it is answered by its server.
  expect(await post(page, `${wire.path}?box`, keyed('k3', 'remove'))).toMatchObject({ status: 201 });
});

test('an entry that fails is sent again without a further event, once its wait is over', async ({ site, open }) => {
  const page = await open('outbox.sw.js?fault=no-sync');
  const wire = site.plan([{ status: 503 }, { status: 201 }]);
  await keepOffline(page, `${wire.path}?box`, ['a']);
  await goOnline(page);
  // An open page would see to it each 10 s.
  await expect.poll(() => bodies(wire), { timeout: 5_000 }).toEqual(['a', 'a']);
  const [first, second] = wire.hits();
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
  await expect.poll(() => list(page)).toMatchObject([{ state: 'sent', sends: 2 }]);
});

test('offline orders without a key are kept at once, and go in their order when the device is back', async ({
  site,
  open,
}) => {
  const page = await open('outbox');
  const wire = site.plan([{ status: 200 }]);
  await goOffline(page);
  for (const body of ['1', '2', '3']) {
    expect(await post(page, `${wire.path}?box`, { method: 'POST', body })).toMatchObject({ status: 202 });
  }
  expect(wire.hits()).toHaveLength(0);
  await goOnline(page);
  await expect.poll(() => bodies(wire)).toEqual(['1', '2', '3']);
});

test('a device that the browser takes for offline: kept at once, and delivered when it is back', async ({
  site,
  open,
  context,
}) => {
  test.setTimeout(45_000);
  const page = await open('outbox');
  const wire = site.plan([{ status: 200 }]);
  await context.setOffline(true);
  expect(await post(page, `${wire.path}?box`, keyed('k', '1'))).toMatchObject({ status: 202 });
  await page.waitForTimeout(200);
  expect(wire.hits()).toHaveLength(0);
  await context.setOffline(false);
  // The browser tells its page of it, and some time later its worker: what that sent too early is sent again.
  await expect.poll(() => bodies(wire), { timeout: 25_000 }).toEqual(['1']);
});
