import { describe, expect, test } from 'vitest';
import { createRetryFetch } from '../../src/fetch/index.ts';
import { checkTask } from '../../src/fetch/options.ts';
import { toOverride } from '../../src/page/call-options.ts';
import {
  BUDGET_DEFAULTS,
  CIRCUIT_DEFAULTS,
  DEFAULTS,
  NAVIGATION_DEFAULTS,
  presets,
  RetryLayerError,
  resolvePolicy,
} from '../../src/policy/index.ts';
import { OUTBOX_DEFAULTS } from '../../src/policy/outbox.ts';
import { checkShared } from '../../src/workbox/options.ts';
import { checkLayerOptions } from '../../src/worker/options.ts';
import { prose } from './markdown.ts';
import { inCell } from './option-tables.ts';
import { readPage } from './pages.ts';

/** The section of a page below a heading, up to the next one. */
function section(path: string, heading: string): string {
  const [, ...parts] = `\n${prose(readPage(path))}`.split(/^#{1,6} +/m);
  const found = parts.find((part) => part.split('\n')[0] === heading);
  if (found === undefined) throw new Error(`${path} has no heading ${heading}`);
  return found;
}

/** Rows whose first cell is the name of an option: name → its further cells. */
const rowsIn = (text: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...text.matchAll(/^\| `([\w.]+)` +\| (.+) \|$/gm)].map(([, name = '', cells = '']) => [
      name,
      cells.split(' | ').map((cell) => cell.trim()),
    ]),
  );

const rowsOf = (heading: string, path = 'docs/options.md') => rowsIn(section(path, heading));

/** The options that a check knows: it tells them all, if it is given one that there is not. */
function known(check: (astray: Record<string, unknown>) => unknown): string[] {
  try {
    check({ 'no such option': 1 });
  } catch (error) {
    if (!(error instanceof RetryLayerError)) throw error;
    return (/there are (.*)$/.exec(error.message)?.[1] ?? '').split(', ');
  }
  throw new Error('it was taken');
}

const inRoute = (more: object) => checkLayerOptions({ routes: [{ match: '/', ...more }] });
const NESTED = ['retryAfter', 'hedge', 'holdBody'] as const;

describe('no option is missing, and none is there that the code does not know', () => {
  const ALIASES = [...rowsOf('The same in other words').keys()];

  test('how to retry', () => {
    const checked = known((astray) => inRoute({ retry: astray }));
    const inner = NESTED.flatMap((name) =>
      known((astray) => inRoute({ retry: { [name]: astray } })).map((option) => `${name}.${option}`),
    );
    const named = [...rowsOf('How to retry').keys(), ...ALIASES].sort();
    expect(named).toEqual([...checked.filter((name) => name !== 'retryAfter'), ...inner].sort());
  });

  test.each([
    ['The layer', (astray: object) => checkLayerOptions(astray)],
    ['A route', inRoute],
    ['An outbox', (astray: object) => inRoute({ outbox: astray })],
    ['Without a worker', (astray: object) => createRetryFetch({}, astray as never)],
  ] as const)('%s', (heading, check) => {
    const named = [...rowsOf(heading).keys()].filter((name) => name !== 'signal' && name !== 'shouldRetry');
    expect(named.sort()).toEqual(known(check).sort());
  });

  test('a task', () => {
    const checked = known((astray) => checkTask(() => {}, {}, astray));
    expect([...rowsOf('Without a worker').keys()]).toEqual(expect.arrayContaining(checked));
  });

  test('the two guards', () => {
    const budget = known((astray) => checkLayerOptions({ budget: astray })).map((name) => `budget.${name}`);
    const windowed = known((astray) => checkLayerOptions({ budget: { kind: 'windowed', ...astray } }));
    const named = [...rowsOf('The budget').keys()];
    expect(named.sort()).toEqual([...new Set([...budget, ...windowed.map((name) => `budget.${name}`)])].sort());
    const circuit = known((astray) => checkLayerOptions({ circuit: astray }));
    expect([...rowsOf('The circuit').keys()].sort()).toEqual(circuit.map((name) => `circuit.${name}`).sort());
  });

  test('what Workbox’s side shares', () => {
    for (const name of known(checkShared)) expect(section('docs/options.md', 'The layer')).toContain(`\`${name}\``);
  });

  test('one call', () => {
    const checked = known((astray) => toOverride(astray as never));
    expect([...rowsOf('One call', 'docs/page.md').keys()].sort()).toEqual(checked.sort());
  });

  test('the outbox’s own page', () => {
    const named = rowsIn(readPage('docs/outbox.md'));
    expect([...named.keys()].sort()).toEqual(known((astray) => inRoute({ outbox: astray })).sort());
  });
});

