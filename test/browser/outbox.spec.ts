import { expect, header, test } from '../support/browser.ts';
import { bodies, goOffline, goOnline, keyed, list, post, sendNow } from '../support/outbox.ts';

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
