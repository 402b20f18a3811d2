import { make, setText } from './dom.ts';
import { isSuccess, type Trace } from './trace.ts';
import { createRow, type Row } from './track.ts';

/** One side of the comparison: a score and the timelines of its latest requests. */
export interface Lane {
  /** Draws the traces as they are `now`; rows that are no longer among them go. */
  draw(traces: readonly Trace[], now: number, scaleMs: number): void;
}

/** As many as "Send 10" sends. */
export const ROWS = 10;

/** Fills the element, which has a heading already. */
export function createLane(section: HTMLElement): Lane {
  const succeeded = make('dd', '');
  const failed = make('dd', '');
  const hits = make('dd', '');
  const score = make(
    'dl',
    'score',
    make('div', 'is-ok', make('dt', '', 'succeeded'), succeeded),
    make('div', 'is-fail', make('dt', '', 'failed'), failed),
    make('div', '', make('dt', '', 'server hits'), hits),
  );
  const list = make('ol', 'rows');
  const axis = make('div', 'axis', ...Array.from({ length: TICKS }, () => make('span', '')));
  axis.setAttribute('aria-hidden', 'true');
  section.append(score, list, axis);

  const rows = new Map<string, Row>();

  return {
    draw(traces, now, scaleMs) {
      const ends = traces.flatMap(({ end }) => (end ? [end] : []));
      const good = ends.filter(isSuccess).length;
      setCount(succeeded, good);
      setCount(failed, ends.length - good);
      setCount(
        hits,
        traces.reduce((sum, { attempts }) => sum + attempts.length, 0),
      );
      for (const [index, tick] of [...axis.children].entries()) {
        if (tick instanceof HTMLElement) setText(tick, seconds((index * scaleMs) / (TICKS - 1)));
      }

      const shown = traces.slice(-ROWS);
      for (const [id, row] of rows) {
        if (shown.some((trace) => trace.id === id)) continue;
        row.element.remove();
        rows.delete(id);
      }
      const drawn = shown.map((trace) => ({ trace, row: rowFor(trace) }));
      // All tracks of a lane are equally wide.
      const widthPx = list.querySelector('.track')?.clientWidth ?? 0;
      for (const { trace, row } of drawn) row.draw(trace, now, scaleMs, widthPx);
    },
  };

  function rowFor({ id, number }: Trace): Row {
    const known = rows.get(id);
    if (known) return known;
    const row = createRow(number);
    rows.set(id, row);
    list.append(row.element);
    return row;
  }
}

function setCount(element: HTMLElement, count: number): void {
  setText(element, String(count));
  element.classList.toggle('none', count === 0);
}

const TICKS = 5;

const seconds = (ms: number): string => (ms === 0 ? '0' : `${Number((ms / 1_000).toFixed(2))} s`);
