import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { LayerEvent, LayerStatus, OutboxItem } from '../protocol/index.js';
import { counters } from './counters-view.js';
import { createFeed } from './feed.js';
import { icon, logo } from './icons.js';
import { type Align, inView } from './layout.js';
import { ALL, EMPTY, eventsOf, type Filter, filtered, MOST_EVENTS, type Model, type Row, withEvents } from './model.js';
import { isTroubled, origins } from './origins-view.js';
import { isPending, outbox } from './outbox-view.js';
import { requests } from './requests-view.js';
import { download, remember, remembered } from './saved.js';
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
/** The worker is asked no more often than this, and not at all by a list of requests at which nothing happens. */
const ASK_MS = 1_000;
const ASK_SOON_MS = 250;
/** So long a second click on Clear counts. */
const SURE_MS = 4_000;
const LEAST_PX = 160;

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
    paused: { state: true },
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
  declare paused: boolean;
  declare status: LayerStatus | undefined;
  declare items: readonly OutboxItem[] | undefined;
  declare clearing: boolean;
  declare widthPx: number;
  declare trackPx: number;
  declare heightPx: number;

  /** What came while the display was paused. */
  #backlog: LayerEvent[] = [];
  #pausedAt = 0;
  /** Does something go on in view? */
  #moves = false;
  #endFeed: (() => void) | undefined;
  /** Whose feed that is. */
  #heard: DevtoolsLine | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;
  #ask: ReturnType<typeof setTimeout> | undefined;
  #askedAt = 0;
  /** The list follows what comes as long as its end is in view. */
  #follows = true;
  #filtered: { of: readonly Row[]; by: Filter; rows: readonly Row[] } = { of: [], by: ALL, rows: [] };
  #sizes: ResizeObserver | undefined;
  #frame = 0;

  constructor() {
    super();
    this.open = true;
    this.docked = false;
    this.model = EMPTY;
    this.tab = 'requests';
    this.filter = ALL;
    this.align = 'start';
    this.paused = false;
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
    this.#sizes = new ResizeObserver(() => this.#measure());
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
    clearTimeout(this.#ask);
    cancelAnimationFrame(this.#frame);
    document.removeEventListener('visibilitychange', this.#wake);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('retries') && this.isConnected && this.retries !== this.#heard) this.#listen();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('tab') || changed.has('open')) {
      this.#wake();
      // A list that is made anew begins at its top.
      this.#follows ||= this.tab !== 'requests';
    }
    const grid = this.#grid();
    if (grid && this.#follows && this.selected === undefined) grid.scrollTop = grid.scrollHeight;
    this.#measure();
    this.#schedule();
  }

  protected override render(): TemplateResult {
    if (this.docked && !this.open) return this.#pill();
    return html`<section class="panel ${this.#isNarrow() ? 'is-narrow' : ''} ${this.widthPx < SNUG_PX ? 'is-snug' : ''} ${this.docked ? 'is-docked' : ''}" aria-label="steadfetch devtools"
        .style=${this.docked ? `height:${this.heightPx}px` : ''}>
      ${this.docked ? this.#resizer() : nothing}
      <header class="bar">
        <h2>${logo}<span>steadfetch</span>${this.#connection()}</h2>
        <div role="tablist" aria-label="Views" @keydown=${this.#onTabKey}>${TABS.map((tab) => this.#tabOf(tab))}</div>
        <div class="actions">
          ${this.#action(this.paused ? 'play' : 'pause', this.paused ? `Resume${this.#backlog.length > 0 ? ` (${this.#backlog.length})` : ''}` : 'Pause', this.#onPause, this.paused)}
          ${this.#action('clear', 'Clear', this.#onClear)}
          ${this.#action('save', 'Export', this.#onExport)}
          ${this.docked ? this.#action('down', 'Collapse', () => this.#setOpen(false)) : nothing}
        </div>
      </header>
      <div role="tabpanel" id="view" class="view" aria-labelledby=${`tab-${this.tab}`} tabindex=${this.tab === 'requests' ? nothing : '0'}>${this.#view()}</div>
    </section>`;
  }

  #view(): TemplateResult {
    const now = this.paused ? this.#pausedAt : Date.now();
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
      total: this.model.rows.length,
      forgotten: this.model.forgotten,
      rowPx,
      trackPx: this.trackPx,
      now,
      align: this.align,
      filter: this.filter,
      origins: [...new Set(this.model.rows.map(({ origin }) => origin))],
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
    const { rows } = this.model;
    if (this.#filtered.of !== rows || this.#filtered.by !== this.filter) {
      this.#filtered = { of: rows, by: this.filter, rows: filtered(rows, this.filter) };
    }
    return this.#filtered.rows;
  }

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
    if (tab === 'requests') return this.model.rows.length;
    if (tab === 'origins') return (this.status?.origins ?? []).filter((origin) => isTroubled(origin, now)).length;
    return tab === 'outbox' ? (this.items ?? []).filter(isPending).length : 0;
  }

  #action(name: Parameters<typeof icon>[0], words: string, onClick: () => void, isOn = false): TemplateResult {
    return html`<button type="button" class="plain ${isOn ? 'is-on' : ''}" aria-label=${words} title=${words} @click=${onClick}>${icon(name)}<span>${words}</span></button>`;
  }

  #pill(): TemplateResult {
    const going = this.model.rows.filter(({ state, kind }) => state === 'going-on' && kind === 'request').length;
    return html`<button type="button" class="pill" aria-expanded="false" @click=${() => this.#setOpen(true)}>${logo}<span>steadfetch</span>
      ${going > 0 ? html`<span class="badge busy">${going} going on</span>` : nothing}</button>`;
  }

  #resizer(): TemplateResult {
    return html`<div class="resizer" role="separator" aria-orientation="horizontal" aria-label="Height of the panel" tabindex="0"
      aria-valuemin=${LEAST_PX} aria-valuemax=${this.#mostPx()} aria-valuenow=${Math.round(this.heightPx)}
      @pointerdown=${this.#onGrip} @keydown=${(event: KeyboardEvent) => {
        const by = { ArrowUp: 24, ArrowDown: -24 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        this.#resize(this.heightPx + by);
      }}></div>`;
  }

  #onGrip = (event: PointerEvent): void => {
    const grip = event.currentTarget as HTMLElement;
    const from = this.heightPx + event.clientY;
    grip.setPointerCapture(event.pointerId);
    const move = ({ clientY }: PointerEvent) => this.#resize(from - clientY);
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', () => grip.removeEventListener('pointermove', move), { once: true });
  };

  #resize(heightPx: number): void {
    this.heightPx = Math.max(LEAST_PX, Math.min(heightPx, this.#mostPx()));
    remember({ heightPx: this.heightPx });
  }

  #mostPx = (): number => Math.max(LEAST_PX, Math.round(innerHeight * 0.9));

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
    const at = TABS.indexOf(this.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + TABS.length, Home: 0, End: TABS.length - 1 }[event.key];
    const tab = to === undefined ? undefined : TABS[to % TABS.length];
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
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? rows.length - 1 : at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    }[event.key];
    if (to === undefined || rows.length === 0) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(to, rows.length - 1));
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
    this.paused = !this.paused;
    this.#pausedAt = Date.now();
    if (this.paused) return;
    this.model = withEvents(this.model, this.#backlog);
    this.#backlog = [];
    this.#wake();
  };

  #onClear = (): void => {
    this.model = EMPTY;
    this.#backlog = [];
    this.selected = undefined;
    this.#follows = true;
  };

  #onExport = async (): Promise<void> => {
    await this.#refresh();
    const { retries, status, items, model } = this;
    download({
      format: 'steadfetch-events',
      version: 1,
      savedAt: new Date().toISOString(),
      page: location.origin + location.pathname,
      ...(retries?.workerVersion === undefined ? {} : { workerVersion: retries.workerVersion }),
      forgotten: model.forgotten,
      ...(status && { status }),
      ...(items && { outbox: items }),
      events: [...eventsOf(model), ...this.#backlog],
    });
  };

  #onClearOutbox = (): void => {
    if (this.clearing) {
      this.clearing = false;
      this.#do((line) => line.outbox.clear());
      return;
    }
    this.clearing = true;
    setTimeout(() => {
      this.clearing = false;
    }, SURE_MS);
  };

  #do(what: (line: DevtoolsLine) => Promise<unknown>): void {
    const line = this.retries;
    if (line) void what(line).then(() => this.#refresh());
  }

  #listen(): void {
    this.#endFeed?.();
    this.#heard = this.retries;
    this.#endFeed = this.retries && createFeed(this.retries, this.#hear);
    void this.#refresh();
  }

  #hear = (events: readonly LayerEvent[]): void => {
    if (this.paused) {
      this.#backlog = [...this.#backlog, ...events].slice(-MOST_EVENTS);
      this.requestUpdate();
      return;
    }
    this.model = withEvents(this.model, events);
    this.#askIn(ASK_SOON_MS);
  };

  #wake = (): void => {
    if (!document.hidden) this.#askIn(0);
  };

  #askIn(ms: number): void {
    if (this.paused || !this.retries) return;
    const dueMs = Math.max(ms, this.#askedAt + ASK_SOON_MS - Date.now());
    this.#ask ??= setTimeout(() => void this.#refresh(), dueMs);
  }

  /** Asks the worker. That keeps it alive, so it is done only where somebody looks, or something has happened. */
  async #refresh(): Promise<void> {
    clearTimeout(this.#ask);
    const line = this.retries;
    this.#askedAt = Date.now();
    const [status, items] = await Promise.all([line?.status(), line?.outbox.list()]);
    this.#ask = undefined;
    if (line !== this.retries) return;
    this.status = status;
    this.items = items;
    const looks = this.isConnected && this.tab !== 'requests' && (this.open || !this.docked) && !document.hidden;
    if (looks) this.#askIn(ASK_MS);
  }

  /** Draws again while something that is in view goes on. */
  #schedule(): void {
    clearTimeout(this.#tick);
    if (this.paused || document.hidden || (this.docked && !this.open)) return;
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
