/** The median of several figures, and their ends. */
interface Spread {
  readonly mid: number;
  readonly low: number;
  readonly high: number;
}

export declare function spread(figures: readonly number[]): Spread;
export declare function quantile(values: readonly number[], share: number): number;
export declare function median(values: readonly number[]): number;
export declare function ratios<Run>(
  ours: readonly Run[],
  theirs: readonly Run[],
  figureOf: (run: Run) => number,
): Spread;
export declare function show(spread: Spread, digits: number, unit?: string): string;
export declare function asTable(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string;
