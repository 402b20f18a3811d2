import { toTable } from '../docs/markdown.ts';
import { CATALOGUE, type RequestType } from './catalogue.ts';
import { type Engine, RULES } from './expected.ts';
import type { Cell, Row } from './judge.ts';
import { readMeasured } from './measured.ts';

const nameOf = (id: string): string | undefined => RULES.find((rule) => rule.id === id)?.name;

function inCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  const names = cell.map(nameOf).filter((name) => name !== undefined);
  return names.length === 0 ? 'same' : names.join(', ');
}

/** What is said once where a 503 and a reset come to the same. */
function afterFailure({ busy, lost }: Row): string {
  const [after503, afterReset] = [inCell(busy), inCell(lost)];
  return after503 === afterReset ? after503 : `503: ${after503}; reset: ${afterReset}`;
}

/** What every request has that is rebuilt, if it has it at all. */
const REBUILT = ['reload', 'hints'];

function afterStorable({ stored }: Row): string {
  if (typeof stored === 'string' || !stored.includes('reload')) return inCell(stored);
  return ['rebuilt', ...stored.filter((id) => !REBUILT.includes(id)).map(nameOf)].join(', ');
}

const HEADS = [
  'no worker → bare worker',
  'bare worker → steadfetch',
  'first attempt → retry',
  '… after a storable 503',
];
const toCells = (row: Row): readonly string[] => [
  inCell(row.bare),
  inCell(row.ours),
  afterFailure(row),
  afterStorable(row),
];

/** For a terminal: a line for each type. */
export function inLines(types: readonly RequestType[], rows: Readonly<Record<string, Row>>): string {
  const lines = types.flatMap(({ id }) => (rows[id] ? [[id, ...toCells(rows[id])]] : []));
  return [['type', ...HEADS], ...lines]
    .map((cells) => cells.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join(' '))
    .join('\n');
}

const WIDTHS = [26, 52, 24, 46];

/** What is generated of `docs/transparency.md`. */
export const transparencyBlocks: Readonly<Record<string, () => string>> = {
  transparency: () => {
    const rows = readMeasured().chromium ?? {};
    return toTable(
      ['type of request', ...HEADS],
      CATALOGUE.flatMap(({ id, what }) => (rows[id] ? [[what, ...toCells(rows[id])]] : [])),
    );
  },
  'transparency-rules': () => {
    const here = typesByRule('chromium');
    return RULES.filter(({ id }) => here.has(id))
      .flatMap(({ name, why }) => (name === undefined ? [] : [`- **${name}**: ${why}`]))
      .join('\n');
  },
  'transparency-engines': () => {
    const here = typesByRule('chromium');
    return (['firefox', 'webkit'] as const).map((engine) => toOtherEngine(engine, here)).join('\n\n');
  },
};

/** What is otherwise than in Chromium. */
function toOtherEngine(engine: Engine, here: ReadonlyMap<string, readonly string[]>): string {
  const there = typesByRule(engine);
  const lines = RULES.filter(({ id }) => there.has(id) && !here.has(id)).map(({ id, name, why }) => {
    const types = there.get(id) ?? [];
    const which = types.length > 4 ? `${types.length} types` : types.join(', ');
    return `- **${name}** (${which}): ${why}`;
  });
  return [`**${NAMES[engine]}**`, '', ...lines].join('\n');
}

const NAMES: Readonly<Record<Engine, string>> = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKitGTK' };

/** Which types each rule applies to in an engine. */
function typesByRule(engine: Engine): ReadonlyMap<string, readonly string[]> {
  const rows = readMeasured()[engine] ?? {};
  const found = new Map<string, string[]>();
  for (const { id: type, what } of CATALOGUE) {
    const cells = Object.values(rows[type] ?? {}) as Cell[];
    const rules = new Set(cells.flatMap((cell) => (typeof cell === 'string' ? [] : cell)));
    for (const rule of rules) found.set(rule, [...(found.get(rule) ?? []), what]);
  }
  return found;
}
