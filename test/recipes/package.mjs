import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';

const ENTRIES = ['steadfetch', 'steadfetch/fetch', 'steadfetch/worker', 'steadfetch/policy', 'steadfetch/sim'];

/** What a script of the package is known by: text of its source that is in no other place. */
const MARKS = {
  'page.js': ['connect has no option', 'src/page/connect.ts'],
  'fetch.js': ['createRetryFetch(', 'src/fetch/'],
  'worker.js': ['listen() was called twice', 'src/worker/retry-layer.ts'],
  'policy.js': ['to switch retries off', 'src/policy/'],
  'dropin.js': ['listen() was called twice', 'src/worker/retry-layer.ts'],
  'cli.js': ['there is no option', 'src/cli/main.ts'],
};

const TYPED = `import { connect, type Retries, withRetry } from 'steadfetch';
import { createRetryFetch, retry } from 'steadfetch/fetch';
import { DEFAULTS, type RetryOptions } from 'steadfetch/policy';
import { simulate } from 'steadfetch/sim';

const options: RetryOptions = { attempts: 2 };
export const retries: Promise<Retries> = connect('/sw.js');
export const get = createRetryFetch(options);
export const text: Promise<string> = retry(async () => 'text', options);
// @ts-expect-error: there is no such option
createRetryFetch({ atempts: 2 });
export { DEFAULTS, simulate, withRetry };
`;
const TYPED_WORKER = `import { createRetryLayer } from 'steadfetch/worker';

createRetryLayer({ routes: [{ match: '/api/', retry: { attempts: 2 } }] }).listen();
`;

/** The package alone, in a project that has nothing else. */
export async function checkPackage({ tarball, folder, root, run, check }) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  await run('npm', ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], folder);
  const installed = join(folder, 'node_modules/steadfetch');
  const dist = join(installed, 'dist');

  await check('brings three packages and no more', () => {
    const packages = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    assert.deepEqual(packages.sort(), ['idb', 'steadfetch', 'workbox-core', 'workbox-routing']);
  });

  await check('has no test, demo or build state in it', () => {
    const files = readdirSync(installed, { recursive: true }).map((file) => String(file).replaceAll('\\', '/'));
    assert.deepEqual(
      files.filter((file) => /(^|\/)(test|demo|\.ci)(\/|$)|tsbuildinfo|^dist\/types\/cli\//.test(file)),
      [],
    );
  });

  for (const entry of ENTRIES) {
    await check(`${entry} is imported in Node and touches nothing of a browser`, async () => {
      const traps = ['window', 'document', 'location', 'self', 'caches', 'indexedDB', 'localStorage'];
      const code = `for (const name of ${JSON.stringify(traps)}) {
        Object.defineProperty(globalThis, name, { configurable: true, get() { throw new Error(name + ' was touched'); } });
      }
      const entry = await import('${entry}');
      if (Object.keys(entry).length === 0) throw new Error('nothing is exported');`;
      await run(process.execPath, ['--input-type=module', '--eval', code], folder);
    });
  }

  await check('is required by CommonJS where Node can do that', async () => {
    // Node 20 can do it only from 20.19 on, without a word; before it names the way out.
    const code = `if (typeof require('steadfetch').connect !== 'function') process.exit(1)`;
    await run(process.execPath, ['--input-type=commonjs', '--no-warnings', '--eval', code], folder);
  });

  for (const [module, moduleResolution] of [
    ['esnext', 'bundler'],
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
  ]) {
    await check(`has its types with moduleResolution ${moduleResolution}`, async () => {
      const app = join(folder, moduleResolution);
      mkdirSync(app, { recursive: true });
      writeFileSync(join(app, 'app.ts'), TYPED);
      writeFileSync(join(app, 'sw.ts'), TYPED_WORKER);
      const compile = async (file, lib) => {
        // Without skipLibCheck: a user who has not set it sees the faults of what comes along, too.
        const shared = { noEmit: true, strict: true, skipDefaultLibCheck: true, target: 'es2022', types: [] };
        const compilerOptions = { ...shared, module, moduleResolution, lib };
        writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
        await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', app], folder);
      };
      await compile('app.ts', ['es2023', 'dom', 'dom.iterable']);
      // Where node16 finds the page, it finds the worker.
      if (moduleResolution !== 'node16') await compile('sw.ts', ['es2023', 'webworker', 'webworker.iterable']);
    });
  }

  for (const [script, [mark, source]] of Object.entries(MARKS)) {
    await check(`${script} has a map that leads to the source`, () => {
      const code = readFileSync(join(dist, script), 'utf8');
      assert.match(code, new RegExp(`//# sourceMappingURL=${script}\\.map\\s*$`));
      const map = JSON.parse(readFileSync(join(dist, `${script}.map`), 'utf8'));
      assert.equal(map.sourcesContent?.length, map.sources.length);
      for (const path of map.sources.filter((path) => path.startsWith('../src/'))) {
        assert.ok(existsSync(join(dist, path)), `${path} is not in the package`);
      }
      const lines = code.split('\n');
      const line = lines.findIndex((text) => text.includes(mark));
      assert.notEqual(line, -1, `${mark} is not in ${script}`);
      const { originalSource, originalLine } = new SourceMap(map).findEntry(line, lines[line].indexOf(mark));
      assert.ok(originalSource.includes(source), `${mark} leads to ${originalSource}`);
      const original = map.sourcesContent[map.sources.indexOf(originalSource)].split('\n');
      assert.ok(
        original.slice(originalLine, originalLine + 3).some((text) => text.includes(mark)),
        `${mark} leads to line ${originalLine + 1} of ${originalSource}`,
      );
    });
  }

  await check('its command runs by npx', async () => {
    mkdirSync(join(folder, 'public'));
    await run('npx', ['--no-install', 'steadfetch', 'init', 'public/'], folder);
    assert.deepEqual(readdirSync(join(folder, 'public')).sort(), ['steadfetch.dropin.js', 'sw.js']);
    await run('npx', ['--no-install', 'steadfetch', 'init', 'public/', '--check'], folder);
  });
}
