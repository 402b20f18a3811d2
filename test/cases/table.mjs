// `npm run cases:table`: writes docs/cases.md, which says of each case from outside where it is shown, or why it is not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const { module } = await runnerImport(inRepo('test/cases/table.ts'), { configFile: false, logLevel: 'error' });
mkdirSync(inRepo('docs'), { recursive: true });
const cases = module.readCases();
writeFileSync(inRepo('docs/cases.md'), module.toPage(cases));
const missing = [...cases.rows, ...cases.faults, ...cases.peers].filter(module.isMissing);
for (const { id } of missing)
  console.log(`✗ ${id} has no test of its name, and no reason why not (test/cases/otherwise.ts)`);
const { rows, faults, peers } = cases;
console.log(
  `docs/cases.md is written: ${rows.length} rows, ${faults.length} faults, ${peers.length} cases of others’ tests`,
);
process.exitCode = missing.length > 0 ? 1 : 0;
