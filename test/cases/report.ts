import type { Otherwise } from './otherwise.ts';
import { readTable } from './row.ts';
import { judge } from './verdict.ts';

/** Runs a table and says what came of it, row by row and, in the last line, in all. `ok` is false if a row failed. */
export async function report(
  table: string,
  say: (line: string) => void,
  { otherwise, isForeign = false }: { otherwise?: Readonly<Record<string, Otherwise>>; isForeign?: boolean } = {},
): Promise<boolean> {
  const counts = { rows: 0, passed: 0, failed: 0, notApplicable: 0, forAPerson: 0 };
  const failed: string[] = [];
  for (const reading of readTable(table)) {
    counts.rows += 1;
    if (reading.kind === 'unreadable') {
      failed.push(`${reading.id} ${reading.why}`);
      continue;
    }
    if (reading.kind === 'for-a-person') {
      counts.forAPerson += 1;
      if (isForeign) say(`? ${reading.id}: cannot be played, so it is for a person: ${reading.why}`);
      continue;
    }
    const { row } = reading;
    // What is decided otherwise is decided of the rows of our own table.
    const verdict = await judge(row, isForeign ? {} : otherwise);
    if (verdict.kind === 'passed') counts.passed += 1;
    else if (verdict.kind === 'failed') failed.push(`${titleOf(row)}: ${verdict.why}`);
    else {
      counts.notApplicable += 1;
      say(`– ${titleOf(row)}: ${verdict.why}`);
    }
  }
  for (const line of failed) say(`✗ ${line}`);
  const { rows, passed, notApplicable, forAPerson } = counts;
  if (forAPerson > 0 && !isForeign) {
    say(`? ${forAPerson} are in words, for a person: docs/cases.md says of each which test shows it, or why none does`);
  }
  say(
    `${rows} rows: ${passed} passed, ${failed.length} failed, ${notApplicable} not applicable (reasons above), ${forAPerson} for a person`,
  );
  if (rows === 0) say('✗ there is no row in it');
  return rows > 0 && failed.length === 0;
}

export const titleOf = ({ id, name }: { readonly id: string; readonly name?: string }): string =>
  name === undefined ? id : `${id} (${name})`;
