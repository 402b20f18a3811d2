import { readFileSync } from 'node:fs';
import { createFinder } from './named.ts';
import { FAULTS_OTHERWISE, OTHERWISE, OTHERWISE_BY_HAND, PARTLY } from './otherwise.ts';
import { type Reading, readTable } from './row.ts';
import { toPolicy } from './to-policy.ts';

/** One case from outside, and where it is shown, or why it is not. */
export interface Case {
  readonly id: string;
  readonly what: string;
  /** Under `test/`. */
  readonly files: readonly string[];
  /** By `npm run cases`, which plays it. */
  readonly played: boolean;
  readonly why?: string;
}

export interface Cases {
  readonly rows: readonly Case[];
  readonly faults: readonly Case[];
  readonly peers: readonly Case[];
}

const text = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** The cells of a Markdown table, without its head. */
const cellsOf = (markdown: string, id: RegExp): string[][] =>
  markdown
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, first = '']) => id.test(first))
    .map((cells) => cells.slice(1, -1));

export function readCases(): Cases {
  const filesOf = createFinder();
  const one = (id: string, what: string, why: string | undefined, played = false): Case => ({
    id,
    what,
    files: filesOf(id),
    played,
    ...(why === undefined ? {} : { why }),
  });
  const partly = (id: string) => lead('not all of it: ', PARTLY[id]);
  const otherwise = (reasons: Readonly<Record<string, string>>, id: string) => lead('decided otherwise: ', reasons[id]);

  const rows = cellsOf(text('rows.md'), /^\d+$/).map(([n, what = '']) => one(`row ${n}`, what, partly(`row ${n}`)));
  const faults = cellsOf(text('reported-faults.md'), /^B\d+$/).map(([id = '', , , what = '']) =>
    one(id, what, otherwise(FAULTS_OTHERWISE, id) ?? partly(id)),
  );
  const peers = peerRows().map(({ id, area, reading }) => {
    if (reading.kind !== 'row') return one(id, area, otherwise(OTHERWISE_BY_HAND, id) ?? partly(id));
    const mapped = toPolicy(reading.row);
    const cannot = 'cannot' in mapped ? mapped.cannot : undefined;
    return one(id, area, lead('decided otherwise: ', OTHERWISE[id]?.why) ?? lead('not applicable: ', cannot), true);
  });
  return { rows, faults, peers };
}

const lead = (words: string, reason: string | undefined): string | undefined =>
  reason === undefined ? undefined : words + reason;

function peerRows(): { id: string; area: string; reading: Reading }[] {
  const table = text('peer-cases.jsonl');
  const readings = new Map(
    readTable(table).map((reading) => [reading.kind === 'row' ? reading.row.id : reading.id, reading]),
  );
  return table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as { id: string; area: string })
    .flatMap(({ id, area }) => {
      const reading = readings.get(id);
      return reading ? [{ id, area, reading }] : [];
    });
}

/** Neither shown nor given a reason. */
export const isMissing = ({ files, played, why }: Case): boolean => files.length === 0 && !played && why === undefined;

/** The page `docs/cases.md`. */
export function toPage({ rows, faults, peers }: Cases): string {
  return `# Cases from outside

What a retry layer has to do, what was reported of others, and what others’ own tests pin down; and for each where it is
shown here, or why it is not. Written by \`npm run cases:table\`; \`npm test\` fails if a case is missing or this page is old.
Whether the tests pass is said by that same \`npm test\`, in which all of them run, and by no page. What \`npm run cases\` plays
in virtual time it plays too, in a worker’s way and in a page’s ([peer-cases.test](../test/cases/peer-cases.test.ts)).

## What the layer must do

${summaryOf(rows)} The rows in full: [rows.md](../test/cases/rows.md).

${tableOf('row', rows)}

## What was reported of others

${summaryOf(faults)} The scenarios: [reported-faults.md](../test/cases/reported-faults.md).

${tableOf('fault', faults)}

## What others’ own tests pin down

${summaryOf(peers)} The rows in full: [peer-cases.jsonl](../test/cases/peer-cases.jsonl).

${tableOf('about', peers)}
`;
}

function summaryOf(cases: readonly Case[]): string {
  const played = cases.filter((one) => one.played && one.why === undefined).length;
  const named = cases.filter((one) => !one.played && one.files.length > 0).length;
  const reasons = cases.filter((one) => one.why !== undefined && (one.played || one.files.length === 0)).length;
  const parts = [`${named} have a test of their name`];
  if (played > 0) parts.push(`${played} are played`);
  if (reasons > 0) parts.push(`${reasons} have a reason why not`);
  return `${cases.length} in all: ${parts.join(', ')}.`;
}

function tableOf(head: string, cases: readonly Case[]): string {
  const lines = cases.map((one) => `| ${one.id.replace('row ', '')} | ${one.what} | ${whereOf(one)} |`);
  return [`| | ${head} | where, or why not |`, '| --- | --- | --- |', ...lines].join('\n');
}

function whereOf({ files, played, why }: Case): string {
  const links = files.map((path) => `[${path.replace(/\.ts$/, '')}](../test/${path})`);
  const shown = played && why === undefined ? ['`npm run cases`', ...links] : links;
  const where = shown.join(', ');
  if (why === undefined) return where;
  return where === '' ? why : `${where}; ${why}`;
}
