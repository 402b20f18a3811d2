// `npm run test:engines`: the browser tests in Firefox and WebKit, also those that take too long for `npm test`. `--all`: those as
// well that are not known to be green there. Whatever else follows `--` is Playwright's, such as `--project=webkit -g "part of a title"`.
import { spawnSync } from 'node:child_process';
import { ENGINES } from '../../facts/engines.mjs';

const engines = ENGINES.filter(({ name }) => name !== 'chromium');
const given = process.argv.slice(2);
const all = given.includes('--all');
const isChosen = given.some((arg) => arg.startsWith('--project'));
const found = engines.filter(({ find }) => find() !== undefined);
for (const { name, remedy } of engines.filter((engine) => !found.includes(engine))) {
  console.error(`test:engines: no ${name} found, so nothing is tested in it: ${remedy}`);
}
if (found.length === 0) process.exit(1);

const projects = isChosen ? [] : found.map(({ name }) => `--project=${name}`);
const { status } = spawnSync('npx', ['playwright', 'test', ...projects, ...given.filter((arg) => arg !== '--all')], {
  stdio: 'inherit',
  env: { ...process.env, STEADFETCH_ENGINES: all ? 'all' : 'green' },
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
