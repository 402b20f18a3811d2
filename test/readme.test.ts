import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  BUDGET_DEFAULTS,
  CIRCUIT_DEFAULTS,
  DEFAULTS,
  NAVIGATION_DEFAULTS,
  presets,
  resolvePolicy,
} from '../src/policy/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');

/** Rows of the tables whose first cell is an option's name: name → its further cells. */
const rows = new Map(
  [...readme.matchAll(/^\| `([\w.]+)` +\| (.+) \|$/gm)].map(([, name = '', cells = '']) => [
    name,
    cells.split(' | ').map((cell) => cell.trim().replaceAll('`', '')),
  ]),
);

describe('the tables of defaults say what the code says', () => {
  for (const [name, ofOthers, ofNavigations] of [
    ['attempts', DEFAULTS.attempts, NAVIGATION_DEFAULTS.attempts],
    ['totalMs', DEFAULTS.totalMs, NAVIGATION_DEFAULTS.totalMs],
    ['attemptTimeoutMs', DEFAULTS.attemptTimeoutMs, NAVIGATION_DEFAULTS.attemptTimeoutMs],
    ['retryAfter.maxMs', DEFAULTS.retryAfter.maxMs, NAVIGATION_DEFAULTS.retryAfter.maxMs],
  ] as const) {
    test(name, () => expect(rows.get(name)).toEqual([String(ofOthers), String(ofNavigations)]));
  }
  for (const [name, value] of [
    ['retryAfter.mode', DEFAULTS.retryAfter.mode],
    ['retryAfter.overMax', DEFAULTS.retryAfter.overMax],
    ['methods', DEFAULTS.methods.join(' ')],
    ['retryNonIdempotent', DEFAULTS.retryNonIdempotent],
    ['maxReplayBytes', DEFAULTS.maxReplayBytes],
    ['mediaRanges', DEFAULTS.mediaRanges],
    ['resume', DEFAULTS.resume],
  ] as const) {
    test(name, () => expect(rows.get(name)?.[0]).toBe(String(value)));
  }
  test('holdBody', () => {
    const { holdBody } = resolvePolicy({ holdBody: true }, DEFAULTS);
    const written = JSON.stringify(holdBody)
      .replaceAll('"', '')
      .replace('{', '{ ')
      .replace(':', ': ')
      .replace('}', ' }');
    expect(rows.get('holdBody')?.[0]).toBe(`${DEFAULTS.holdBody}; true is ${written}`);
  });
  for (const [name, value] of Object.entries(BUDGET_DEFAULTS)) {
    test(`budget.${name}`, () => expect(rows.get(`budget.${name}`)?.[0]).toMatch(new RegExp(`^${value}\\b`)));
  }
  for (const [name, value] of Object.entries(CIRCUIT_DEFAULTS)) {
    test(`circuit.${name}`, () => expect(rows.get(`circuit.${name}`)?.[0]).toMatch(new RegExp(`^${value}\\b`)));
  }
  for (const name of ['backoff', 'throttledBackoff'] as const) {
    test(name, () => expect(written(DEFAULTS[name])).toBe(rows.get(name)?.[0]));
  }
  test('statuses', () => {
    const stated = rows.get('statuses')?.[0] ?? '';
    const plain = DEFAULTS.statuses.filter((rule) => typeof rule === 'number');
    expect(stated.split(';')[0]).toBe(plain.join(' '));
    for (const rule of DEFAULTS.statuses) if (typeof rule !== 'number') expect(stated).toContain(String(rule.status));
  });
  for (const name of ['reads', 'writes'] as const) {
    test(`presets.${name}`, () => expect(rows.get(name)?.[0]).toBe(presets[name].statuses?.join(' ')));
  }
  for (const name of ['api', 'quick', 'download'] as const) {
    test(`presets.${name}`, () => {
      const { attempts, backoff, totalMs, resume } = presets[name];
      const of = backoff?.kind === 'full-jitter' && backoff.of.kind === 'exponential' ? backoff.of : undefined;
      const waits = `full jitter over ${of?.baseMs} × ${of?.factor}, at most ${of?.maxMs}`;
      const time = totalMs === undefined ? '' : `, totalMs ${totalMs}`;
      expect(rows.get(name)?.[1]).toBe(`attempts ${attempts}, ${waits}${time}${resume ? ', resume' : ''}`);
    });
  }
  test('every preset has a row', () => {
    expect([...rows.keys()]).toEqual(expect.arrayContaining(Object.keys(presets)));
  });
  test('every option has a row', () => {
    const options = Object.keys(DEFAULTS).filter((name) => name !== 'retryAfter');
    for (const option of options) expect([...rows.keys()]).toContain(option);
  });
});

test('every snippet compiles against the package', () => {
  const snippets = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  expect(snippets.length).toBeGreaterThanOrEqual(3);
  const files = new Map(snippets.map((code, index) => [`${root}test/readme-snippet-${index}.ts`, code]));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    paths: {
      steadfetch: [`${root}src/page/index.ts`],
      'steadfetch/*': [`${root}src/*/index.ts`],
    },
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    const code = files.get(path);
    return code === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, code, target);
  };
  const problems = ts
    .getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host))
    .filter(({ file }) => file !== undefined && files.has(file.fileName))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(problems).toEqual([]);
}, 30_000);

/** A backoff as the builder calls that make it. */
function written(backoff: (typeof DEFAULTS)['backoff']): string {
  if (backoff.kind === 'full-jitter') return `fullJitter(${written(backoff.of)})`;
  if (backoff.kind !== 'exponential') return backoff.kind;
  const { baseMs, factor, maxMs } = backoff;
  return `exponential({ baseMs: ${baseMs}, factor: ${factor}, maxMs: ${maxMs} })`;
}
