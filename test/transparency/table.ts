import { toTable } from '../docs/markdown.ts';
import { CATALOGUE, type RequestType } from './catalogue.ts';
import { RULES } from './expected.ts';
import type { Cell, Row } from './judge.ts';
import { readMeasured } from './measured.ts';

const nameOf = (id: string): string | undefined => RULES.find((rule) => rule.id === id)?.name;

function inCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  const names = cell.map(nameOf).filter((name) => name !== undefined);
  return names.length === 0 ? 'same' : names.join(', ');
}

/** What is said once where a 503 and a reset come to the same. */
function afterFailure({ busy, lost, stored }: Row): string {
  const [after503, afterReset] = [inCell(busy), inCell(lost)];
  const first = after503 === afterReset ? after503 : `503: ${after503}; reset: ${afterReset}`;
  return inCell(stored) === first ? first : `${first}; storable 503: ${stored === 'once' ? 'once' : 'rebuilt'}`;
}

/** For a terminal: a line for each type. */
export function inLines(types: readonly RequestType[], rows: Readonly<Record<string, Row>>): string {
  const lines = types.flatMap(({ id }) => {
    const row = rows[id];
    return row
      ? [`${id.padEnd(26)} ${inCell(row.bare).padEnd(52)} ${inCell(row.ours).padEnd(12)} ${afterFailure(row)}`]
      : [];
  });
  return [
    `${'type'.padEnd(26)} ${'no worker → bare worker'.padEnd(52)} ${'→ ours'.padEnd(12)} retry → first attempt`,
    ...lines,
  ].join('\n');
}

/** What is generated of `docs/transparency.md`. */
export const transparencyBlocks: Readonly<Record<string, () => string>> = {
  transparency: () => {
    const rows = readMeasured().chromium ?? {};
    return toTable(
      ['type of request', 'no worker → bare worker', 'bare worker → steadfetch', 'first attempt → retry'],
      CATALOGUE.flatMap(({ id, what }) => {
        const row = rows[id];
        return row ? [[what, inCell(row.bare), inCell(row.ours), afterFailure(row)]] : [];
      }),
    );
  },
  'transparency-rules': () =>
    RULES.filter(({ name }) => name !== undefined)
      .map(({ name, why }) => `- **${name}**: ${why}`)
      .join('\n'),
};
