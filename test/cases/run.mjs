// `npm run cases`: a table of cases, one JSON row a line, against the real engine in virtual time.
// `npm run cases -- FILE.jsonl` runs another table of the same form.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [given, ...more] = process.argv.slice(2);
if (given?.startsWith('-') || more.length > 0) {
  const isAsked = given === '--help' || given === '-h';
  (isAsked ? console.log : console.error)(
    'usage: npm run cases [-- FILE.jsonl]\nOne row a line, of the form of `Row` in test/cases/row.ts; without a FILE our own table, test/cases/peer-cases.jsonl.',
  );
  process.exit(isAsked ? 0 : 1);
}
// npm runs scripts in the package's own folder, wherever it was called from.
const file =
  given === undefined
    ? fileURLToPath(new URL('peer-cases.jsonl', import.meta.url))
    : resolve(process.env.INIT_CWD ?? '.', given);
let table;
try {
  table = readFileSync(file, 'utf8');
} catch (error) {
  console.error(`${file} cannot be read: ${error.message}`);
  process.exit(1);
}

const entry = fileURLToPath(new URL('report.ts', import.meta.url));
const { module } = await runnerImport(entry, { configFile: false, logLevel: 'error' });
process.exitCode = (await module.report(table, console.log, { isForeign: given !== undefined })) ? 0 : 1;
