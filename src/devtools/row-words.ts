import type { Row } from './model.js';
import { spansOf } from './spans.js';
import { duration, hostOf } from './words.js';

export type RowTone = 'good' | 'bad' | 'busy' | 'wait' | 'quiet';

/** What becomes of a request is told within a few minutes, unless its worker was stopped. */
const NO_NEWS_MS = 300_000;

/** How a row stands, in one or two words, and which colour goes with them. */
export function stateOf(row: Row, now: number): { readonly words: string; readonly tone: RowTone } {
  switch (row.kind) {
    case 'hold': {
      const started = row.events.findLast((event) => event.type === 'hold-started');
      // A worker that was stopped meanwhile does not tell that it is over.
      const isOver = row.state === 'over' || (started !== undefined && started.until <= now);
      return isOver ? { words: 'hold over', tone: 'quiet' } : { words: 'on hold', tone: 'wait' };
    }
    case 'circuit': {
      const last = row.events.at(-1);
      const to = last?.type === 'circuit-changed' ? last.to : 'open';
      return { words: `circuit ${to}`, tone: to === 'closed' ? 'quiet' : to === 'open' ? 'bad' : 'wait' };
    }
    case 'budget':
      return { words: 'budget empty', tone: 'bad' };
    case 'outbox':
      if (row.state === 'delivered') return { words: 'delivered', tone: 'good' };
      return row.state === 'set-aside' ? { words: 'set aside', tone: 'bad' } : { words: 'kept', tone: 'wait' };
    case 'request':
      break;
  }
  if (row.state === 'recovered') return { words: 'recovered', tone: 'good' };
  if (row.state === 'gave-up') return { words: 'gave up', tone: 'bad' };
  const last = row.events.at(-1);
  if (now - (last?.at ?? now) > NO_NEWS_MS) return { words: 'no news', tone: 'quiet' };
  if (last?.type !== 'waiting') return { words: 'retrying', tone: 'busy' };
  return { words: { circuit: 'parked', hold: 'held', offline: 'offline' }[last.cause] ?? 'waiting', tone: 'wait' };
}

/** How many attempts it has had by now; while it goes on the next may be under way before anything is told of it. */
export const attemptsOf = (row: Row, now: number): number =>
  row.kind === 'request' && row.state === 'going-on'
    ? spansOf(row).filter(({ from, title }) => from <= now && title.startsWith('attempt')).length
    : row.attempts;

/** What a row is about. */
export const subjectOf = ({ kind, path, origin, group }: Row): string =>
  kind === 'request' || kind === 'outbox' ? path : path || `${group} from ${hostOf(origin)}`;

/** What the drawing of a row shows, for those who do not see it. */
export function story(row: Row, now: number): string {
  const parts = spansOf(row)
    .filter(({ from }) => from <= now)
    .toSorted((a, b) => a.from - b.from)
    .map(({ title, from, to }) => (to === from ? title : `${title}, ${duration((to ?? now) - from)}`));
  return parts.join('; ');
}

export const clock = (at: number): string => {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
};
