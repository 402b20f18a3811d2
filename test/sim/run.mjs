// `npm run sim`: the fleet in virtual time, held to what the guards were designed to achieve. Fixed seeds: the figures
// are the same on every machine. `--quick` takes a smaller sample.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const quick = process.argv.includes('--quick');
const unknown = process.argv.slice(2).find((argument) => argument !== '--quick');
if (unknown !== undefined) {
  console.error(`unknown option ${unknown}; use --quick or none`);
  process.exit(1);
}
const requests = quick ? 20_000 : 100_000;
/** Near the point where retries feed themselves a cell moves by this much from one small sample to the next. */
const slack = quick ? 1 : 0;

const report = fileURLToPath(new URL('report.ts', import.meta.url));
const { module } = await runnerImport(report, { configFile: false, logLevel: 'error' });

const startedAt = performance.now();
let [held, known, missed] = [0, 0, 0];
console.log(
  `At least ${requests} requests a cell; steadfetch (naive; classic); within ${1.5 + slack} points and 0.1 attempts\n`,
);
for (const rows of [module.cells(requests, slack), module.furtherRows(requests)]) {
  for (const row of rows) {
    const mark = row.ok ? '✓' : row.known ? '≈' : '✗';
    console.log(`${mark} ${row.name}: ${row.text}${mark === '≈' ? `\n    missed: ${row.known}` : ''}`);
    if (row.ok) held += 1;
    else if (row.known) known += 1;
    else missed += 1;
  }
}
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
console.log(`\n${held} held, ${known} missed as known, ${missed} missed, ${requests} requests a cell, ${seconds} s`);
process.exitCode = missed > 0 ? 1 : 0;
