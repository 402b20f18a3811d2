import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from '../support/bundle.mjs';

const dropin = new URL('../../dist/dropin.js', import.meta.url);

/** What a worker does that does nothing. */
export const bare = (then = '') => `
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)${then}));`;

/** A worker of ours, as one writes it who has no bundler. */
export function layer(options = {}) {
  if (!existsSync(dropin)) throw new Error('not built: dist/dropin.js; run `npm run build` first');
  return `${readFileSync(dropin)}\nsteadfetch.createRetryLayer(${asSource(options)}).listen();`;
}

/** Options as source text; a RegExp stays one. */
const asSource = (value) => {
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return `[${value.map(asSource).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${asSource(one)}`)}}`;
};

/** Somebody else's worker, bundled as an app would. */
export const rival = (name) =>
  bundle(fileURLToPath(new URL(`rivals/${name}.sw.ts`, import.meta.url)), { classic: true });
