import { parse, textMetrics, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import {
  attemptsOf,
  BACK_AT_MS,
  hedgingTail,
  herd,
  JITTERS,
  type Jitter,
  LAYERS,
  type Layers,
  type Load,
  PERCENTILES,
  RETURNS,
  type Return,
  recovery,
} from './measure.ts';
import type { Cell } from './report.ts';

declare module 'vega' {
  /** How wide a text is, as everything that is laid out asks. */
  const textMetrics: { width(item: { fontSize?: number }, text: unknown): number };
}

/** Light colours and what is in their place in the dark. They are in the picture as attributes, which a style outranks. */
const DARK: Readonly<Record<string, string>> = {
  '#ffffff': '#1d2027',
  '#1d2129': '#e8e9ed',
  '#5a6070': '#a4abba',
  '#e4e3de': '#343945',
  '#2456c4': '#8db0ff',
  '#b3332b': '#ff8f85',
  '#8a5a00': '#e2b35a',
  '#7a8398': '#8189a0',
};
const [OURS, NAIVE, CLASSIC] = ['#2456c4', '#b3332b', '#8a5a00'];
const STRATEGIES = { domain: ['steadfetch', 'naive', 'classic'], range: [OURS, NAIVE, CLASSIC] };

const CONFIG = {
  // A picture has its text beside it; a description of each mark would be most of its bytes.
  aria: false,
  background: '#ffffff',
  font: 'system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif',
  padding: 16,
  title: {
    anchor: 'start',
    color: '#1d2129',
    subtitleColor: '#5a6070',
    fontSize: 15,
    subtitleFontSize: 12,
    offset: 12,
  },
  axis: {
    labelColor: '#5a6070',
    titleColor: '#5a6070',
    gridColor: '#e4e3de',
    domainColor: '#5a6070',
    tickColor: '#5a6070',
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
  },
  header: {
    labelColor: '#1d2129',
    titleColor: '#5a6070',
    labelFontSize: 12,
    labelFontWeight: 600,
    labelAnchor: 'start',
  },
  legend: { labelColor: '#1d2129', titleColor: '#5a6070', labelFontSize: 12, orient: 'top', title: null },
  view: { stroke: null },
} as const;

type Spec = Omit<Extract<TopLevelSpec, { mark: unknown }>, 'data' | 'config'> & Record<string, unknown>;

/** Each picture of docs/simulator.md by its file's name; the same bytes each time. */
export async function pictures(cells: readonly Cell[]): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['herd.svg', await herdPicture()],
    ['layers.svg', await layersPicture()],
    ['recovery.svg', await recoveryPicture()],
    ['hedging.svg', await hedgingPicture()],
    ['blips.svg', await cellsPicture(cells, 'A server that is down', (failing) => !failing.includes('%'))],
    ['random.svg', await cellsPicture(cells, 'A server that fails by chance', (failing) => failing.includes('%'))],
  ]);
}

export function herdPicture(): Promise<string> {
  const loads = (Object.keys(JITTERS) as Jitter[]).map((jitter) => ({ jitter, ...herd(jitter) }));
  const name = ({ jitter, peak }: (typeof loads)[number]) => `${jitter} (at most ${peak} at once)`;
  return draw(
    loads.flatMap((load) => overTime(load).map((point) => ({ ...point, jitter: name(load) }))),
    {
      title: {
        text: 'A thousand clients lose their server in the same moment',
        subtitle: 'Attempts in each tenth of a second, by kind of jitter over waits of 0.5, 1, 2 and 4 s',
      },
      width: 620,
      height: 70,
      mark: {
        type: 'area',
        interpolate: 'step-after',
        color: OURS,
        line: { color: OURS, strokeWidth: 1 },
        fillOpacity: 0.35,
      },
      encoding: {
        x: {
          field: 'second',
          type: 'quantitative',
          title: 'seconds since then',
          scale: { nice: false },
          axis: { format: 'd' },
        },
        y: { field: 'count', type: 'quantitative', title: null, axis: { tickCount: 3 } },
        row: { field: 'jitter', type: 'nominal', title: null, sort: loads.map(name), header: { labelOrient: 'top' } },
      },
    },
  );
}

export function recoveryPicture(): Promise<string> {
  const loads = (Object.keys(RETURNS) as Return[]).map((how) => ({ how, ...recovery(how) }));
  const name = ({ how, peak }: (typeof loads)[number]) => `${how} (at most ${peak.toLocaleString('en-GB')} a second)`;
  return draw(
    loads.flatMap((load) =>
      overTime(load).map(({ second, count }) => ({
        second,
        perSecond: count * (1_000 / load.binMs),
        how: name(load),
      })),
    ),
    {
      title: {
        text: `The server is back after ${BACK_AT_MS / 1_000} s, as its Retry-After has said`,
        subtitle: 'Attempts a second of a thousand clients that together ask for 200 things a second; root scale',
      },
      width: 620,
      height: 90,
      mark: {
        type: 'area',
        interpolate: 'step-after',
        color: OURS,
        line: { color: OURS, strokeWidth: 1 },
        fillOpacity: 0.35,
      },
      encoding: {
        x: { field: 'second', type: 'quantitative', title: 'seconds', scale: { nice: false } },
        y: {
          field: 'perSecond',
          type: 'quantitative',
          title: null,
          scale: { type: 'sqrt' },
          stack: null,
          axis: { values: [200, 1_000, 3_000, 10_000] },
        },
        row: { field: 'how', type: 'nominal', title: null, sort: loads.map(name), header: { labelOrient: 'top' } },
      },
    },
  );
}

