import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The ES entries: dependencies stay imports, so that an app's own copy of them is the only one in its bundle. */
const entries = {
  lib: {
    entry: {
      page: file('src/page/index.ts'),
      worker: file('src/worker/index.ts'),
      policy: file('src/policy/index.ts'),
    },
    formats: ['es' as const],
  },
  // Left readable: the app's own bundler minifies, and a stack trace in development shows real names.
  minify: false,
  sourcemap: true,
  rolldownOptions: {
    external: /^(workbox-core|workbox-routing|idb)(\/|$)/,
    output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
  },
};

/** One classic script with everything in it, for `importScripts` in a worker that no bundler sees. */
const dropin = {
  lib: {
    entry: file('src/dropin/sw.ts'),
    formats: ['iife' as const],
    name: 'steadfetch',
    fileName: () => 'dropin.js',
  },
  minify: true,
  sourcemap: true,
  emptyOutDir: false,
  license: { fileName: 'dropin.licenses.md' },
  // The script is copied about alone; the licences of what is in it ask to be named there.
  rolldownOptions: {
    output: { postBanner: '/*! steadfetch (MIT), with Workbox (MIT) and idb (ISC): see dropin.licenses.md */' },
  },
};

export default defineConfig(({ mode }) => ({
  // Only the drop-in holds Workbox, which reads this bare; elsewhere the app's bundler has to decide.
  define: mode === 'dropin' ? { 'process.env.NODE_ENV': JSON.stringify('production') } : {},
  publicDir: false,
  build: {
    target: 'es2022',
    ...(mode === 'dropin' ? dropin : entries),
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
  },
}));
