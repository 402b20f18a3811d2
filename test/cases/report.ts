import { readTable } from './row.ts';
import { judge } from './verdict.ts';

/** Runs a table and says what came of it, row by row and, in the last line, in all. `ok` is false if a row failed. */
export async function report(
  table: string,
  say: (line: string) => void,
  otherwise?: Readonly<Record<string, string>>,
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
      continue;
    }
    const { row } = reading;
    const verdict = await judge(row, otherwise);
    if (verdict.kind === 'passed') counts.passed += 1;
    else if (verdict.kind === 'failed') failed.push(`${titleOf(row)}: ${verdict.why}`);
    else {
      counts.notApplicable += 1;
      say(`– ${titleOf(row)}: ${verdict.why}`);
    }
  }
  for (const line of failed) say(`✗ ${line}`);
  const { rows, passed, notApplicable, forAPerson } = counts;
  say(
    `${rows} rows: ${passed} passed, ${failed.length} failed, ${notApplicable} not applicable (reasons above), ${forAPerson} for a person`,
  );
  return failed.length === 0;
}

export const titleOf = ({ id, name }: { readonly id: string; readonly name?: string }): string =>
  name === undefined ? id : `${id} (${name})`;
