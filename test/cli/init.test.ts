import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { VERSION } from '../../src/protocol/version.ts';
import { createSite, type TestSite } from './command.ts';

let site: TestSite;
beforeEach(() => {
  site = createSite();
});

/** What an earlier version would have written. */
const older = (text: string) => text.replace(`steadfetch ${VERSION}`, 'steadfetch 0.0.1');

describe('the first time', () => {
  test('S33 a worker and the drop-in are written, and nothing else', () => {
    const { code, printed, complaints } = site.run('init', 'public/');
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    expect(site.files()).toEqual(['steadfetch.dropin.js', 'sw.js']);
    expect(readdirSync(site.root)).toEqual(['public']);
    expect(printed).toContain("connect('/sw.js')");
    expect(printed).toContain("from 'steadfetch'");
  });

  test('both carry the version; the map that stays in the package is not named', () => {
    site.run('init', 'public/');
    expect(site.read('sw.js').split('\n')[0]).toContain(`steadfetch ${VERSION}`);
    expect(site.read('steadfetch.dropin.js')).toMatch(
      new RegExp(`^/\\*! steadfetch ${VERSION} .*\\nvar steadfetch = {};\\n$`),
    );
  });

  test('the worker is a few lines that load the drop-in beside it', () => {
    site.run('init', 'public/');
    expect(site.read('sw.js').split('\n').length).toBeLessThan(12);
    const calls: unknown[] = [];
    const layer = { createRetryLayer: (options: unknown) => ({ listen: () => calls.push(options) }) };
    new Function('importScripts', 'steadfetch', site.read('sw.js'))((url: string) => calls.push(url), layer);
    expect(calls).toEqual(['steadfetch.dropin.js', {}]);
  });

  test('with --page the page side is there too, and said how to load', () => {
    const { printed } = site.run('init', 'public/', '--page');
    expect(site.files()).toEqual(['steadfetch.dropin.js', 'steadfetch.page.js', 'sw.js']);
    expect(printed).toContain("from '/steadfetch.page.js'");
  });

  test.each(['/app/', '/app'])('under %s the scope, and the header for a larger one, are said', (base) => {
    const { printed } = site.run('init', 'public/', '--base', base, '--page');
    expect(printed).toContain('/app/sw.js, the worker controls /app/');
    expect(printed).toContain('Service-Worker-Allowed: /');
    expect(printed).toContain("from '/app/steadfetch.page.js'");
    expect(printed).toContain("connect('/app/sw.js')");
  });

  test('what to run is said as a shell takes it', () => {
    mkdirSync(join(site.root, 'my site'));
    const { complaints } = site.run('init', 'my site', '--base', '/my app/', '--check');
    expect(complaints).toContain('npx steadfetch init "my site" --base "/my app/"');
  });

  test.each(['steadfetch.dropin.js', 'steadfetch.page.js'])('the worker is not written where %s belongs', (name) => {
    const { code, complaints } = site.run('init', 'public/', '--worker', name, '--page');
    expect([code, site.files()]).toEqual([1, []]);
    expect(complaints).toContain(`--worker must not be ${name}`);
  });

  test('the worker may have another name', () => {
    const { printed } = site.run('init', 'public/', '--worker', 'service-worker.js');
    expect(site.files()).toEqual(['service-worker.js', 'steadfetch.dropin.js']);
    expect(printed).toContain("connect('/service-worker.js')");
  });
});

describe('the next time', () => {
  test('nothing is to be done', () => {
    site.run('init', 'public/');
    const { code, printed } = site.run('init', 'public/');
    expect(code).toBe(0);
    expect(printed).toContain('sw.js: up to date');
  });

  test('after an update of the package, what nobody has edited is brought up to date', () => {
    site.run('init', 'public/', '--page');
    const names = site.files();
    const texts = names.map((name) => site.read(name));
    for (const name of names) site.write(name, older(site.read(name)));
    // The page side is kept up with though it is not asked for again.
    const { code, printed } = site.run('init', 'public/');
    expect(code).toBe(0);
    expect(printed).toContain("from '/steadfetch.page.js'");
    expect(names.map((name) => site.read(name))).toEqual(texts);
  });

  test('a worker that was edited is kept, and said how to have it anew; the drop-in is updated', () => {
    site.run('init', 'public/');
    const dropin = site.read('steadfetch.dropin.js');
    const edited = older(site.read('sw.js')).replace('// routes', 'routes');
    site.write('sw.js', edited);
    site.write('steadfetch.dropin.js', older(dropin));
    const { code, printed } = site.run('init', 'public/');
    expect(code).toBe(0);
    expect(printed).toMatch(/sw\.js: left as you have edited it .*--force/);
    expect(site.read('sw.js')).toBe(edited);
    expect(site.read('steadfetch.dropin.js')).toBe(dropin);
    site.run('init', 'public/', '--force');
    expect(site.read('sw.js')).not.toBe(edited);
  });

  test('line ends that Git has changed are no edits', () => {
    site.run('init', 'public/');
    for (const name of site.files()) site.write(name, site.read(name).replaceAll('\n', '\r\n'));
    expect(site.run('init', 'public/', '--check').code).toBe(0);
    site.write('sw.js', older(site.read('sw.js')));
    expect(site.run('init', 'public/').printed).toContain('sw.js: updated');
  });

  test('S33 a worker of one’s own is left alone, with the lines to put into it', () => {
    site.write('sw.js', "// importScripts('steadfetch.dropin.js')\nself.onfetch = () => {};\n");
    const { code, complaints } = site.run('init', 'public/');
    expect(code).toBe(1);
    expect(complaints).toContain("importScripts('steadfetch.dropin.js');");
    expect(complaints).toContain('npx steadfetch init public/ --force');
    expect(site.read('sw.js')).toContain('self.onfetch');
    // The drop-in that these lines load is there.
    expect(site.files()).toEqual(['steadfetch.dropin.js', 'sw.js']);
    site.write('sw.js', "importScripts('/steadfetch.dropin.js');\nself.onfetch = () => {};\n");
    expect(site.run('init', 'public/').code).toBe(0);
    expect(site.run('init', 'public/', '--check').code).toBe(0);
  });

  test.each([
    { worker: "self.onfetch = () => {}; // importScripts('steadfetch.dropin.js')\n", loads: false },
    { worker: "const at = 'https://app.test'; /* importScripts('steadfetch.dropin.js') */\n", loads: false },
    { worker: "const all = '/static/*';\nimportScripts('steadfetch.dropin.js'); /* first */\n", loads: true },
    { worker: 'const from = `//cdn`; importScripts("steadfetch.dropin.js");\n', loads: true },
  ])('what is a comment in a worker and what is not is told apart: $worker', ({ worker, loads }) => {
    site.run('init', 'public/');
    site.write('sw.js', worker);
    expect(site.run('init', 'public/', '--check').code).toBe(loads ? 0 : 1);
  });

  test('S33 somebody else’s file in the place of the drop-in: nothing is written', () => {
    site.write('steadfetch.dropin.js', 'theirs');
    const { code, complaints } = site.run('init', 'public/');
    expect(code).toBe(1);
    expect(complaints).toContain('move it away, or: npx steadfetch init public/ --force');
    expect(site.files()).toEqual(['steadfetch.dropin.js']);
    expect(site.run('init', 'public/', '--force').code).toBe(0);
    expect(site.read('steadfetch.dropin.js')).toContain(VERSION);
  });
});

