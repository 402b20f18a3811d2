import { duration, GIVE_UP_REASONS, inWords, WAITS_FOR } from '../src/devtools/words.ts';
import type { LayerEvent } from '../src/page/index.ts';
import { type End, isSuccess, type Trace, type Wait } from './trace.ts';

/** What the page got, as short as it goes. */
export function result(end: End): string {
  switch (end.kind) {
    case 'answer':
      return String(end.status);
    case 'cut':
      return `${end.status}, cut`;
    case 'network-error':
      return 'network error';
  }
}

/** An event of the worker as one plain sentence. */
export const sentence = (event: LayerEvent, trace: Trace | undefined): string =>
  inWords(event, trace && `Request ${trace.number}`);

/** A whole timeline in words, for those who do not see it. */
export function story({ number, sentAt, attempts, waits, gaveUp, end }: Trace): string {
  const parts = attempts.flatMap(({ status }, index) => [
    `attempt ${index + 1}: ${status ?? 'no answer'}`,
    ...waits.filter(({ attempt }) => attempt === index + 1).map(pause),
  ]);
  const outcome = end
    ? `${isSuccess(end) ? 'succeeded' : 'failed'} with ${result(end)} after ${duration(end.at - sentAt)}`
    : 'under way';
  const reason = gaveUp ? [`gave up, because ${GIVE_UP_REASONS[gaveUp.reason]}`] : [];
  return `Request ${number} ${[outcome, ...parts, ...reason].join('; ')}.`;
}

export function pause({ from, until, by }: Wait): string {
  if (until === undefined) return `waits for ${WAITS_FOR[by]}`;
  return `waits ${duration((until ?? from) - from)} (${WAITS_FOR[by]})`;
}
