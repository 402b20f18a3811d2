import { duration } from '../src/devtools/words.ts';
import { make, setText } from './dom.ts';
import { layOut, type Piece } from './timeline.ts';
import { isSuccess, type Trace } from './trace.ts';
import { result, story } from './words.ts';

/** One request of a lane: its number, its timeline and what came of it. */
export interface Row {
  readonly element: HTMLElement;
  draw(trace: Trace, now: number, scaleMs: number, widthPx: number): void;
}

export function createRow(number: number): Row {
  const track = make('div', 'track');
  const what = make('span', '');
  const time = make('span', '');
  const outcome = make('span', 'outcome', what, time);
  const words = make('span', 'visually-hidden');
  const element = make('li', 'row', make('span', 'number', String(number)), track, outcome, words);
  for (const seen of [...element.children]) if (seen !== words) seen.setAttribute('aria-hidden', 'true');

  return {
    element,
    draw(trace, now, scaleMs, widthPx) {
      const pieces = layOut(trace, now, scaleMs, widthPx);
      while (track.children.length > pieces.length) track.lastElementChild?.remove();
      for (const [index, piece] of pieces.entries()) {
        const child = track.children[index];
        show(piece, child instanceof HTMLElement ? child : track.appendChild(make('span', '')));
      }
      const { end, sentAt } = trace;
      element.dataset.outcome = end === undefined ? 'open' : isSuccess(end) ? 'ok' : 'fail';
      setText(what, end ? result(end) : '');
      setText(time, end ? duration(end.at - sentAt) : running(now - sentAt));
      // Read out when somebody asks for it, not at every frame.
      if (end || words.textContent === '') setText(words, story(trace));
    },
  };
}

/** Whole tenths: more would only flicker. */
const running = (ms: number): string => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;

/** Positions go in by script, not by a `style` attribute, which a strict Content-Security-Policy forbids. */
function show({ kind, tone, from, to, label, title }: Piece, element: HTMLElement): void {
  const className = `piece ${kind} ${tone}`;
  if (element.className !== className) element.className = className;
  element.style.setProperty('transform', `translateX(${from.toFixed(1)}px)`);
  element.style.setProperty('width', `${(to - from).toFixed(1)}px`);
  if (element.title !== title) element.title = title;
  setText(element, label);
}
