// `npm run bench`: what the layer costs beside what others cost, all parts or those that are named
// (`npm run bench -- first-try cold`). `--quick`: does it run at all? `--write` puts the figures into docs/benchmarks.md.
// It holds nothing to any speed: the figures are this machine's. It fails only where something is lost or wrong.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { PARTS } from './parts.mjs';
import { asTable } from './stats.mjs';

const page = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

const { names, quick, write } = readArgs(process.argv.slice(2));
for (const name of names) {
  const startedAt = performance.now();
  const { tables, chromium, wrong = [] } = await PARTS[name]({ quick });
  const text = tables.map(({ about, columns, rows }) => `${about}:\n\n${asTable(columns, rows)}`).join('\n\n');
  console.log(`== ${name}\n\n${text}\n\n${machine(chromium)}, ${seconds(startedAt)}\n`);
  for (const problem of wrong) console.error(`✗ ${name}: ${problem}`);
  if (wrong.length > 0) process.exitCode = 1;
  else if (write) writePart(name, `${text}\n\n_${machine(chromium)}._`);
}

function machine(chromium) {
  const [{ model }] = cpus();
  const what = `${cpus().length} × ${model.trim()}, load ${loadavg()[0].toFixed(1)}`;
  return `${new Date().toISOString().slice(0, 10)}, ${what}, Node ${process.versions.node}${chromium ? `, Chromium ${chromium}` : ''}`;
}

function seconds(startedAt) {
  return `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`;
}

function blockOf(name) {
  return new RegExp(`(<!-- bench: ${name} -->\n).*?(<!-- /bench -->)`, 's');
}

function writePart(name, text) {
  const written = readFileSync(page, 'utf8').replace(blockOf(name), (_, head, tail) => `${head}\n${text}\n\n${tail}`);
  writeFileSync(page, written);
}

function readArgs(args) {
  const options = args.filter((arg) => arg.startsWith('--'));
  const named = args.filter((arg) => !arg.startsWith('--'));
  const unknown = options.find((option) => option !== '--quick' && option !== '--write');
  if (unknown) fail(`unknown option ${unknown}; use --quick, --write, or none`);
  const missing = named.find((name) => !Object.hasOwn(PARTS, name));
  if (missing) fail(`unknown part ${missing}; there are ${Object.keys(PARTS).join(', ')}`);
  const [quick, write] = ['--quick', '--write'].map((option) => options.includes(option));
  if (quick && write) fail('--quick gives no figures to write');
  const names = named.length > 0 ? named : Object.keys(PARTS);
  const homeless = write && names.find((name) => !blockOf(name).test(readFileSync(page, 'utf8')));
  if (homeless) fail(`docs/benchmarks.md has no block for ${homeless}`);
  return { names, quick, write };
}

function fail(problem) {
  console.error(`bench: ${problem}`);
  process.exit(1);
}
