import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { LayerEvent, LayerStatus, OutboxItem } from '../protocol/index.js';
import { type Asking, createAsking } from './asking.js';
import { counters } from './counters-view.js';
import { dockPx, pill, resizer } from './dock-view.js';
import { createFeed } from './feed.js';
import { icon, logo } from './icons.js';
import { rowByKey, tabByKey } from './keys.js';
import { type Align, inView } from './layout.js';
import { ALL, EMPTY, eventsOf, type Filter, filtered, heardOf, type Model, type Row, withEvents } from './model.js';
import { isTroubled, origins } from './origins-view.js';
import { isPending, outbox } from './outbox-view.js';
import { requests } from './requests-view.js';
import { download, remember, remembered, withoutAnswer } from './saved.js';
import type { DevtoolsLine } from './show.js';
import { styles } from './style.js';

const TABS = ['requests', 'origins', 'outbox', 'counters'] as const;
type Tab = (typeof TABS)[number];
const TAB_WORDS: Readonly<Record<Tab, string>> = {
  requests: 'Requests',
  origins: 'Origins',
  outbox: 'Outbox',
  counters: 'Counters',
};

/** Below this a row has two lines, */
const NARROW_PX = 640;
/** Below this the bar has no room for all of its tabs beside its buttons. */
const SNUG_PX = 1_040;
const ROW_PX = 28;
const TALL_ROW_PX = 50;
/** Whatever is drawn to time is drawn again after this long, while it goes on; */
const TICK_MS = 100;
const CALM_TICK_MS = 1_000;
/** The worker is asked this often, and not at all by a list of requests at which nothing happens. */
const ASK_MS = 1_000;
const ASK_SOON_MS = 250;
/** So long a second click on Clear counts. */
const SURE_MS = 4_000;

class Devtools extends LitElement {
  static override properties = {
    retries: { attribute: false },
    open: { type: Boolean, reflect: true },
    docked: { type: Boolean, reflect: true },
    theme: { reflect: true },
    model: { state: true },
    tab: { state: true },
    filter: { state: true },
    align: { state: true },
    selected: { state: true },
    frozen: { state: true },
    status: { state: true },
    items: { state: true },
    clearing: { state: true },
    widthPx: { state: true },
    trackPx: { state: true },
    heightPx: { state: true },
  };
  static override styles = styles;

  declare retries: DevtoolsLine | undefined;
  declare open: boolean;
  declare docked: boolean;
  declare theme: string | undefined;
  declare model: Model;
  declare tab: Tab;
  declare filter: Filter;
  declare align: Align;
  declare selected: string | undefined;
  /** What is shown while the display is paused, and as of when. */
  declare frozen: { readonly model: Model; readonly at: number } | undefined;
  declare status: LayerStatus | undefined;
  declare items: readonly OutboxItem[] | undefined;
  declare clearing: boolean;
  declare widthPx: number;
  declare trackPx: number;
  declare heightPx: number;

