import type { Row } from './model.js';
import type { Span } from './spans.js';

/** Something to draw, in CSS pixels. */
export interface Piece {
  readonly span: Span;
  readonly x: number;
  readonly width: number;
  readonly shape: 'bar' | 'line' | 'dot';
  /** Wide enough for the span's label? */
  readonly label: string;
  /** It goes on past the right edge. */
  readonly cut: boolean;
}

/** Which time the whole width of a waterfall is. */
export interface Scale {
  /** Of the left edge; absent: of each row's own beginning. */
  readonly from?: number;
  readonly ms: number;
}

export type Align = 'start' | 'clock';

const SCALES_MS = [1_000, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 16_000, 20_000, 30_000, 60_000];
/** By the clock there may be hours between two rows, */
const LARGER_MS = [120_000, 300_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000];
/** and from each start on one entry that was kept for a day must not make a dot of everything else. */
const MOST_MS = 60_000;

/** So much time that everything in view fits. */
export function scaleFor(rows: readonly Row[], align: Align, now: number): Scale {
  if (rows.length === 0) return { ms: SCALES_MS[2] ?? 0 };
  const endOf = ({ endedAt }: Row) => endedAt ?? now;
  if (align === 'start') {
    const longest = Math.max(...rows.map((row) => endOf(row) - row.startedAt));
    return { ms: SCALES_MS.find((ms) => ms >= longest) ?? MOST_MS };
  }
  const from = Math.min(...rows.map(({ startedAt }) => startedAt));
  const longest = Math.max(...rows.map(endOf)) - from;
  return { from, ms: [...SCALES_MS, ...LARGER_MS].find((ms) => ms >= longest) ?? longest };
}

const LEAST_BAR_PX = 4;
const LETTER_PX = 6.5;

/** Pure: the same spans at the same time are always the same picture. */
export function layOut(
  spans: readonly Span[],
  startedAt: number,
  now: number,
  { from = startedAt, ms }: Scale,
  widthPx: number,
): readonly Piece[] {
  const pieces: Piece[] = [];
  const toPx = (at: number) => ((at - from) / ms) * widthPx;
  for (const span of spans) {
    // A retry that is to come has a wait, but nothing of its own yet.
    if (span.from > now) continue;
    const x = toPx(span.from);
    if (x > widthPx) continue;
    const isAttempt = span.tone === 'good' || span.tone === 'bad' || span.tone === 'flying';
    const end = toPx(span.to ?? now);
    const isMoment = span.to === span.from;
    const least = isAttempt ? LEAST_BAR_PX : 1;
    // At the right edge there is always room for a mark of what is there.
    const left = Math.max(0, Math.min(x, widthPx - LEAST_BAR_PX));
    const width = Math.max(least, Math.min(end, widthPx) - left);
    const label = span.label !== undefined && span.label.length * LETTER_PX + 6 <= width ? span.label : '';
    const shape = isMoment ? 'dot' : isAttempt ? 'bar' : 'line';
    pieces.push({ span, x: left, width, shape, label, cut: end > widthPx + 0.5 });
  }
  return pieces;
}

/** Which rows of a list are in view, with some before and after, so that a fast scroll shows no gap. */
export function inView(
  count: number,
  rowPx: number,
  scrollPx: number,
  viewPx: number,
  spare = 8,
): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollPx / rowPx)) - spare);
  return { first, last: Math.min(count, Math.ceil((scrollPx + viewPx) / rowPx) + spare) };
}
