import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { expect, test, vi } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(root + path, 'utf8');
const manifest = JSON.parse(read('package.json'));

test('S31 three packages come with it, and they bring no others', () => {
  expect(Object.keys(manifest.dependencies).sort()).toEqual(['idb', 'workbox-core', 'workbox-routing']);
  expect(Object.keys(manifest).filter((name) => /^(peer|optional|bundle)d?Dependencies$/i.test(name))).toEqual([]);
  for (const name of Object.keys(manifest.dependencies)) {
    const { dependencies = {} } = JSON.parse(read(`node_modules/${name}/package.json`));
    const others = Object.keys(dependencies).filter((other) => !(other in manifest.dependencies));
    expect(others, name).toEqual([]);
  }
});

test('S31 nothing runs at its installation', () => {
  const atInstall = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];
  for (const name of ['', ...Object.keys(manifest.dependencies).map((one) => `node_modules/${one}/`)]) {
    const { scripts = {}, gypfile } = JSON.parse(read(`${name}package.json`));
    // What npm runs of a package that is installed from the registry; `prepare` is not among it, but of one from Git.
    expect(Object.keys(scripts).filter((script) => atInstall.includes(script) && name === '')).toEqual([]);
    expect(Object.keys(scripts).filter((script) => atInstall.slice(0, 3).includes(script))).toEqual([]);
    expect(gypfile).toBeUndefined();
  }
});

test('S31 every package that the lock file names has its sum', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { integrity?: string; link?: boolean }>;
  };
  const without = Object.entries(packages).filter(([path, { integrity, link }]) => path && !link && !integrity);
  expect(without.map(([path]) => path)).toEqual([]);
});

const ENTRIES = ['page', 'fetch', 'worker', 'workbox', 'policy', 'status', 'devtools', 'dropin'];

/** Nobody is asked for anything there: namespaces, pages and examples in messages, a base that patterns are read by. */
const NAMES_ONLY = /^https?:\/\/(?:www\.w3\.org|lit\.dev|mirror\.example|this\.origin)(?:\/|$)/;

test.each(ENTRIES)(
  'S32 the built %s evaluates no text as code, and names no host',
  async (mode) => {
    vi.stubEnv('NODE_ENV', 'production');
    const built = await build({
      root,
      configFile: `${root}vite.config.ts`,
      mode,
      logLevel: 'error',
      build: { write: false, sourcemap: false, license: false },
    });
    vi.unstubAllEnvs();
    const code = [built]
      .flat()
      .flatMap((one) => ('output' in one ? one.output : []))
      .map((chunk) => (chunk.type === 'chunk' ? chunk.code : ''))
      .join('\n');
    expect(code.length).toBeGreaterThan(1_000);
    // Comments are no code; a `//` in a URL is no comment.
    const bare = code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
    expect(bare).not.toMatch(
      /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(\s*["'`]|set(?:Timeout|Interval)\s*\(\s*["'`]/,
    );
    expect(bare).not.toMatch(/\bimportScripts\s*\(|\bimport\s*\(|\bdocument\.write\b/);
    const hosts = [...bare.matchAll(/https?:\/\/[\w.-]+[^\s"'`)]*/g)].map(([url]) => url);
    expect(hosts.filter((url) => !NAMES_ONLY.test(url))).toEqual([]);
  },
  60_000,
);

test('S32 nor does its source', () => {
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  expect(sources.length).toBeGreaterThan(100);
  const risky =
    /\beval\(|\bnew Function\b|\.innerHTML\b|\bunsafeHTML\b|\bunsafeSVG\b|document\.write|insertAdjacentHTML/;
  expect(sources.filter((path) => risky.test(read(`src/${path}`)))).toEqual([]);
});
