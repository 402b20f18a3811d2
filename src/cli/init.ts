import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { VERSION } from '../protocol/index.js';
import { asWritten, copyText, DROPIN, inspectWorker, PAGE, versionOf, WORKER_LINES, workerText } from './contents.js';
import { CommandError, type Surroundings } from './surroundings.js';

/** What a site is to have. */
export interface Wanted {
  readonly directory: string;
  /** The path that the directory is served as; it ends with a slash. */
  readonly base: string;
  readonly worker: string;
  readonly page: boolean;
}

/** What is to become of one file. */
interface Plan {
  readonly name: string;
  /** As it is to be; absent if it is left alone. */
  readonly text?: string;
  readonly says: string;
  /** What is the matter with the file as it is; absent if it is as it should be. */
  readonly fault?: string;
  /** Why it may not be written. */
  readonly refusal?: string;
}

/** Writes what is missing, old or not edited, all of it or, where something of somebody else is in the way, nothing. */
export function init({ force, ...asked }: Wanted & { readonly force: boolean }, around: Surroundings): number {
  const target = existing(asked.directory, around.cwd);
  const wanted = withPage(asked, target);
  const plans = planAll(wanted, target, around, force);
  const refusals = plans.flatMap(({ refusal }) => refusal ?? []);
  if (refusals.length > 0) throw new CommandError(refusals.join('\nsteadfetch: '));

  around.print(`steadfetch ${VERSION}`);
  for (const { name, text, says } of plans) {
    if (text !== undefined) write(join(target, name), text);
    around.print(`  ${join(wanted.directory, name)}: ${says}`);
  }
  const worker = plans.find(({ name }) => name === wanted.worker);
  if (worker?.fault !== undefined && worker.text === undefined) {
    around.complain(
      `\n${wanted.worker} is a worker of your own and was left alone. Put this before its own fetch listeners:\n\n  ${WORKER_LINES.join('\n  ')}\n\nor have it written anew: ${command(wanted)} --force`,
    );
    return 1;
  }
  around.print(`\n${directions(wanted)}`);
  return 0;
}

/** Says what is missing or of another version, and what to run. */
export function check(asked: Wanted, around: Surroundings): number {
  const target = existing(asked.directory, around.cwd);
  const wanted = withPage(asked, target);
  const faults = planAll(wanted, target, around, false).flatMap(({ name, fault }) => (fault ? [{ name, fault }] : []));
  if (faults.length === 0) {
    around.print(`steadfetch ${VERSION}: ${wanted.directory} has it`);
    return 0;
  }
  for (const { name, fault } of faults) around.complain(`${join(wanted.directory, name)}: ${fault}`);
  around.complain(`run: ${command(wanted)}`);
  return 1;
}

/** A copy that is there is kept up with, whether or not it is asked for once more. */
const withPage = (wanted: Wanted, target: string): Wanted => ({
  ...wanted,
  page: wanted.page || versionOf(read(join(target, PAGE)) ?? '') !== undefined,
});

function planAll(wanted: Wanted, target: string, around: Surroundings, force: boolean): readonly Plan[] {
  const copies = [{ name: DROPIN, built: 'dropin.js' }, ...(wanted.page ? [{ name: PAGE, built: 'page.js' }] : [])];
  return [
    planWorker(wanted.worker, read(join(target, wanted.worker)), force),
    ...copies.map(({ name, built }) => {
      const text = copyText(readFileSync(join(around.builds, built), 'utf8'));
      return planCopy(name, text, read(join(target, name)), force, wanted);
    }),
  ];
}

function planWorker(name: string, found: string | undefined, force: boolean): Plan {
  const text = workerText();
  if (found === undefined) return { name, text, says: 'written', fault: 'missing' };
  if (asWritten(found) === text) return { name, says: 'up to date' };
  const state = inspectWorker(found);
  if (state === 'untouched') return { name, text, says: 'updated', fault: `not of ${VERSION}` };
  if (force) return { name, text, says: 'written anew' };
  if (state === 'edited') return { name, says: 'left as you have edited it (--force writes it anew)' };
  return { name, says: 'left alone', fault: `does not load ${DROPIN}` };
}

function planCopy(name: string, text: string, found: string | undefined, force: boolean, wanted: Wanted): Plan {
  if (found === undefined) return { name, text, says: 'written', fault: 'missing' };
  if (asWritten(found) === text) return { name, says: 'up to date' };
  const version = versionOf(found);
  if (version === undefined && !force) {
    return {
      name,
      says: 'left alone',
      fault: 'not written by `npx steadfetch init`',
      refusal: `${join(wanted.directory, name)} was not written by \`npx steadfetch init\`, so it is not overwritten; move it away, or: ${command(wanted)} --force`,
    };
  }
  if (version === VERSION) return { name, text, says: 'put right', fault: `not as ${VERSION} wrote it` };
  return { name, text, says: `updated from ${version ?? 'another file'}`, fault: `of ${version}, not ${VERSION}` };
}

function command({ directory, base, worker, page }: Wanted): string {
  const more = [
    ...(base === '/' ? [] : [`--base ${quoted(base)}`]),
    ...(worker === 'sw.js' ? [] : [`--worker ${worker}`]),
    ...(page ? ['--page'] : []),
  ];
  return ['npx steadfetch init', quoted(directory), ...more].join(' ');
}

/** As a shell takes it for one word. */
const quoted = (word: string): string => (/^[\w./@:+-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

function directions({ base, worker, page }: Wanted): string {
  const url = base + worker;
  const from = page ? base + PAGE : 'steadfetch';
  const lines = [
    base === '/'
      ? `Served as ${url}, the worker controls the whole site.`
      : `Served as ${url}, the worker controls ${base} and what is below it. For it to control more, serve ${url}\nwith the header \`Service-Worker-Allowed: /\` and register it with { scope: '/' }.`,
    '',
    page ? 'In the page, in a <script type="module">:' : 'In the page:',
    '',
    `  import { connect } from '${from}';`,
    `  connect('${url}');`,
  ];
  return lines.join('\n');
}

function existing(directory: string, cwd: string): string {
  const target = resolve(cwd, directory);
  const found = statSync(target, { throwIfNoEntry: false });
  if (!found) {
    throw new CommandError(
      `there is no directory ${directory} (in ${cwd}); name the one that your server serves, or make it first`,
    );
  }
  if (!found.isDirectory())
    throw new CommandError(`${directory} is a file; name the directory that your server serves`);
  return target;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read (${code})`);
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`${path} cannot be written (${code}); check who may write there`);
  }
}
