// Finds a Chromium for the browser tests, or installs one. `node test/support/find-browser.mjs` prints what it found;
// `--skip=playwright,system` leaves sources out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/browser', import.meta.url));

// The newest one that still declares Node 20.
const npmPackage = { name: '@sparticuz/chromium', version: '143.0.4' };

/** Looks in this order; each source gives a browser, or `undefined` to go on with the next. */
const sources = { playwright: fromPlaywright, system: fromSystem, npm: fromNpm, apt: fromApt };

export async function findBrowser(options = {}) {
  const ports = { ...defaultPorts(), ...options };
  const { env, exists, skip = [], log } = ports;

  if (env.CHROME_PATH) {
    if (!exists(env.CHROME_PATH)) {
      throw new Error(
        `CHROME_PATH names a file that does not exist: ${env.CHROME_PATH}; correct it, or unset it to have a browser found`,
      );
    }
    return { executablePath: env.CHROME_PATH, env: {}, from: 'CHROME_PATH' };
  }

  const failures = [];
  for (const [name, find] of Object.entries(sources)) {
    if (skip.includes(name)) continue;
    try {
      const found = await find(ports);
      if (found) return { env: {}, ...found, from: name };
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
      log(`${name}: ${error.message}`);
    }
  }
  throw new Error(
    [
      'No Chromium found, and none could be installed. Do one of these:',
      '  - set CHROME_PATH to the executable of a Chromium, Chrome or Edge',
      '  - install one: npx playwright install chromium, or on Debian as root: apt-get install chromium',
      ...failures.map((failure) => `(tried ${failure})`),
    ].join('\n'),
  );
}

function defaultPorts() {
  return {
    env: process.env,
    platform: process.platform,
    arch: process.arch,
    isRoot: process.getuid?.() === 0,
    exists: existsSync,
    playwrightPath: async () => (await import('@playwright/test')).chromium.executablePath(),
    installFromNpm: () => installFromNpm(cacheDir),
    installByApt,
    log: (line) => console.error(`find-browser: ${line}`),
  };
}

async function fromPlaywright({ playwrightPath, exists }) {
  const executablePath = await playwrightPath();
  return exists(executablePath) ? { executablePath } : undefined;
}

function fromSystem({ platform, env, exists }) {
  const executablePath = systemPaths(platform, env).find((path) => exists(path));
  return executablePath ? { executablePath } : undefined;
}

async function fromNpm({ platform, arch, installFromNpm }) {
  return platform === 'linux' && arch === 'x64' ? await installFromNpm() : undefined;
}

async function fromApt(ports) {
  const { platform, isRoot, exists, installByApt } = ports;
  if (platform !== 'linux' || !isRoot || !exists('/usr/bin/apt-get')) return undefined;
  await installByApt();
  const found = fromSystem(ports);
  if (!found) throw new Error('apt-get install chromium succeeded, but there is no chromium where it should be');
  return found;
}

function systemPaths(platform, env) {
  if (platform === 'darwin') {
    const apps = ['Google Chrome', 'Chromium', 'Microsoft Edge'].map((app) => `${app}.app/Contents/MacOS/${app}`);
    return ['', env.HOME ?? ''].flatMap((home) => apps.map((app) => `${home}/Applications/${app}`));
  }
  if (platform === 'win32') {
    const apps = [
      'Google\\Chrome\\Application\\chrome.exe',
      'Chromium\\Application\\chrome.exe',
      'Microsoft\\Edge\\Application\\msedge.exe',
    ];
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter(Boolean);
    return roots.flatMap((root) => apps.map((app) => `${root}\\${app}`));
  }
  // The shell does all that the tests need, in a fraction of the time: the whole browser starts more with each context.
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  const folders = new Set([...(env.PATH ?? '').split(':').filter(Boolean), '/usr/bin', '/usr/local/bin', '/snap/bin']);
  return names.flatMap((name) => [...folders].map((folder) => `${folder}/${name}`));
}

async function installFromNpm(dir) {
  const unpacked = join(dir, `chromium-${npmPackage.version}`);
  const found = {
    executablePath: join(unpacked, 'chromium'),
    // A bare machine lacks NSS and NSPR; the package brings them, and they serve where the machine has its own too.
    env: { LD_LIBRARY_PATH: join(unpacked, 'lib') },
  };
  if (existsSync(unpacked)) return found;

  const spec = `${npmPackage.name}@${npmPackage.version}`;
  console.error(`find-browser: no Chromium on this machine, installing ${spec} from npm`);
  mkdirSync(dir, { recursive: true });
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', dir, spec]);

  // Unpacked beside its place and renamed into it, so that an interrupted run leaves no half of a browser behind.
  const partial = mkdtempSync(join(dir, 'unpacking-'));
  try {
    // The package unpacks into the temporary folder and takes whatever `chromium` lies there already, so it gets its own.
    const unpack = `import('${npmPackage.name}').then((module) => module.default.executablePath())`;
    run(process.execPath, ['-e', unpack], { cwd: dir, env: { ...process.env, TMPDIR: partial } });
    const libraries = readFileSync(join(dir, 'node_modules', npmPackage.name, 'bin/al2023.tar.br'));
    run('tar', ['x', '-C', partial], { input: brotliDecompressSync(libraries) });
    // Says now, not in the first test, if a library is still missing.
    run(join(partial, 'chromium'), ['--version'], { env: { ...process.env, LD_LIBRARY_PATH: join(partial, 'lib') } });
    renameSync(partial, unpacked);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return found;
}

function installByApt() {
  console.error('find-browser: installing chromium by apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-qq'], { env });
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env });
}

function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { input: '', maxBuffer: 2 ** 26, ...options });
  if (status === 0) return;
  const said = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').slice(-5).join(' ');
  throw new Error(`${command} ${args[0]} failed: ${error?.message ?? said}`);
}

if (process.argv[1] && realpathSync(resolve(process.argv[1])) === fileURLToPath(import.meta.url)) {
  const skip = process.argv.find((argument) => argument.startsWith('--skip='));
  try {
    console.log(await findBrowser({ skip: skip?.slice('--skip='.length).split(',') ?? [] }));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