export function layersPicture(): Promise<string> {
  const names = Object.keys(LAYERS) as Layers[];
  const values = names.map((name) => ({ name, attempts: attemptsOf(name), text: attemptsOf(name).toFixed(2) }));
  return draw(values, {
    title: {
      text: 'Layers of retries multiply, unless they know of each other',
      subtitle:
        'Attempts for each request while a server is down for five minutes; a request a second, four attempts a layer',
    },
    width: 480,
    height: 130,
    encoding: {
      y: { field: 'name', type: 'nominal', sort: names, title: null, axis: { labelLimit: 400 } },
      x: { field: 'attempts', type: 'quantitative', title: 'attempts a request', scale: { domain: [0, 17] } },
    },
    layer: [
      {
        mark: { type: 'bar', height: 20, cornerRadiusEnd: 3 },
        encoding: {
          color: {
            field: 'name',
            type: 'nominal',
            scale: { domain: names, range: [NAIVE, NAIVE, CLASSIC, OURS] },
            legend: null,
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6, color: '#1d2129', fontSize: 12 },
        encoding: { text: { field: 'text', type: 'nominal' } },
      },
    ],
  } as unknown as Spec);
}

export function hedgingPicture(): Promise<string> {
  const { without, hedged, hedgeShare } = hedgingTail();
  const names = ['without', 'hedged after p95'];
  const at = (times: readonly number[], name: string | undefined) =>
    PERCENTILES.map((percentile, index) => ({ percentile: `${percentile} %`, ms: times[index], name }));
  return draw([...at(without, names[0]), ...at(hedged, names[1])], {
    title: {
      text: 'One answer in fifty takes seconds: what a hedge does about the slowest',
      subtitle: `So many of the requests are answered within …; ${(100 * hedgeShare).toFixed(1)} % more requests`,
    },
    width: 560,
    height: 220,
    mark: { type: 'line', point: true, strokeWidth: 2.5 },
    encoding: {
      x: { field: 'percentile', type: 'ordinal', sort: null, title: null, axis: { labelAngle: 0 } },
      y: {
        field: 'ms',
        type: 'quantitative',
        title: 'milliseconds, logarithmic',
        scale: { type: 'log', domain: [40, 6_000] },
        axis: { values: [50, 100, 200, 500, 1_000, 2_000, 5_000] },
      },
      color: { field: 'name', type: 'nominal', scale: { domain: names, range: ['#7a8398', OURS] } },
    },
  });
}

function cellsPicture(cells: readonly Cell[], text: string, among: (failing: string) => boolean): Promise<string> {
  const shown = cells.filter(({ failing }) => among(failing));
  const values = shown.flatMap(({ failing, traffic, figures }) =>
    STRATEGIES.domain.map((strategy) => {
      const { successShare, attemptsPerRequest } = figures[strategy as keyof Cell['figures']];
      return {
        failing,
        traffic: traffic === '30 a minute at once' ? '30 at once' : traffic,
        strategy,
        success: round(100 * successShare),
        attempts: round(attemptsPerRequest),
      };
    }),
  );
  const column = (field: 'success' | 'attempts', most: number, title: string) => ({
    facet: {
      row: {
        field: 'failing',
        type: 'nominal',
        title,
        sort: [...new Set(shown.map(({ failing }) => failing))],
        header: { labelOrient: 'top', titleOrient: 'top', titleAnchor: 'start' },
      },
    },
    spec: {
      width: 270,
      height: 75,
      mark: 'bar',
      encoding: {
        x: { field: 'traffic', type: 'nominal', title: null, sort: null, axis: { labelAngle: 0 } },
        xOffset: { field: 'strategy', type: 'nominal', sort: STRATEGIES.domain },
        y: { field, type: 'quantitative', title: null, scale: { domain: [0, most] }, axis: { tickCount: 3 } },
        color: { field: 'strategy', type: 'nominal', scale: STRATEGIES },
      },
    },
  });
  return draw(values, {
    title: { text, subtitle: 'By how often one client asks' },
    hconcat: [column('success', 100, 'succeeded, %'), column('attempts', 4, 'attempts a request')],
  } as unknown as Spec);
}

const round = (value: number): number => Math.round(value * 100) / 100;

const overTime = ({ binMs, counts }: Load) =>
  counts.map((count, bin) => ({ second: Math.round(bin * binMs) / 1_000, count }));

// Without a canvas it takes letters for wider than they are, and pictures would be half empty.
const LETTER = 0.57;
textMetrics.width = ({ fontSize = 11 }, text) => LETTER * fontSize * String(text).length;

async function draw(values: readonly object[], spec: Spec): Promise<string> {
  const whole = { ...spec, data: { values: [...values] }, config: CONFIG } as unknown as TopLevelSpec;
  const view = new View(parse(compile(whole).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return `${renumbered(inBothSchemes(svg)).replace(/\d+\.\d{3,}/g, hundredths)}\n`;
}

/** Its clips are counted over all pictures of a process, which is not to show in them. */
function renumbered(svg: string): string {
  const ids = [...new Set(svg.match(/\bclip\d+/g))];
  return svg.replace(/\bclip\d+/g, (id) => `clip${ids.indexOf(id) + 1}`);
}

/** More than anybody sees, and less than two machines may differ by. */
const hundredths = (digits: string): string => String(round(Number(digits)));

function inBothSchemes(svg: string): string {
  const rules = Object.entries(DARK).map(
    ([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`,
  );
  return svg.replace(/(<svg[^>]*>)/, `$1<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`);
}
