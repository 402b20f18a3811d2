import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { expect, test } from '../support/browser.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

/** What an app's bundler makes of a page and a worker that import the built package, with nothing configured for it. */
async function bundleApp(): Promise<Map<string, string>> {
  const root = mkdtempSync(join(tmpdir(), 'steadfetch-app-'));
  writeFileSync(join(root, 'page.js'), `import { connect } from '${dist}/page.js';\nwindow.connect = connect;\n`);
  writeFileSync(
    join(root, 'sw.js'),
    `import { constant, createRetryLayer } from '${dist}/worker.js';\ncreateRetryLayer({ defaults: { backoff: constant(20) } }).listen();\n`,
  );
  const result = await build({
    configFile: false,
    root,
    logLevel: 'silent',
    build: {
      write: false,
      rolldownOptions: {
        input: { page: join(root, 'page.js'), sw: join(root, 'sw.js') },
        output: { entryFileNames: '[name].js' },
        preserveEntrySignatures: 'strict',
      },
    },
  });
  const chunks = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  return new Map(chunks.map((chunk) => [chunk.fileName, chunk.type === 'chunk' ? chunk.code : '']));
}

test('an app that bundles page and worker together gets a classic worker that works', async ({
  site,
  page,
  context,
}) => {
  expect(existsSync(`${dist}/worker.js`), 'dist is missing: run `npm run build` first').toBe(true);
  const chunks = await bundleApp();
  expect([...chunks.keys()].sort()).toEqual(['page.js', 'sw.js']);
  expect(chunks.get('sw.js')).not.toMatch(/\bprocess\.env\b|^import\b/m);
  for (const name of ['page.js', 'sw.js']) {
    await context.route(`${site.url}/app/${name}`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: chunks.get(name) ?? '' }),
    );
  }
  await context.route(`${site.url}/app/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/app/page.js"></script>' }),
  );
  await page.goto(`${site.url}/app/`);
  await page.waitForFunction(() => 'connect' in window);
  const wire = site.plan([{ status: 503 }, { body: 'fine' }]);
  // The worker is served below /app/, which is its scope; what its pages ask for may be anywhere.
  const seen = await page.evaluate(async (path) => {
    const { connect } = window as unknown as { connect: (url: string) => Promise<{ state: string }> };
    const { state } = await connect('/app/sw.js');
    return { state, text: await (await fetch(path)).text() };
  }, wire.path);
  expect(seen).toEqual({ state: 'controlled', text: 'fine' });
  expect(wire.hits()).toHaveLength(2);
});
