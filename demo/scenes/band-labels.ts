/** A word over a stretch of a chart, in its pixels. */
export interface Label {
  readonly from: number;
  readonly until: number;
  /** Of the word itself. */
  readonly width: number;
}

/** Those over a stretch that is not too narrow, and that do not run into the one before. */
export function withRoom<L extends Label>(labels: readonly L[], { least, gap }: { least: number; gap: number }): L[] {
  const shown: L[] = [];
  for (const label of labels) {
    const before = shown.at(-1);
    const isFree = before === undefined || label.from >= before.from + before.width + gap;
    if (isFree && label.until - label.from > least) shown.push(label);
  }
  return shown;
}
