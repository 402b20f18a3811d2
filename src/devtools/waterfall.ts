import { html, nothing, svg, type TemplateResult } from 'lit';
import { layOut, type Piece, type Scale } from './layout.js';
import type { Row } from './model.js';
import { clock } from './row-words.js';
import { spansOf } from './spans.js';

const TRACK_PX = 20;
/** Quarters of a track. */
const QUARTERS = [0, 1, 2, 3, 4];

/** A row's time as a picture. Its colours are in `style.ts`; positions are attributes, which no policy forbids. */
export function waterfall(row: Row, scale: Scale, widthPx: number, now: number): TemplateResult {
  const pieces = layOut(spansOf(row), row.startedAt, now, scale, widthPx);
  const lanes = pieces.some(({ span }) => span.lane === 1) ? 2 : 1;
  return html`<svg class="track" width=${widthPx} height=${TRACK_PX} aria-hidden="true">
    ${QUARTERS.map((quarter) => {
      const x = Math.min(widthPx - 0.5, Math.round((quarter * widthPx) / 4) + 0.5);
      return svg`<line class="quarter" x1=${x} x2=${x} y1="0" y2=${TRACK_PX}></line>`;
    })}
    ${pieces.map((piece) => drawn(piece, lanes))}
  </svg>`;
}

function drawn({ span: { tone, lane, title }, x, width, shape, label, cut }: Piece, lanes: 1 | 2) {
  const height = lanes === 2 ? 8 : 14;
  const y = lanes === 2 ? 1 + lane * 10 : 3;
  const middle = y + height / 2;
  if (shape === 'dot') {
    // A diamond for a moment, a disc for a delivery.
    return tone === 'moment'
      ? svg`<path class="piece moment" d=${`M${Math.max(5.5, x)} ${middle - 4.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`}><title>${title}</title></path>`
      : svg`<circle class=${`piece ${tone}`} cx=${Math.max(5, x)} cy=${middle} r="5"><title>${title}</title></circle>`;
  }
  if (shape === 'line') {
    return svg`<g class=${`line ${tone}`}><title>${title}</title>
      <line x1=${x} x2=${x + width} y1=${middle} y2=${middle}></line>
      <rect class="hit" x=${x} y=${y} width=${width} height=${height}></rect></g>`;
  }
  return svg`<g class=${`piece ${tone}`}><title>${title}</title>
    <rect x=${x} y=${y} width=${width} height=${height} rx="2.5"></rect>
    ${cut ? svg`<path class="cut" d=${`M${x + width - 4} ${y + 2}l3 ${height / 2 - 2}l-3 ${height / 2 - 2}`}></path>` : nothing}
    ${label && lanes === 1 ? svg`<text x=${x + width / 2} y=${middle + 3.5} text-anchor="middle">${label}</text>` : nothing}</g>`;
}

/** The times above the tracks. */
export function axis({ from, ms }: Scale, widthPx: number): TemplateResult {
  const ticks = widthPx < 320 ? [0, 2, 4] : QUARTERS;
  return html`<svg class="ticks" width=${widthPx} height="16" aria-hidden="true">
    ${ticks.map((quarter) => {
      const anchor = quarter === 0 ? 'start' : quarter === 4 ? 'end' : 'middle';
      const at = (quarter * ms) / 4;
      const text = from === undefined ? elapsed(at) : clock(from + at);
      return svg`<text x=${(quarter * widthPx) / 4} y="12" text-anchor=${anchor}>${text}</text>`;
    })}
  </svg>`;
}

const elapsed = (ms: number): string =>
  ms === 0 ? '0' : ms < 60_000 ? `${Number((ms / 1_000).toFixed(2))} s` : `${ms / 60_000} min`;

/** What the colours and strokes mean. */
export const legend: TemplateResult = html`<ul class="legend" aria-label="Legend">
  ${(
    [
      ['good', 'answered'],
      ['bad', 'failed'],
      ['flying', 'under way'],
      ['backoff', 'backoff'],
      ['asked', 'asked by the server'],
      ['parked', 'parked'],
      ['offline', 'offline'],
      ['kept', 'in the outbox'],
    ] as const
  ).map(([tone, words]) => {
    const isBar = tone === 'good' || tone === 'bad' || tone === 'flying';
    const sample = isBar
      ? svg`<g class=${`piece ${tone}`}><rect x="1" y="2" width="14" height="8" rx="2"></rect></g>`
      : svg`<g class=${`line ${tone}`}><line x1="0" x2="16" y1="6" y2="6"></line></g>`;
    return html`<li><svg width="16" height="12" aria-hidden="true">${sample}</svg>${words}</li>`;
  })}
</ul>`;
