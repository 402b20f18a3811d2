/** A figure of several runs: its median, and the smallest and largest. Those of five enclose the true median with 94 %. */
export function spread(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  return { mid: quantile(sorted, 0.5), low: sorted[0], high: sorted.at(-1) };
}

export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => quantile(values, 0.5);

/** Run by run, so that what else the machine does meets both alike. */
export const ratios = (ours, theirs, figureOf) => spread(ours.map((run, at) => figureOf(run) / figureOf(theirs[at])));

export const show = ({ mid, low, high }, digits, unit = '') =>
  `${mid.toFixed(digits)}${unit} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

/** Rows of texts as Markdown; the first column is a name, the others are figures. */
export function asTable(columns, rows) {
  const lines = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const padded = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))),
  );
  return [padded[0], rule, ...padded.slice(1)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
