import { type ParseArgsConfig, parseArgs } from 'node:util';
import { VERSION } from '../protocol/index.js';
import { DROPIN, PAGE } from './contents.js';
import { check, init } from './init.js';
import { CommandError, type Surroundings } from './surroundings.js';

const USAGE = `Usage: steadfetch init <directory> [options]

Writes a service worker that is yours to edit (sw.js), and the script that it loads
(steadfetch.dropin.js), into the directory that your server serves. Nothing else is touched.
To be run again after each update of the package: what you have edited is kept.

Options:
  --base <path>    the path that the directory is served as (default: /)
  --worker <name>  the worker's file name (default: sw.js)
  --page           also writes steadfetch.page.js, the page side for pages without a bundler
  --check          writes nothing; exits with 1 if something is missing or of another version
  --force          writes anew what was edited, or what is not of steadfetch
  --version, --help`;

const OPTIONS = {
  base: { type: 'string', default: '/' },
  worker: { type: 'string', default: 'sw.js' },
  page: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const satisfies ParseArgsConfig['options'];

/** Carries out one command. Returns the exit code: 0 if the site has what it needs. */
export function main(args: readonly string[], around: Surroundings): number {
  try {
    const { values, positionals } = parse(args);
    if (values.version) around.print(VERSION);
    else if (values.help || args.length === 0) around.print(USAGE);
    else {
      const { base, worker, page, force } = values;
      const wanted = { directory: directoryIn(positionals), base: toBase(base), worker: toFileName(worker), page };
      return values.check ? check(wanted, around) : init({ ...wanted, force }, around);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    around.complain(`steadfetch: ${error.message}`);
    return 1;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [, unknown] = /^Unknown option '(.+?)'/.exec(String((error as Error).message)) ?? [];
    const there = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw new CommandError(
      unknown === undefined ? (error as Error).message : `there is no option ${unknown}; there are ${there.join(', ')}`,
    );
  }
}

function directoryIn([command, directory, ...more]: readonly string[]): string {
  if (command !== 'init') {
    throw new CommandError(
      command === undefined
        ? 'say what to do: `npx steadfetch init <directory>`'
        : `there is no command ${command}; there is \`npx steadfetch init <directory>\``,
    );
  }
  if (directory === undefined) {
    throw new CommandError('init needs the directory that your server serves: `npx steadfetch init public/`');
  }
  if (more.length > 0) throw new CommandError(`init takes one directory, got ${[directory, ...more].join(', ')}`);
  return directory;
}

function toBase(base: string): string {
  if (!/^\/(?!\/)[^?#\\]*$/.test(base)) {
    throw new CommandError(
      `--base must be a path from the root of the site, such as /app/, got ${base}; the scope of a worker has no query`,
    );
  }
  return base.endsWith('/') ? base : `${base}/`;
}

function toFileName(name: string): string {
  if (!/^[\w.-]+\.js$/.test(name)) {
    throw new CommandError(`--worker must be the name of a script without a directory, such as sw.js, got ${name}`);
  }
  if (name === DROPIN || name === PAGE) {
    throw new CommandError(`--worker must not be ${name}: that is a script that the worker or the page loads`);
  }
  return name;
}
