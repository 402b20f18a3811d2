// `npm run docs`: writes what is generated of the documentation anew, and looks whether every link leads somewhere.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { ownArgs } from '../support/args.mjs';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const load = async (path) => (await runnerImport(inRepo(path), { configFile: false, logLevel: 'error' })).module;
const { PAGES, pageAnew, readPage } = await load('test/docs/pages.ts');
const { deadLinks } = await load('test/docs/links.ts');

ownArgs('docs');
let links = 0;
for (const path of PAGES) {
  const page = pageAnew(path);
  const isNew = page !== readPage(path);
  if (isNew) writeFileSync(inRepo(path), page);
  console.log(`${path}: ${isNew ? 'written' : 'up to date'}`);
  for (const dead of deadLinks(path, page)) {
    console.error(`✗ ${dead}`);
    process.exitCode = 1;
  }
  links += (page.match(/\]\(/g) ?? []).length;
}
console.log(`${PAGES.length} pages, ${links} links${process.exitCode ? '' : ', all of which lead somewhere'}`);
