import type { RequestType } from './catalogue.ts';
import { type Difference, differences, inWords, type Seen, secondAttempts, urlOf } from './compare.ts';
import { type Column, RULES } from './expected.ts';

/** What each run saw, by the id of the type. */
export type Runs = Readonly<Record<RunName, ReadonlyMap<string, Seen>>>;
export type RunName = 'none' | 'bare' | 'ours' | 'busy' | 'lost' | 'warm';

/** The ids of the rules that apply, or a word for what cannot be compared. */
export type Cell = readonly string[] | 'left alone' | 'partly left alone' | 'once';
export type Row = Readonly<Record<Column, Cell>>;

/** One line of the table, and what no rule explains. */
export function judge(type: RequestType, runs: Runs): { readonly row: Row; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const seen = (run: RunName): Seen => runs[run].get(type.id) ?? { hits: [], page: {} };

  const explained = (column: Column, all: readonly Difference[]): readonly string[] => {
    const ids = all.flatMap((one) => {
      const rule = RULES.find(
        ({ columns, types, fits }) => columns.includes(column) && (types?.includes(type.id) ?? true) && fits(one),
      );
      if (rule === undefined) problems.push(`${type.id}, ${column}: ${inWords(one)}`);
      return rule === undefined || rule.byChance ? [] : rule.id;
    });
    return [...new Set(ids)].sort();
  };

  const ours = (): Cell => {
    const parts = partsOf({ none: seen('none'), bare: seen('bare'), ours: seen('ours') }).map(
      ({ none, bare, ours }) => ({
        fromBare: differences(bare, ours),
        isAlone: differences(none, ours).every(({ field }) => field.endsWith('.viaWorker')),
      }),
    );
    const others = parts.filter(({ fromBare }) => fromBare.length > 0);
    if (others.length === 0 || !others.every(({ isAlone }) => isAlone))
      return explained(
        'ours',
        others.flatMap(({ fromBare, isAlone }) => (isAlone ? [] : fromBare)),
      );
    return parts.every(({ isAlone }) => isAlone) ? 'left alone' : 'partly left alone';
  };

  const second = (column: Column, run: RunName): Cell => {
    const { hits, page } = seen(run);
    const later = secondAttempts(hits);
    if (later === undefined) return 'once';
    const asPage = column === 'stored' ? [] : differences({ hits: [], page: seen('ours').page }, { hits: [], page });
    return explained(column, [...later, ...asPage]);
  };

  const row = {
    bare: explained('bare', differences(seen('none'), seen('bare'))),
    ours: ours(),
    busy: second('busy', 'busy'),
    lost: second('lost', 'lost'),
    stored: second('stored', 'warm'),
  };
  return { row, problems };
}

interface Three {
  readonly none: Seen;
  readonly bare: Seen;
  readonly ours: Seen;
}

/** The requests to each URL, and what the page sees: some of it may be left alone, and some not. */
function partsOf({ none, bare, ours }: Three): readonly Three[] {
  const each = (part: (seen: Seen) => Seen): Three => ({ none: part(none), bare: part(bare), ours: part(ours) });
  const urls = new Set([none, bare, ours].flatMap(({ hits }) => hits.map(urlOf)));
  return [
    ...[...urls].map((url) => each(({ hits }) => ({ hits: hits.filter((hit) => urlOf(hit) === url), page: {} }))),
    each(({ page }) => ({ hits: [], page })),
  ];
}
