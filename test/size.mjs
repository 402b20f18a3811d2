// What each entry adds to an app, after `npm run build`: everything it exports, bundled with its dependencies and
// minified as an app would. `--check` holds it to size-limits.json and to the README's table, `--write` rewrites both.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { bundle } from './support/bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const limitsFile = `${root}/test/size-limits.json`;
const readmeFile = `${root}/README.md`;

const entries = {
  steadfetch: 'dist/page.js',
  'steadfetch/fetch': 'dist/fetch.js',
  'steadfetch/worker': 'dist/worker.js',
  'steadfetch/workbox': 'dist/workbox.js',
  'steadfetch/policy': 'dist/policy.js',
  'steadfetch/status': 'dist/status.js',
  'steadfetch/devtools': 'dist/devtools.js',
  'steadfetch/sim': 'dist/sim.js',
  'steadfetch/dropin.js': 'dist/dropin.js',
};

/** What is left of an entry if an app imports one name of it: the rest has to fall away. */
const parts = {
  steadfetch: ['withRetry'],
  'steadfetch/fetch': ['retry'],
  'steadfetch/policy': ['parseRetryAfter', 'presets', 'delayMs', 'decide'],
};

const mode = process.argv[2];
if (mode !== undefined && mode !== '--check' && mode !== '--write') {
  fail([`unknown option ${mode}; use --check, --write, or none`]);
}

const missing = Object.values(entries).filter((file) => !existsSync(`${root}/${file}`));
if (missing.length > 0) fail([`not built: ${missing.join(', ')}; run \`npm run build\` first`]);

/** The README's first sentence promises the whole of what a page's worker has to load. */
const PROMISED = 'steadfetch/dropin.js';
const PROMISE = /\*\*[\d,]+ bytes\*\*/;

/** What a worker's script is made of. */
const WORKERS = ['steadfetch/worker', 'steadfetch/workbox', 'steadfetch/dropin.js'];

const sizes = {};
/** The first character of each that is not ASCII. */
const wide = {};
for (const [entry, file] of Object.entries(entries)) {
  const path = `${root}/${file}`;
  const code = entry === 'steadfetch/dropin.js' ? readFileSync(path, 'utf8') : await bundle(path);
  sizes[entry] = measure(code);
  if (WORKERS.includes(entry)) wide[entry] = code.match(/[^\p{ASCII}]/u)?.[0];
}
console.log(asTable(sizes, withCommas));

const partSizes = {};
for (const [entry, names] of Object.entries(parts)) {
  for (const name of names)
    partSizes[`${entry} { ${name} }`] = measure(await bundle(`${root}/${entries[entry]}`, { name }));
}
console.log(`\n${asTable(partSizes, withCommas)}`);

if (mode === '--check') {
  const faults = [...overLimit(), ...wideFaults(), ...readmeFaults()];
  if (faults.length > 0) fail(faults);
}
if (mode === '--write') {
  writeLimits();
  writeReadme();
}

function measure(code) {
  const bytes = Buffer.from(code);
  return {
    minified: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  };
}

/** One such character, and the browser keeps and reads the whole script as two bytes for each: at every start. */
function wideFaults() {
  return Object.entries(wide).flatMap(([entry, character]) =>
    character ? [`${entry} has a ${character}; write it in ASCII: a worker starts sooner without`] : [],
  );
}

function overLimit() {
  const limits = readLimits();
  return Object.entries({ ...sizes, ...partSizes }).flatMap(([entry, { gzip }]) => {
    const limit = limits[entry];
    if (limit === undefined)
      return [`${entry} has no limit in test/size-limits.json; \`npm run size -- --write\` sets it`];
    if (gzip <= limit) return [];
    return [
      `${entry} has ${gzip} bytes (gzip), its limit is ${limit}; make it smaller, or raise the limit in a commit that says why`,
    ];
  });
}

function readmeFaults() {
  if (!existsSync(readmeFile)) return ['README.md does not exist yet, so it cannot hold the sizes'];
  const { before, table } = splitReadme();
  if (table === undefined)
    return ['README.md has no lines `<!-- sizes -->` and `<!-- /sizes -->` for the table of sizes'];
  const rows = new Map(table.split('\n').map((line) => [line.match(/`([^`]+)`/)?.[1], figuresIn(line)]));
  return Object.entries(sizes).flatMap(([entry, size]) => {
    const stated = rows.get(entry);
    // Another build of zlib packs a few bytes differently, which may be just over a rounding border.
    const same = stated && Object.values(size).every((bytes, index) => Math.abs(stated[index] - bytes) < 100);
    const promised = entry !== PROMISED || Math.abs(figuresIn(before.match(PROMISE)?.[0] ?? '')[0] - size.gzip) < 100;
    if (same && promised) return [];
    return [`README.md does not hold the sizes of ${entry}; \`npm run size -- --write\` puts them in`];
  });
}

function figuresIn(line) {
  return [...line.matchAll(/(?<=[ *])[\d,]+(?=[ *])/g)].map(([figure]) => Number(figure.replaceAll(',', '')));
}

function writeLimits() {
  const limits = Object.fromEntries(
    Object.entries({ ...sizes, ...partSizes }).map(([entry, { gzip }]) => [entry, Math.ceil(gzip * 1.02)]),
  );
  writeFileSync(limitsFile, `${JSON.stringify(limits, null, 2)}\n`);
  console.log('test/size-limits.json: written, 2 % above these sizes (gzip)');
}

function writeReadme() {
  if (!existsSync(readmeFile)) return console.log('README.md: does not exist yet, not written');
  const { before, table, after } = splitReadme();
  if (table === undefined)
    return fail(['README.md has no lines `<!-- sizes -->` and `<!-- /sizes -->` to write between']);
  const promise = before.replace(PROMISE, `**${withCommas(sizes[PROMISED].gzip)} bytes**`);
  writeFileSync(readmeFile, `${promise}\n${asTable(sizes, withCommas)}\n${after}`);
  console.log('README.md: sizes written');
}

function withCommas(bytes) {
  return bytes.toLocaleString('en');
}

function splitReadme() {
  const text = readFileSync(readmeFile, 'utf8');
  const [, before, table, after] = text.match(/^(.*<!-- sizes -->)(.*)(<!-- \/sizes -->.*)$/s) ?? [];
  return { before, table, after };
}

function readLimits() {
  return existsSync(limitsFile) ? JSON.parse(readFileSync(limitsFile, 'utf8')) : {};
}

function asTable(rows, show) {
  const cells = [
    ['import', 'minified', 'gzip', 'brotli'],
    ...Object.entries(rows).map(([entry, size]) => [`\`${entry}\``, ...Object.values(size).map(show)]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [heading, ...lines] = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))),
  );
  return [heading, rule, ...lines].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function fail(faults) {
  for (const fault of faults) console.error(`size: ${fault}`);
  process.exit(1);
}
