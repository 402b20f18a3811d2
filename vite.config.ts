import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Each entry is built alone and holds everything it needs: an app's bundler that finds a chunk shared by page and worker
 * would leave an import in the worker, and a classic worker with an import does not start. The dependencies are in as
 * well, because Workbox reads `process.env.NODE_ENV` bare, and not every bundler has an answer to that.
 */
const ENTRIES: Readonly<Record<string, string>> = {
  page: file('src/page/index.ts'),
  fetch: file('src/fetch/index.ts'),
  worker: file('src/worker/index.ts'),
  workbox: file('src/workbox/index.ts'),
  policy: file('src/policy/index.ts'),
  status: file('src/status/index.ts'),
  devtools: file('src/devtools/index.ts'),
  sim: file('src/sim/index.ts'),
};

const entry = (name: string) => ({
  lib: { entry: ENTRIES[name] ?? '', formats: ['es' as const], fileName: () => `${name}.js` },
  // Left readable: the app's own bundler minifies, and a stack trace in development shows real names.
  minify: false,
});

/**
 * Lit takes these two for granted where it is a browser's; an app that is rendered on a server imports the panel there as
 * well. Lit's own build for that is 3 kB larger (gzip), and is then in every page.
 */
const ELSEWHERE =
  'const document = globalThis.document ?? { createTreeWalker() {} }, HTMLElement = globalThis.HTMLElement ?? class {};';

/** One classic script for `importScripts` in a worker that no bundler sees. */
const dropin = {
  lib: {
    entry: file('src/dropin/sw.ts'),
    formats: ['iife' as const],
    name: 'steadfetch',
    fileName: () => 'dropin.js',
  },
  minify: true,
};

/** `npx steadfetch`: what it copies lies beside it. */
const command = {
  lib: { entry: file('src/cli/bin.ts'), formats: ['es' as const], fileName: () => 'cli.js' },
  minify: false,
  target: 'node20',
  rolldownOptions: { external: [/^node:/] },
};

const outputOf = (mode: string) => (mode in ENTRIES ? entry(mode) : mode === 'cli' ? command : dropin);

export default defineConfig(({ mode }) => ({
  define: mode in ENTRIES || mode === 'dropin' ? { 'process.env.NODE_ENV': JSON.stringify('production') } : {},
  publicDir: false,
  build: {
    target: 'es2022',
    sourcemap: true,
    emptyOutDir: false,
    license: { fileName: `${mode}.licenses.md` },
    ...outputOf(mode),
    ...(mode === 'devtools' ? { rolldownOptions: { output: { banner: ELSEWHERE } } } : {}),
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    // The longest takes two seconds alone, and ten beside a machine's other work.
    testTimeout: 60_000,
    coverage: {
      // These two are pure: what no test reaches there cannot be reached.
      include: ['src/{policy,protocol}/**/*.ts'],
      thresholds: { 100: true },
      reporter: [['text', { skipFull: true }]],
      reportsDirectory: 'node_modules/.cache/coverage',
    },
  },
}));
