import type { Backoff } from '../../src/policy/backoff.ts';
import {
  BUDGET_DEFAULTS,
  CIRCUIT_DEFAULTS,
  DEFAULTS,
  NAVIGATION_DEFAULTS,
  presets,
  type RetryOptions,
  type RetryPolicy,
  resolvePolicy,
} from '../../src/policy/index.ts';
import { OUTBOX_DEFAULTS } from '../../src/policy/outbox.ts';
import type { StatusRule } from '../../src/policy/policy.ts';
import { toTable } from './markdown.ts';
import { type Member, membersOf } from './source.ts';

/** An option and what it is by default; nested ones have a dot in their name. */
type Values = Readonly<Record<string, unknown>>;

/** The options of options, by the name that they have: where their members are declared. */
const NESTED: Readonly<Record<string, readonly [path: string, name: string]>> = {
  retryAfter: ['policy/policy.ts', 'RetryAfterPolicy'],
  hedge: ['policy/hedge.ts', 'HedgePolicy'],
  holdBody: ['policy/policy.ts', 'HoldBodyPolicy'],
};

const ON = resolvePolicy({ hedge: { afterMs: 1 }, holdBody: true }, DEFAULTS);

/** What an option of an option is, once that is switched on. */
function nestedDefault(of: string, name: string, { retryAfter }: RetryPolicy): unknown {
  if (of === 'retryAfter') return (retryAfter as unknown as Values)[name];
  // A hedge has to say when.
  if (of === 'hedge' && name === 'afterMs') return undefined;
  return (ON as unknown as Record<string, Values>)[of]?.[name];
}

function retryRows(): string[][] {
  return membersOf('policy/policy.ts', 'RetryPolicy').flatMap(({ name, says }) => {
    const nested = NESTED[name];
    const inner = nested ? membersOf(...nested) : [];
    const rows = inner.map((one) => {
      const [ours, theirs] = [DEFAULTS, NAVIGATION_DEFAULTS].map((base) => nestedDefault(name, one.name, base));
      return rowOf(`${name}.${one.name}`, ours, theirs, one.says);
    });
    if (name === 'retryAfter') return rows;
    return [rowOf(name, valueIn(DEFAULTS, name), valueIn(NAVIGATION_DEFAULTS, name), says), ...rows];
  });
}

const valueIn = (values: object, name: string): unknown => (values as Values)[name];

function rowOf(name: string, value: unknown, forNavigations: unknown, says: string): string[] {
  const [ours, theirs] = [inCell(name, value), inCell(name, forNavigations)];
  return [code(name), ours, ours === theirs ? '' : theirs, says];
}

/** A default as it is written in a table. */
export function inCell(name: string, value: unknown): string {
  if (value === undefined) return 'none; has to be given';
  if (name === 'statuses') return statusesInWords(value as readonly StatusRule[]);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(' ');
  if (typeof value === 'object') return code(written(value as Backoff));
  return code(String(value));
}

const code = (text: string): string => `\`${text}\``;

const CONDITIONS = {
  get: 'for GET',
  'safe-method': 'for safe methods',
  'idempotency-key': 'with a key',
  'retry-after': 'with `Retry-After`',
} as const;

function statusesInWords(rules: readonly StatusRule[]): string {
  const plain = rules.filter((rule) => typeof rule === 'number').join(' ');
  const others = rules.flatMap((rule) => {
    if (typeof rule === 'number') return [];
    const { status, only, retries } = rule;
    const times = retries === undefined ? [] : [retries === 1 ? 'once' : `${retries} times`];
    return [[status, ...(only ? [CONDITIONS[only]] : []), ...times].join(' ')];
  });
  return [plain || 'none', ...others].join('; ');
}

/** A backoff as the builder calls that make it. */
function written(backoff: Backoff): string {
  if (backoff.kind === 'full-jitter') return `fullJitter(${written(backoff.of)})`;
  if (backoff.kind !== 'exponential') return backoff.kind;
  const { baseMs, factor, maxMs } = backoff;
  return `exponential({ baseMs: ${baseMs}, factor: ${factor}, maxMs: ${maxMs} })`;
}

/** What a preset says otherwise than the defaults. */
function presetRow(name: string, options: RetryOptions, says: string): string[] {
  const others = Object.entries(options).map(([option, value]) => `${code(option)} ${inCell(option, value)}`);
  return [code(name), others.join('; '), says];
}

const withDefaults = (members: readonly Member[], values: object, prefix = ''): string[][] =>
  members
    .filter(({ name }) => name in values)
    .map(({ name, says }) => [code(prefix + name), inCell(name, valueIn(values, name)), says]);

/** Where the default is what the comment says it is. */
const asTheySay = (members: readonly Member[]): string[][] =>
  members.map(({ name, says, byDefault, optional }) => [
    code(name),
    byDefault === undefined ? (optional ? 'none' : 'has to be given') : inCode(byDefault),
    says,
  ]);

/** A value is code, a sentence is none. */
const inCode = (text: string): string =>
  text.replaceAll('`RetryPolicy`', '[how to retry](#how-to-retry)').replace(/^'?([\w-]+)'?(?=$|,)/, '`$1`');

const HEADS = ['option', 'default', 'what it does'];

/** The tables of docs/options.md, made from the defaults and from the comments of the options. */
export const optionBlocks: Readonly<Record<string, () => string>> = {
  retry: () => toTable(['option', 'default', 'navigations', 'what it does'], retryRows()),
  aliases: () =>
    toTable(
      ['in other words', 'what it is'],
      membersOf('policy/policy.ts', 'RetryOptions')
        .filter(({ name }) => !(name in DEFAULTS))
        .map(({ name, says, byDefault }) => [code(name), byDefault ? `${says} Default: ${byDefault}.` : says]),
    ),
  presets: () =>
    toTable(
      ['preset', 'sets', 'for'],
      membersOf('policy/presets.ts', 'Presets').map(({ name, says }) =>
        presetRow(name, presets[name as keyof typeof presets], says),
      ),
    ),
  budget: () => toTable(HEADS, withDefaults(membersOf('policy/budget.ts', 'TokenBudget'), BUDGET_DEFAULTS, 'budget.')),
  'windowed-budget': () =>
    toTable(
      ['option', 'what it does'],
      membersOf('policy/budget.ts', 'WindowedBudget')
        .filter(({ name }) => name !== 'kind')
        .map(({ name, says }) => [code(`budget.${name}`), says]),
    ),
  circuit: () =>
    toTable(HEADS, withDefaults(membersOf('policy/circuit.ts', 'CircuitPolicy'), CIRCUIT_DEFAULTS, 'circuit.')),
  layer: () => toTable(HEADS, asTheySay(membersOf('worker/options.ts', 'RetryLayerOptions'))),
  route: () => toTable(HEADS, asTheySay(membersOf('worker/options.ts', 'Route'))),
  outbox: () =>
    toTable(
      HEADS,
      membersOf('policy/outbox.ts', 'OutboxPolicy').map(({ name, says }) => {
        const value = valueIn(OUTBOX_DEFAULTS, name);
        return [code(name), value === undefined ? 'none' : inCell(name, value), says];
      }),
    ),
  connect: () => toTable(HEADS, asTheySay(membersOf('page/connect.ts', 'ConnectOptions'))),
  'retry-fetch': () => toTable(HEADS, asTheySay(membersOf('fetch/options.ts', 'RetryFetchOptions'))),
  'retry-task': () => toTable(HEADS, asTheySay(membersOf('fetch/options.ts', 'TaskOptions'))),
};
