import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '../support/browser.ts';

const built = new URL('../../dist/dropin.js', import.meta.url);

test('the drop-in works by importScripts, without a bundler', async ({ site, page, context }) => {
  expect(existsSync(built), 'dist/dropin.js is missing: run `npm run build` first').toBe(true);
  const serve = (url: string, body: string) =>
    context.route(site.url + url, (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await serve('/steadfetch.dropin.js', readFileSync(built, 'utf8'));
  await serve(
    '/own-sw.js',
    `importScripts('/steadfetch.dropin.js');
     const { createRetryLayer, constant } = steadfetch;
     createRetryLayer({ defaults: { backoff: constant(20) } }).listen();`,
  );
  await page.goto(site.url);
  await page.waitForFunction(() => 'sf' in window);
  expect(await page.evaluate(() => window.sf.connect('/own-sw.js'))).toEqual({
    state: 'controlled',
    workerVersion: '0.1.0',
  });
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  expect(await page.evaluate((url) => window.sf.get(url), wire.path)).toMatchObject({ status: 200, body: 'fine' });
  expect(wire.hits()).toHaveLength(2);
});
