// `npm run test:engines`: the browser tests in Firefox and WebKit, also those that take too long for `npm test`. `--all`: those as
// well that are not known to be green there. Whatever else follows `--` is Playwright's, such as `--project=webkit -g "part of a title"`.
import { spawnSync } from 'node:child_process';

const given = process.argv.slice(2);
const all = given.includes('--all');
const engines = given.some((arg) => arg.startsWith('--project')) ? [] : ['--project=firefox', '--project=webkit'];
const { status } = spawnSync('npx', ['playwright', 'test', ...engines, ...given.filter((arg) => arg !== '--all')], {
  stdio: 'inherit',
  env: { ...process.env, STEADFETCH_ENGINES: all ? 'all' : 'green' },
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
