import { expect, test } from '../support/browser.ts';

test('503, 503, 200: the page gets the 200, and is told of both retries and the recovery', async ({ site, open }) => {
  const page = await open();
  const wire = site.plan([{ status: 503 }, { status: 503 }, { status: 200, body: 'fine' }]);
  const seen = await page.evaluate((path) => window.sf.get(path), wire.path);
  expect(seen).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(3);
  await expect
    .poll(() => page.evaluate(() => window.sf.events.map((event) => event.type)))
    .toEqual(['retry-scheduled', 'retry-scheduled', 'recovered']);
});