  /** Does something go on in view? */
  #moves = false;
  readonly #asking: Asking = createAsking(
    () => this.#ask(),
    () => this.#isSeen(),
  );
  #endFeed: (() => void) | undefined;
  /** Whose feed that is. */
  #heard: DevtoolsLine | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;
  #sure: ReturnType<typeof setTimeout> | undefined;
  /** The list follows what comes as long as its end is in view. */
  #follows = true;
  #filtered: { of: readonly Row[]; by: Filter; rows: readonly Row[] } = { of: [], by: ALL, rows: [] };
  #sizes: ResizeObserver | undefined;
  #frame = 0;
  /** What had the focus before it was drawn anew. */
  #focused: Element | undefined;

  constructor() {
    super();
    this.open = true;
    this.docked = false;
    this.model = EMPTY;
    this.tab = 'requests';
    this.filter = ALL;
    this.align = 'start';
    this.clearing = false;
    this.widthPx = 1_000;
    this.trackPx = 300;
    this.heightPx = 340;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.docked) {
      const { open = this.open, heightPx = this.heightPx } = remembered();
      this.open = open;
      this.heightPx = heightPx;
    }
    this.#sizes = new ResizeObserver(this.#resized);
    this.#sizes.observe(this);
    this.#listen();
    document.addEventListener('visibilitychange', this.#wake);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#endFeed?.();
    this.#endFeed = undefined;
    this.#sizes?.disconnect();
    clearTimeout(this.#tick);
    this.#asking.stop();
    clearTimeout(this.#sure);
    this.clearing = false;
    cancelAnimationFrame(this.#frame);
    document.removeEventListener('visibilitychange', this.#wake);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('retries') && this.isConnected && this.retries !== this.#heard) this.#listen();
    this.#focused = this.renderRoot?.querySelector('.view :focus') ?? undefined;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('tab') || changed.has('open')) {
      this.#wake();
      // A list that is made anew begins at its top.
      this.#follows ||= this.tab !== 'requests';
    }
    const grid = this.#grid();
    // An entry that is gone takes its buttons with it.
    if (this.#focused?.isConnected === false) (grid ?? this.renderRoot.querySelector<HTMLElement>('#view'))?.focus();
    if (grid && this.#follows && this.selected === undefined) grid.scrollTop = grid.scrollHeight;
    this.#measure();
    this.#schedule();
  }

  protected override render(): TemplateResult {
    if (this.docked && !this.open) return pill(this.#going(), () => this.#setOpen(true));
    const unseen = heardOf(this.model) - heardOf(this.#shown());
    return html`<section class="panel ${this.#isNarrow() ? 'is-narrow' : ''} ${this.widthPx < SNUG_PX ? 'is-snug' : ''} ${this.docked ? 'is-docked' : ''}" aria-label="steadfetch devtools"
        .style=${this.docked ? `height:${dockPx(this.heightPx)}px` : ''}>
      ${this.docked ? resizer(dockPx(this.heightPx), this.#onResize) : nothing}
      <header class="bar">
        <h2>${logo}<span>steadfetch</span>${this.#connection()}</h2>
        <div role="tablist" aria-label="Views" @keydown=${this.#onTabKey}>${TABS.map((tab) => this.#tabOf(tab))}</div>
        <div class="actions">
          ${this.#action(this.frozen ? 'play' : 'pause', this.frozen ? `Resume${unseen > 0 ? ` (${unseen})` : ''}` : 'Pause', this.#onPause, this.frozen !== undefined)}
          ${this.#action('clear', 'Clear', this.#onClear)}
          ${this.#action('save', 'Export', this.#onExport)}
          ${this.docked ? this.#action('down', 'Collapse', () => this.#setOpen(false)) : nothing}
        </div>
      </header>
      <div role="tabpanel" id="view" class="view" aria-labelledby=${`tab-${this.tab}`} tabindex=${this.tab === 'requests' ? nothing : '0'}>${this.#view()}</div>
    </section>`;
  }

  #view(): TemplateResult {
    const now = this.frozen?.at ?? Date.now();
    const { status, items, clearing } = this;
    switch (this.tab) {
      case 'requests':
        return this.#requests(now);
      case 'origins':
        return origins({
          status,
          now,
          onRetryNow: (origin) => this.#do((line) => line.retryNow(origin)),
          onReset: (origin) => this.#do((line) => line.reset(origin)),
        });
      case 'outbox':
        return outbox({
          items,
          now,
          clearing,
          onRetry: (id) => this.#do((line) => line.outbox.retry(id)),
          onCancel: (id) => this.#do((line) => line.outbox.cancel(id)),
          onClear: this.#onClearOutbox,
        });
      case 'counters':
        return counters(status);
    }
  }

  #requests(now: number): TemplateResult {
    const shown = this.#shown();
    const rows = this.#rows();
    const grid = this.#grid();
    const rowPx = this.#rowPx();
    const viewPx = grid?.clientHeight ?? this.heightPx;
    const follows = this.#follows && this.selected === undefined;
    const scrollPx = follows ? rows.length * rowPx - viewPx : (grid?.scrollTop ?? 0);
    const view = inView(rows.length, rowPx, scrollPx, viewPx);
    this.#moves = rows.slice(view.first, view.last).some(({ state }) => state === 'going-on');
    return requests({
      rows,
      ...view,
      total: shown.rows.length,
      forgotten: shown.forgotten,
      rowPx,
      trackPx: this.trackPx,
      now,
      align: this.align,
      filter: this.filter,
      // The chosen one stays to be seen when its rows are gone.
      origins: [...new Set([this.filter.origin, ...shown.rows.map(({ origin }) => origin)].filter(Boolean))],
      selected: this.selected,
      connected: this.retries !== undefined,
      narrow: this.#isNarrow(),
      onFilter: (change) => {
        this.filter = { ...this.filter, ...change };
      },
      onAlign: (align) => {
        this.align = align;
      },
      onSelect: this.#select,
      onScroll: this.#onScroll,
      onKey: this.#onKey,
    });
  }

  #rows(): readonly Row[] {
    const { rows } = this.#shown();
    if (this.#filtered.of !== rows || this.#filtered.by !== this.filter) {
      this.#filtered = { of: rows, by: this.filter, rows: filtered(rows, this.filter) };
    }
    return this.#filtered.rows;
  }

  #shown = (): Model => this.frozen?.model ?? this.model;

  #connection(): TemplateResult {
    const { retries } = this;
    const good = retries?.state === 'controlled' || retries?.state === 'waiting';
    const words =
      retries === undefined ? 'not connected' : good ? `worker ${retries.workerVersion ?? ''}` : retries.state;
    return html`<small class="connection"><span class="mark ${good ? 'good' : 'bad'}" aria-hidden="true"></span>${words}</small>`;
  }

  #tabOf(tab: Tab): TemplateResult {
    const selected = tab === this.tab;
    const count = this.#badge(tab);
    return html`<button type="button" role="tab" id=${`tab-${tab}`} aria-selected=${selected} aria-controls=${selected ? 'view' : nothing} tabindex=${selected ? 0 : -1}
      @click=${() => this.#show(tab)}>${TAB_WORDS[tab]}${count > 0 ? html` <span class="badge ${tab === 'requests' ? 'quiet' : 'wait'}">${count.toLocaleString('en')}</span>` : nothing}</button>`;
  }

  #badge(tab: Tab): number {
    const now = Date.now();
    if (tab === 'requests') return this.#shown().rows.length;
    if (tab === 'origins') return (this.status?.origins ?? []).filter((origin) => isTroubled(origin, now)).length;
    return tab === 'outbox' ? (this.items ?? []).filter(isPending).length : 0;
  }

  #action(name: Parameters<typeof icon>[0], words: string, onClick: () => void, isOn = false): TemplateResult {
    return html`<button type="button" class="plain ${isOn ? 'is-on' : ''}" aria-label=${words} title=${words} @click=${onClick}>${icon(name)}<span>${words}</span></button>`;
  }

  #going = (): number => this.model.rows.filter(({ state, kind }) => state === 'going-on' && kind === 'request').length;

  #onResize = (heightPx: number): void => {
    this.heightPx = heightPx;
    remember({ heightPx });
  };

  #setOpen(open: boolean): void {
    this.open = open;
    remember({ open });
    // Where the button was is another one now.
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(open ? '[role=tab][aria-selected=true]' : '.pill')?.focus(),
    );
  }

  #show(tab: Tab): void {
    this.tab = tab;
    this.clearing = false;
  }

  #onTabKey = (event: KeyboardEvent): void => {
    const to = tabByKey(event.key, TABS.indexOf(this.tab), TABS.length);
    const tab = to === undefined ? undefined : TABS[to];
    if (tab === undefined) return;
    event.preventDefault();
    this.#show(tab);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#tab-${tab}`)?.focus());
  };

  #onKey = (event: KeyboardEvent): void => {
    const rows = this.#rows();
    if (event.key === 'Escape') this.#select(undefined);
    const at = rows.findIndex(({ key }) => key === this.selected);
    const page = Math.max(1, Math.floor((this.#grid()?.clientHeight ?? 0) / this.#rowPx()) - 2);
    const index = rowByKey(event.key, at, rows.length, page);
    if (index === undefined) return;
    event.preventDefault();
    this.#select(rows[index]?.key);
    this.#reveal(index);
  };

  #reveal(index: number): void {
    const grid = this.#grid();
    if (!grid) return;
    const rowPx = this.#rowPx();
    const headPx = this.renderRoot.querySelector<HTMLElement>('.head')?.offsetHeight ?? 0;
    const top = index * rowPx;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowPx + headPx > grid.scrollTop + grid.clientHeight)
      grid.scrollTop = top + rowPx + headPx - grid.clientHeight;
    this.requestUpdate();
  }

  #select = (key: string | undefined): void => {
    const closes = key === undefined && this.renderRoot.querySelector('.details:focus-within') !== null;
    this.selected = key;
    if (closes) this.#grid()?.focus();
    // The list may be narrower and lower beside the details than it was.
    else
      void this.updateComplete.then(() => {
        const index = this.#rows().findIndex((row) => row.key === key);
        if (index >= 0) this.#reveal(index);
      });
  };

  #onScroll = (): void => {
    const grid = this.#grid();
    if (!grid) return;
    this.#follows = grid.scrollTop + grid.clientHeight >= grid.scrollHeight - this.#rowPx() / 2;
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.requestUpdate());
  };

  #onPause = (): void => {
    this.frozen = this.frozen ? undefined : { model: this.model, at: Date.now() };
    this.#wake();
  };

  #onClear = (): void => {
    this.model = EMPTY;
    if (this.frozen) this.frozen = { ...this.frozen, model: EMPTY };
    this.selected = undefined;
    this.#follows = true;
  };

  #onExport = async (): Promise<void> => {
    await this.#asking.now();
    const { retries, status, items, model } = this;
    download({
      format: 'steadfetch-events',
      version: 1,
      savedAt: new Date().toISOString(),
      page: location.origin + location.pathname,
      ...(retries?.workerVersion === undefined ? {} : { workerVersion: retries.workerVersion }),
      forgotten: model.forgotten,
      ...(status && { status }),
      ...(items && { outbox: items.map(withoutAnswer) }),
      events: eventsOf(model),
    });
  };

  #onClearOutbox = ({ detail }: MouseEvent): void => {
    // Whoever clicks twice by habit has not read what the button says now.
    if (detail > 1) return;
    clearTimeout(this.#sure);
    if (this.clearing) this.#do((line) => line.outbox.clear());
    this.clearing = !this.clearing;
    if (!this.clearing) return;
    this.#sure = setTimeout(() => {
      this.clearing = false;
    }, SURE_MS);
  };

  #do(what: (line: DevtoolsLine) => Promise<unknown>): void {
    const line = this.retries;
    if (line) void what(line).then(() => this.#asking.now());
  }

  #listen(): void {
    this.#endFeed?.();
    this.#heard = this.retries;
    this.#endFeed = this.retries && createFeed(this.retries, this.#hear);
    void this.#asking.now();
  }

  #hear = (events: readonly LayerEvent[]): void => {
    this.model = withEvents(this.model, events);
    if (!this.frozen) this.#asking.within(ASK_SOON_MS);
  };

  #wake = (): void => {
    if (!this.frozen && this.retries) this.#asking.within(0);
  };

  #resized = (): void => {
    this.#measure();
    this.requestUpdate();
    this.#wake();
  };

  /** Is there anybody who could look? */
  #isSeen = (): boolean =>
    this.isConnected && !document.hidden && (this.open || !this.docked) && this.getClientRects().length > 0;

  async #ask(): Promise<number | undefined> {
    const line = this.retries;
    const [status, items] = await Promise.all([line?.status(), line?.outbox.list()]);
    if (line !== this.retries) return undefined;
    this.status = status;
    this.items = items;
    return this.tab === 'requests' || this.frozen || !line ? undefined : ASK_MS;
  }

  /** Draws again while something that is in view goes on. */
  #schedule(): void {
    clearTimeout(this.#tick);
    if (this.frozen || !this.#isSeen()) return;
    const moves = this.tab === 'requests' ? this.#moves : this.tab !== 'counters';
    if (!moves) return;
    const calm = this.tab !== 'requests' || matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#tick = setTimeout(() => this.requestUpdate(), calm ? CALM_TICK_MS : TICK_MS);
  }

  #measure(): void {
    const widthPx = this.clientWidth || this.offsetWidth;
    if (widthPx > 0 && widthPx !== this.widthPx) this.widthPx = widthPx;
    const trackPx = this.renderRoot?.querySelector('.head .axis')?.clientWidth ?? 0;
    if (trackPx > 0 && trackPx !== this.trackPx) this.trackPx = trackPx;
  }

  #grid = (): HTMLElement | null => this.renderRoot?.querySelector<HTMLElement>('#grid') ?? null;
  #isNarrow = (): boolean => this.widthPx < NARROW_PX;
  #rowPx = (): number => (this.#isNarrow() ? TALL_ROW_PX : ROW_PX);
}

/** Makes the element known to this page, where there is one, and once. */
export function defineDevtools(): void {
  const { customElements } = globalThis;
  if (customElements && !customElements.get('steadfetch-devtools'))
    customElements.define('steadfetch-devtools', Devtools);
}