describe('--check', () => {
  test('is content with what init has written, edited or not, and writes nothing', () => {
    site.run('init', 'public/', '--page');
    site.write('sw.js', `${site.read('sw.js')}// mine\n`);
    expect(site.run('init', 'public/', '--check')).toMatchObject({ code: 0, complaints: '' });
    const bare = createSite();
    expect(bare.run('init', 'public/', '--check').code).toBe(1);
    expect(bare.files()).toEqual([]);
  });

  test('says what is missing or old, and what to run', () => {
    expect(site.run('init', 'public/', '--check', '--base', '/app/', '--page').complaints.split('\n')).toEqual([
      'public/sw.js: missing',
      'public/steadfetch.dropin.js: missing',
      'public/steadfetch.page.js: missing',
      'run: npx steadfetch init public/ --base /app/ --page',
    ]);
    site.run('init', 'public/');
    for (const name of site.files()) site.write(name, older(site.read(name)));
    expect(site.run('init', 'public/', '--check')).toMatchObject({
      code: 1,
      complaints: [
        `public/sw.js: not of ${VERSION}`,
        `public/steadfetch.dropin.js: of 0.0.1, not ${VERSION}`,
        'run: npx steadfetch init public/',
      ].join('\n'),
    });
  });

  test('sees a drop-in that was changed, and a worker that does not load it', () => {
    site.run('init', 'public/');
    site.write('steadfetch.dropin.js', `${site.read('steadfetch.dropin.js')}x`);
    site.write('sw.js', 'self.onfetch = () => {};');
    expect(site.run('init', 'public/', '--check').complaints).toMatch(/sw\.js: does not load.*\n.*not as .* wrote it/);
  });
});

describe('what cannot be done is said', () => {
  test.each([
    [['init'], /init needs the directory/],
    [['init', 'nowhere/'], /no directory nowhere\/ \(in .*make it first/],
    [['init', 'public/', 'more'], /takes one directory, got public\/, more/],
    [['init', 'public/', '--bse', '/app/'], /no option --bse; there are --base, --worker/],
    [['init', 'public/', '--base', 'app'], /--base must be a path from the root/],
    [['init', 'public/', '--base', '//other.example/'], /--base must be a path from the root/],
    [['init', 'public/', '--base', '/a?b'], /--base must be a path from the root/],
    [['init', 'public/', '--worker', '../sw.js'], /--worker must be the name of a script/],
    [['init', 'public/', '--worker'], /--worker/],
    [['update'], /no command update; there is `npx steadfetch init/],
    [['--check'], /say what to do/],
  ])('%j', (args, complaint) => {
    const { code, complaints } = site.run(...args);
    expect(code).toBe(1);
    expect(complaints).toMatch(complaint);
    expect(complaints).toMatch(/^steadfetch: /);
    expect(site.files()).toEqual([]);
  });

  test('a file in the place of the directory', () => {
    site.write('sw.js', '');
    expect(site.run('init', 'public/sw.js').complaints).toContain('is a file');
  });

  test('a directory in the place of the worker', () => {
    mkdirSync(join(site.root, 'public', 'sw.js'));
    expect(site.run('init', 'public/').complaints).toMatch(/sw\.js cannot be read \(EISDIR\)/);
  });

  test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('a directory that may not be written', () => {
    chmodSync(join(site.root, 'public'), 0o555);
    expect(site.run('init', 'public/').complaints).toMatch(/cannot be written \(EACCES\); check who may write/);
  });
});

test('the version and the help are printed on request, the help also without any', () => {
  expect(site.run('--version')).toMatchObject({ code: 0, printed: VERSION });
  for (const args of [['--help'], ['-h'], []]) expect(site.run(...args).printed).toMatch(/^Usage: steadfetch init/);
});
