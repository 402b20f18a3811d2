// `npm run bench`: what the layer costs beside what others cost, all parts or those that are named
// (`npm run bench -- first-try cold`). `--quick`: does it run at all? `--write` puts the figures into docs/benchmarks.md.
// It holds nothing to any speed: the figures are this machine's. It fails only where something is lost or wrong.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ownArgs } from '../support/args.mjs';
import { PARTS } from './parts.mjs';
import { asTable } from './stats.mjs';

const page = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

const { names, quick, write } = readOwn();
for (const name of names) {
  const startedAt = performance.now();
  console.log(`== ${name}\n`);
  const { tables, chromium, wrong = [] } = await PARTS[name]({ quick });
  const text = tables.map(({ about, columns, rows }) => `${about}:\n\n${asTable(columns, rows)}`).join('\n\n');
  console.log(`${text}\n\n${machine(chromium)}, ${seconds(startedAt)}\n`);
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

function readOwn() {
  const { named, quick, write } = ownArgs('bench', { flags: ['quick', 'write'], names: Object.keys(PARTS) });
  if (quick && write) fail('--quick gives no figures to write; use one of the two');
  const names = named.length > 0 ? named : Object.keys(PARTS);
  const homeless = write && names.find((name) => !blockOf(name).test(readFileSync(page, 'utf8')));
  if (homeless) fail(`docs/benchmarks.md has no block for ${homeless}`);
  if (!existsSync(new URL('../../dist/dropin.js', import.meta.url))) fail('not built: dist; run `npm run build` first');
  return { names, quick, write };
}

function fail(problem) {
  console.error(`bench: ${problem}`);
  process.exit(1);
}
