import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from '../support/bundle.mjs';

/** Where a built entry is. */
export function built(entry) {
  const { href } = new URL(`../../dist/${entry}.js`, import.meta.url);
  if (!existsSync(new URL(href))) throw new Error(`not built: dist/${entry}.js; run \`npm run build\` first`);
  return href;
}

/** What a worker does that does nothing. */
export const bare = (then = '') => `
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)${then}));`;

/** A worker of ours, as one writes it who has no bundler. */
export const layer = (options = {}) =>
  `${readFileSync(new URL(built('dropin')))}\nsteadfetch.createRetryLayer(${asSource(options)}).listen();`;

/** Options as source text; a RegExp stays one. */
const asSource = (value) => {
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return `[${value.map(asSource).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${asSource(one)}`)}}`;
};

/** A worker of test/bench/rivals, bundled as an app would. */
export const rival = (name) =>
  bundle(fileURLToPath(new URL(`rivals/${name}.sw.ts`, import.meta.url)), { classic: true });
