import { html, nothing, type TemplateResult } from 'lit';
import { icon } from './icons.js';
import { type Align, scaleFor } from './layout.js';
import type { Filter, Outcome, Row } from './model.js';
import { attemptsOf, clock, stateOf, story, subjectOf } from './row-words.js';
import { axis, legend, waterfall } from './waterfall.js';
import { duration, hostOf, reason } from './words.js';

/** What the list shows, and what it says back. */
export interface RequestsView {
  readonly rows: readonly Row[];
  /** Of how many. */
  readonly total: number;
  readonly forgotten: number;
  readonly first: number;
  readonly last: number;
  readonly rowPx: number;
  readonly trackPx: number;
  readonly now: number;
  readonly align: Align;
  readonly filter: Filter;
  readonly origins: readonly string[];
  readonly selected: string | undefined;
  readonly connected: boolean;
  readonly narrow: boolean;
  onFilter(change: Partial<Filter>): void;
  onAlign(align: Align): void;
  onSelect(key: string | undefined): void;
  onScroll(): void;
  onKey(event: KeyboardEvent): void;
}

const OUTCOMES: readonly (readonly [Outcome, string])[] = [
  ['all', 'All outcomes'],
  ['going-on', 'Going on'],
  ['good', 'Recovered, delivered'],
  ['bad', 'Gave up, set aside'],
  ['notices', 'Guards'],
];

export function requests(view: RequestsView): TemplateResult {
  const { rows, total, selected, filter, align } = view;
  const at = rows.findIndex(({ key }) => key === selected);
  const shown = rows.slice(view.first, view.last);
  const scale = scaleFor(shown, align, view.now);
  const active = at >= view.first && at < view.last ? rowId(at) : undefined;
  return html`
    <form class="filters" role="search" aria-label="Filter" @submit=${(event: Event) => event.preventDefault()}>
      <label class="search">${icon('search')}<span class="hidden">Filter by text</span>
        <input type="search" placeholder="Filter" autocomplete="off" spellcheck="false" .value=${filter.text}
          @input=${({ target }: InputEvent) => view.onFilter({ text: (target as HTMLInputElement).value })}>
      </label>
      ${chooser('Origin', filter.origin, [['', 'All origins'], ...view.origins.map((origin) => [origin, hostOf(origin)] as const)], (origin) => view.onFilter({ origin }))}
      ${chooser('Outcome', filter.outcome, OUTCOMES, (outcome) => view.onFilter({ outcome: outcome as Outcome }))}
      ${chooser(
        'Time',
        align,
        [
          ['start', 'From start'],
          ['clock', 'By the clock'],
        ],
        (to) => view.onAlign(to as Align),
      )}
      <span class="count">${rows.length === total ? total : `${rows.length} of ${total}`}</span>
    </form>
    <div class="split ${selected === undefined ? '' : 'is-split'}">
      <div class="grid" id="grid" role="grid" tabindex="0" aria-label="Requests and what became of them"
        aria-rowcount=${rows.length + 1} aria-activedescendant=${active ?? nothing}
        @scroll=${view.onScroll} @keydown=${view.onKey}>
        <div role="rowgroup" class="head">
          <div role="row" aria-rowindex="1" class="cells">
            <span role="columnheader" class="state">Outcome</span>
            <span role="columnheader" class="method">Method</span>
            <span role="columnheader" class="subject">Request</span>
            <span role="columnheader" class="group">Group</span>
            <span role="columnheader" class="number" title="Attempts">Att.</span>
            <span role="columnheader" class="number time">Time</span>
            <span role="columnheader" class="axis"><span class="hidden">Timeline</span>${axis(scale, view.trackPx)}</span>
          </div>
        </div>
        <div role="rowgroup" class="body" .style=${`height:${rows.length * view.rowPx}px`}>
          ${shown.map((row, index) => line(row, view.first + index, view, scale))}
        </div>
        ${rows.length === 0 ? empty(view) : nothing}
      </div>
      ${at < 0 ? nothing : details(rows[at] as Row, view)}
    </div>
    <footer class="foot">
      <p>Only trouble is told: no first-try successes.${view.forgotten > 0 ? ` ${view.forgotten.toLocaleString('en')} older events made room.` : ''}</p>
      ${view.narrow ? html`<details><summary>Legend</summary>${legend}</details>` : legend}
    </footer>`;
}

