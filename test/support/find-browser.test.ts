import { expect, test } from 'vitest';
import { type FindBrowserOptions, findBrowser } from './find-browser.mjs';

const playwrightsOwn = '/cache/playwright/chrome';
const npmsOwn = { executablePath: '/cache/npm/chromium', env: { LD_LIBRARY_PATH: '/cache/npm/lib' } };

/** A Linux machine that has these files and nothing else; installing fails unless it is said what it brings. */
function machine(files: readonly string[], more: FindBrowserOptions = {}): FindBrowserOptions {
  return {
    env: { PATH: '/usr/bin' },
    platform: 'linux',
    arch: 'x64',
    isRoot: false,
    exists: (path) => files.includes(path),
    playwrightPath: () => playwrightsOwn,
    installFromNpm: () => {
      throw new Error('no network');
    },
    installByApt: () => {
      throw new Error('no archive');
    },
    log: () => {},
    ...more,
  };
}

test('CHROME_PATH comes before everything else', async () => {
  const options = machine(['/my/chrome', playwrightsOwn, '/usr/bin/chromium'], { env: { CHROME_PATH: '/my/chrome' } });
  expect(await findBrowser(options)).toEqual({ executablePath: '/my/chrome', env: {}, from: 'CHROME_PATH' });
});

test('CHROME_PATH that names no file is an error, not a reason to look elsewhere', async () => {
  const options = machine(['/usr/bin/chromium'], { env: { CHROME_PATH: '/my/chrome' } });
  await expect(findBrowser(options)).rejects.toThrow('CHROME_PATH names a file that does not exist: /my/chrome');
});

test("Playwright's own build comes before the system's", async () => {
  expect(await findBrowser(machine([playwrightsOwn, '/usr/bin/chromium']))).toEqual({
    executablePath: playwrightsOwn,
    env: {},
    from: 'playwright',
  });
});

test.each([
  { platform: 'linux', env: { PATH: '/opt/bin:/usr/bin' }, path: '/opt/bin/google-chrome' },
  { platform: 'linux', env: {}, path: '/usr/bin/chromium' },
  { platform: 'linux', env: {}, path: '/usr/bin/chromium-headless-shell' },
  { platform: 'linux', env: {}, path: '/snap/bin/chromium' },
  { platform: 'darwin', env: {}, path: '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' },
  {
    platform: 'darwin',
    env: { HOME: '/Users/me' },
    path: '/Users/me/Applications/Chromium.app/Contents/MacOS/Chromium',
  },
  {
    platform: 'win32',
    env: { PROGRAMFILES: 'C:\\Program Files' },
    path: 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  },
  {
    platform: 'win32',
    env: { LOCALAPPDATA: 'C:\\Users\\me\\AppData\\Local' },
    path: 'C:\\Users\\me\\AppData\\Local\\Google\\Chrome\\Application\\chrome.exe',
  },
])('$platform: finds $path', async ({ platform, env, path }) => {
  const found = await findBrowser(machine([path], { platform, env }));
  expect(found).toEqual({ executablePath: path, env: {}, from: 'system' });
});

test('the headless shell comes before the whole browser', async () => {
  const options = machine(['/usr/bin/chromium', '/usr/bin/chromium-headless-shell']);
  expect((await findBrowser(options)).executablePath).toBe('/usr/bin/chromium-headless-shell');
});

test("the system's comes before one from npm, and before apt-get", async () => {
  const options = machine(['/usr/bin/chromium', '/usr/bin/apt-get'], { isRoot: true, installFromNpm: () => npmsOwn });
  expect((await findBrowser(options)).from).toBe('system');
});

test('one from npm comes before apt-get, and with its libraries', async () => {
  const options = machine(['/usr/bin/apt-get'], { isRoot: true, installFromNpm: () => npmsOwn });
  expect(await findBrowser(options)).toEqual({ ...npmsOwn, from: 'npm' });
});

test.each([
  { platform: 'linux', arch: 'arm64' },
  { platform: 'darwin', arch: 'x64' },
])('the one from npm is not tried on $platform $arch', async ({ platform, arch }) => {
  const options = machine([], { platform, arch, installFromNpm: () => npmsOwn });
  await expect(findBrowser(options)).rejects.toThrow('No Chromium found');
});

test('apt-get is used where npm fails, and what it brought is found', async () => {
  const files = ['/usr/bin/apt-get'];
  const options = machine(files, { isRoot: true, installByApt: () => void files.push('/usr/bin/chromium') });
  expect(await findBrowser(options)).toEqual({ executablePath: '/usr/bin/chromium', env: {}, from: 'apt' });
});

test.each([
  { isRoot: false, files: ['/usr/bin/apt-get'] },
  { isRoot: true, files: [] },
])('apt-get is not tried with isRoot $isRoot and $files', async ({ isRoot, files }) => {
  let tried = false;
  const installByApt = () => {
    tried = true;
  };
  await expect(findBrowser(machine(files, { isRoot, installByApt }))).rejects.toThrow();
  expect(tried).toBe(false);
});

test('with nothing to be had, the error says what to do and what was tried', async () => {
  const failure = findBrowser(machine(['/usr/bin/apt-get'], { isRoot: true }));
  await expect(failure).rejects.toThrow(
    /CHROME_PATH.*npx playwright install chromium.*npm: no network.*apt: no archive/s,
  );
});

test('a skipped source is not asked', async () => {
  const options = machine([playwrightsOwn, '/usr/bin/chromium'], { skip: ['playwright'] });
  expect((await findBrowser(options)).from).toBe('system');
});
