import { readFileSync } from 'node:fs';

export interface Row {
  readonly id: string;
  readonly header: string | null;
  readonly now: string;
  readonly expected_ms: number | null;
  readonly level: 'must' | 'latitude';
  readonly alt_ms?: number;
  readonly expected_min_ms?: number;
}

export const ROWS: Row[] = readFileSync(new URL('../cases/retry-after.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

/** What the row takes for right; `undefined` is "use ordinary backoff". */
export function isRight({ expected_ms, level, alt_ms, expected_min_ms }: Row, waitMs: number | undefined): boolean {
  if (waitMs === (expected_ms ?? undefined)) return true;
  if (level === 'must') return false;
  if (expected_min_ms !== undefined) return waitMs !== undefined && waitMs >= expected_min_ms;
  return waitMs === alt_ms;
}
