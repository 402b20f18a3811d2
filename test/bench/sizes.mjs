import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundle } from '../support/bundle.mjs';
import { bare, built, rival } from './workers.mjs';

/** What each brings into a page or a worker; the same bundler and minifier for all. */
export async function sizes() {
  const row = (name, code) => {
    const bytes = Buffer.from(code);
    const [minified, gzip] = [bytes, gzipSync(bytes, { level: 9 })].map(({ length }) => length.toLocaleString('en'));
    return [name, minified, gzip];
  };
  const columns = ['', 'minified', 'gzip'];
  const ours = fileURLToPath(built('fetch'));
  return {
    tables: [
      {
        about: 'Bytes of a worker that answers everything',
        columns,
        rows: [
          row('bare', bare()),
          row('steadfetch', await rival('steadfetch')),
          row('Workbox NetworkOnly', await rival('workbox')),
          row('Workbox Queue', await rival('workbox-queue')),
          row('Serwist NetworkOnly', await rival('serwist')),
        ],
      },
      {
        about: 'Bytes of a fetch that retries in a page',
        columns,
        rows: [
          row('steadfetch/fetch', await bundle(ours, { name: 'createRetryFetch' })),
          row('ky', await bundle('ky', { name: 'default' })),
          row('fetch-retry', await bundle('fetch-retry', { name: 'default' })),
          row('p-retry', await bundle('p-retry', { name: 'default' })),
        ],
      },
    ],
  };
}
