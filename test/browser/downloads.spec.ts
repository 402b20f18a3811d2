import { expect, test } from '../support/browser.ts';

test('a download that nothing has brought whole is shown as none that is done', async ({ site, open }) => {
  const page = await open('navigation');
  const table = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename=a.csv' };
  const wire = site.plan([{ headers: table, body: 'x'.repeat(300_000), stall: 'body' }, { reset: 'headers' }]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.evaluate((href) => Object.assign(document.createElement('a'), { href }).click(), `${wire.path}?again`),
  ]);
  expect(await download.failure()).not.toBeNull();
  expect(wire.hits()).toHaveLength(3);
});
