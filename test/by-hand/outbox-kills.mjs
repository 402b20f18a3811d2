// `npm run outbox:kills`: the worker is stopped at each step of a delivery, 20 times with 50 entries each; `-- 5x10` for
// other numbers. What the browser tests do twice with 10, and it takes minutes.
import { spawnSync } from 'node:child_process';

const [asked = '20x50'] = process.argv.slice(2);
if (!/^[1-9]\d*x[1-9]\d*$/.test(asked)) {
  console.error(`outbox-kills: give it times and entries, such as 20x50, got ${asked}`);
  process.exit(1);
}
const { status } = spawnSync('npx', ['playwright', 'test', 'test/browser/outbox-kills.spec.ts', '--reporter=list'], {
  stdio: 'inherit',
  env: { ...process.env, STEADFETCH_KILLS: asked },
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
