// `npm run test:engines`: every browser test in Firefox and WebKit, also those that `npm test` leaves out there. What follows
// `--` is Playwright's, such as `--project=webkit -g "part of a title"`.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npx', ['playwright', 'test', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, STEADFETCH_ENGINES: 'all' },
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
