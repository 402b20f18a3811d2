import { make, setText } from '../dom.ts';
import { createLoadChart } from './load-chart.ts';
import type { Run } from './run.ts';
import type { LaneName } from './scene.ts';
import { type Figures, figuresOf } from './tally.ts';

/** One of the three lanes: its figures and what its server was asked. */
export interface LaneView {
  draw(run: Run, seconds: number, mostHits: number): void;
}

const TITLES: Readonly<Record<LaneName, { title: string; words: string }>> = {
  none: { title: 'No worker', words: 'fetch, and that is it' },
  naive: { title: 'Naive retries', words: 'up to three more, at once' },
  steadfetch: { title: 'steadfetch', words: 'the worker below' },
};

const FIGURES: readonly { name: keyof Figures; words: string }[] = [
  { name: 'success', words: 'succeeded' },
  { name: 'attempts', words: 'attempts a request' },
  { name: 'peak', words: 'most hits a second' },
  { name: 'slowest', words: 'slowest 1 %' },
];

export function createLaneView(lane: LaneName): { element: HTMLElement; view: LaneView } {
  const { title, words } = TITLES[lane];
  const values = new Map(FIGURES.map(({ name }) => [name, make('dd', '', '–')]));
  const list = make(
    'dl',
    'figures',
    ...FIGURES.map(({ name, words }) => make('div', name, make('dt', '', words), values.get(name) ?? '')),
  );
  const place = make('div', 'chart');
  place.setAttribute('role', 'img');
  const total = make('p', 'total', 'nothing yet');
  const heading = make('h3', '', title);
  heading.id = `scene-${lane}`;
  const element = make('article', `way way-${lane}`, heading, make('p', 'way-words', words), list, place, total);
  element.setAttribute('aria-labelledby', heading.id);
  place.setAttribute('aria-label', `${title}: hits a second at the server`);
  let chart: ReturnType<typeof createLoadChart> | undefined;

  return {
    element,
    view: {
      draw(run, seconds, mostHits) {
        const tally = run.tally(lane);
        const figures = figuresOf(tally);
        for (const [name, value] of values) setText(value, figures[name]);
        setText(total, `${figures.hits} hits at the server for ${figures.sent} requests`);
        place.setAttribute('aria-label', `${title}: hits a second at the server, at most ${figures.peak}`);
        chart ??= createLoadChart(place);
        chart.draw(tally.load, seconds, mostHits, run.bands);
      },
    },
  };
}
