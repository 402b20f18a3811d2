// `npm run cases:table`: writes docs/cases.md, which says of each case from outside where it is shown, or why it is not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const { module } = await runnerImport(inRepo('test/cases/table.ts'), { configFile: false, logLevel: 'error' });
mkdirSync(inRepo('docs'), { recursive: true });
writeFileSync(inRepo('docs/cases.md'), module.toPage(module.readCases()));