describe('defaults are what the code says', () => {
  const rows = rowsOf('How to retry');
  const unquoted = (name: string, cell = 0) => rows.get(name)?.[cell]?.replaceAll('`', '');

  for (const [name, ofOthers, ofNavigations] of [
    ['attempts', DEFAULTS.attempts, NAVIGATION_DEFAULTS.attempts],
    ['totalMs', DEFAULTS.totalMs, NAVIGATION_DEFAULTS.totalMs],
    ['attemptTimeoutMs', DEFAULTS.attemptTimeoutMs, NAVIGATION_DEFAULTS.attemptTimeoutMs],
    ['retryAfter.maxMs', DEFAULTS.retryAfter.maxMs, NAVIGATION_DEFAULTS.retryAfter.maxMs],
  ] as const) {
    test(name, () => expect([unquoted(name, 0), unquoted(name, 1)]).toEqual([`${ofOthers}`, `${ofNavigations}`]));
  }

  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (name === 'retryAfter') continue;
    test(name, () => expect(rows.get(name)?.[0]).toBe(inCell(name, value)));
  }

  test('statuses, in plain numbers', () => {
    const plain = DEFAULTS.statuses.filter((rule) => typeof rule === 'number');
    expect(rows.get('statuses')?.[0]?.split(';')[0]).toBe(plain.join(' '));
    for (const rule of DEFAULTS.statuses) {
      expect(rows.get('statuses')?.[0]).toContain(String(typeof rule === 'number' ? rule : rule.status));
    }
  });

  test('what is switched on by `true`', () => {
    const { holdBody, hedge } = resolvePolicy({ holdBody: true, hedge: { afterMs: 1 } }, DEFAULTS);
    expect(unquoted('holdBody.maxBytes')).toBe(String(holdBody ? holdBody.maxBytes : undefined));
    expect(unquoted('hedge.max')).toBe(String(hedge ? hedge.max : undefined));
  });

  test.each([
    ['budget', 'The budget', BUDGET_DEFAULTS],
    ['circuit', 'The circuit', CIRCUIT_DEFAULTS],
  ] as const)('%s', (prefix, heading, values) => {
    for (const [name, value] of Object.entries(values)) {
      expect(rowsOf(heading).get(`${prefix}.${name}`)?.[0], name).toBe(`\`${value}\``);
    }
  });

  test.each(['docs/options.md', 'docs/outbox.md'])('outbox (%s)', (path) => {
    const named = path === 'docs/outbox.md' ? rowsIn(readPage(path)) : rowsOf('An outbox');
    for (const [name, value] of Object.entries(OUTBOX_DEFAULTS)) {
      expect(named.get(name)?.[0]?.replaceAll('`', ''), name).toBe(String(value));
    }
  });

  test('presets', () => {
    const named = rowsOf('Presets');
    expect([...named.keys()]).toEqual(Object.keys(presets));
    for (const [name, options] of Object.entries(presets)) {
      for (const [option, value] of Object.entries(options)) {
        expect(named.get(name)?.[0], name).toContain(`\`${option}\` ${inCell(option, value)}`);
      }
    }
  });
});
