import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterEach, expect, test, vi } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outDir = mkdtempSync(join(tmpdir(), 'steadfetch-'));

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(outDir, { recursive: true, force: true });
});

for (const [name, exported] of [
  ['status', 'SteadfetchStatus'],
  ['devtools', 'showDevtools'],
] as const) {
  test(`steadfetch/${name} can be imported where there are no elements`, async () => {
    // Lit has another build for development.
    vi.stubEnv('NODE_ENV', 'production');
    const options = { outDir, sourcemap: false, license: false } as const;
    await build({ root, configFile: `${root}vite.config.ts`, mode: name, logLevel: 'error', build: options });
    const script = `import(${JSON.stringify(join(outDir, `${name}.js`))}).then((all) => console.log(typeof all.${exported}))`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect([stdout.trim(), stderr.includes('Error')]).toEqual(['function', false]);
  }, 30_000);
}
