import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { misbehave } from './misbehave-plugin.ts';
import { workerBundles } from './worker-bundles.ts';

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: file('.'),
  plugins: [misbehave(undefined, { secondOrigin: true }), workerBundles({ '/sw.js': file('sw.ts') })],
  server: { open: false, strictPort: false },
  // Found out while the page is open, a dependency would make it load anew.
  optimizeDeps: { noDiscovery: true },
  build: {
    rolldownOptions: { input: ['index.html', 'orders.html', 'tab.html'].map(file) },
    outDir: file('../dist/demo'),
    emptyOutDir: true,
    target: 'es2022',
  },
});
