import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { withRoom } from './band-labels.ts';
import type { Band } from './scene.ts';
import type { Second } from './tally.ts';

/** What a server is asked each second, and how much of it goes well. */
export interface LoadChart {
  /** `mostHits` is the height of all charts that are compared. */
  draw(load: readonly Second[], seconds: number, mostHits: number, bands: readonly Band[]): void;
}

const HEIGHT_PX = 170;
/** Below this a band has no room for its word. */
const LABEL_PX = 28;
const LABEL_GAP_PX = 6;

export function createLoadChart(place: HTMLElement): LoadChart {
  let bands: readonly Band[] = [];
  let [seconds, mostHits] = [20, 10];
  const columns = UPlot.paths.bars?.({ size: [0.82, 60], align: 1 });
  const shape = { width: 0, points: { show: false }, ...(columns && { paths: columns }) };
  const axis = {
    stroke: () => color('--soft'),
    grid: { stroke: () => color('--line'), width: 1 },
    ticks: { show: false },
  };
  const font = '12px system-ui, sans-serif';
  const chart = new UPlot(
    {
      width: place.clientWidth || 300,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { show: false },
      padding: [14, 14, 0, 0],
      scales: {
        x: { time: false, range: () => [0, seconds] },
        y: { range: () => [0, mostHits] },
      },
      axes: [
        {
          ...axis,
          font,
          size: 28,
          space: 45,
          incrs: [1, 2, 5, 10, 20, 30, 60],
          values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '' : `${tick} s`)),
          grid: { show: false },
        },
        { ...axis, font, size: 36, space: 32, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500] },
      ],
      series: [
        {},
        { label: 'failed', fill: () => color('--fail'), ...shape },
        { label: 'good', fill: () => color('--ok'), ...shape },
      ],
      hooks: { drawClear: [drawBands] },
    },
    [[], [], []],
    place,
  );

  function drawBands({ ctx, bbox, valToPos }: UPlot): void {
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textBaseline = 'bottom';
    ctx.textAlign = 'left';
    const labels = bands.map(({ fromMs, untilMs, trouble }) => ({
      from: valToPos.call(chart, fromMs / 1_000, 'x', true),
      until: Math.min(bbox.left + bbox.width, valToPos.call(chart, untilMs / 1_000, 'x', true)),
      trouble,
      width: ctx.measureText(trouble).width,
    }));
    ctx.fillStyle = color('--band');
    for (const { from, until } of labels) ctx.fillRect(from, bbox.top, until - from, bbox.height);
    ctx.fillStyle = color('--asked');
    // Where one trouble ends and the next begins.
    for (const { from } of labels) ctx.fillRect(from, bbox.top, devicePixelRatio, bbox.height);
    const room = { least: LABEL_PX * devicePixelRatio, gap: LABEL_GAP_PX * devicePixelRatio };
    for (const { trouble, from } of withRoom(labels, room)) ctx.fillText(trouble, from, bbox.top);
    ctx.restore();
  }

  new ResizeObserver(() => {
    if (place.clientWidth > 0) chart.setSize({ width: place.clientWidth, height: HEIGHT_PX });
  }).observe(place);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => chart.redraw(false));

  return {
    draw(load, ofSeconds, ofHits, ofBands) {
      [bands, seconds, mostHits] = [ofBands, ofSeconds, ofHits];
      // A whole second of nothing behind them: the width of a column is the least distance of two.
      const at = Array.from({ length: Math.max(2, load.length + 1) }, (_, second) => second);
      chart.setData([
        at,
        at.map((second) => load[second]?.hits ?? null),
        at.map((second) => load[second]?.good ?? null),
      ]);
    },
  };
}

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