const rowId = (index: number): string => `row-${index}`;

function line(row: Row, index: number, view: RequestsView, scale: ReturnType<typeof scaleFor>): TemplateResult {
  const { words, tone } = stateOf(row, view.now);
  const isRequest = row.kind === 'request' || row.kind === 'outbox';
  const selected = row.key === view.selected;
  return html`<div role="row" id=${rowId(index)} class="cells line-${tone} ${isRequest ? '' : 'is-notice'} ${selected ? 'is-selected' : ''}"
    aria-rowindex=${index + 2} aria-selected=${selected} .style=${`transform:translateY(${index * view.rowPx}px)`}
    @click=${() => view.onSelect(row.key)}>
    <span role="gridcell" class="state"><span class="mark ${tone}" aria-hidden="true"></span>${words}${row.status === undefined ? nothing : html` <small>${row.status}</small>`}</span>
    <span role="gridcell" class="method">${row.method}</span>
    <span role="gridcell" class="subject" title=${row.origin + row.path}>${subjectOf(row)}${isRequest ? html`<small>${hostOf(row.origin)}</small>` : nothing}</span>
    <span role="gridcell" class="group">${row.group}</span>
    <span role="gridcell" class="number">${attemptsOf(row, view.now) || ''}</span>
    <span role="gridcell" class="number time" title=${clock(row.startedAt)}>${row.kind === 'budget' ? '' : duration((row.endedAt ?? Math.max(view.now, row.startedAt)) - row.startedAt)}</span>
    <span role="gridcell" class="axis" aria-label=${story(row, view.now)}>${waterfall(row, scale, view.trackPx, view.now)}</span>
  </div>`;
}

function details(row: Row, { onSelect, now }: RequestsView): TemplateResult {
  const { words, tone } = stateOf(row, now);
  return html`<section class="details" aria-label="Why" tabindex="0" @keydown=${({ key }: KeyboardEvent) => key === 'Escape' && onSelect(undefined)}>
    <header>
      <h3>${row.method ? html`<span class="method">${row.method}</span> ` : nothing}${subjectOf(row)}</h3>
      <button type="button" class="plain" aria-label="Close" @click=${() => onSelect(undefined)}>${icon('close')}</button>
    </header>
    <p class="facts"><strong class="badge ${tone}">${words}</strong>
      <span>${hostOf(row.origin)}</span><span>${row.group}</span><span>${clock(row.startedAt)}</span></p>
    <ol class="why">
      ${row.events.map((event) => html`<li><span class="at">${event.at < row.startedAt + 1 ? '0' : `+${duration(event.at - row.startedAt)}`}</span><span>${reason(event)}</span></li>`)}
    </ol>
  </section>`;
}

function empty({ total, connected }: RequestsView): TemplateResult {
  if (total > 0) return html`<p class="empty">Nothing of ${total} matches the filter.</p>`;
  if (!connected) {
    return html`<p class="empty">Not connected.<br>Set <code>retries</code> to what <code>connect()</code> resolves to.</p>`;
  }
  return html`<p class="empty">Nothing to tell yet.<br>Requests that succeed at once are not told, only trouble is.</p>`;
}

function chooser(
  name: string,
  value: string,
  options: readonly (readonly [value: string, words: string])[],
  onChange: (value: string) => void,
): TemplateResult {
  return html`<select aria-label=${name} .value=${value} @change=${({ target }: Event) => onChange((target as HTMLSelectElement).value)}>
    ${options.map(([option, words]) => html`<option value=${option} ?selected=${option === value}>${words}</option>`)}
  </select>`;
}
