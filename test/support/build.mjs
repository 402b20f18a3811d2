import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// `npm run build`: each entry alone (vite.config.ts says why), then the types.
const root = fileURLToPath(new URL('../..', import.meta.url));
// Whatever the shell says: Lit has another build for development, which is larger and warns.
const env = { ...process.env, NODE_ENV: 'production' };
rmSync(`${root}dist`, { recursive: true, force: true });
for (const command of [
  ...['page', 'fetch', 'worker', 'workbox', 'policy', 'status', 'devtools', 'sim', 'dropin', 'cli'].map((mode) => [
    'vite',
    'build',
    '--logLevel',
    'warn',
    '--mode',
    mode,
  ]),
  ['tsc', '-b', '--force'],
]) {
  const { status } = spawnSync('npx', ['--no-install', ...command], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
