import type { Retries } from '../page/index.js';
import type { LayerEvent } from '../protocol/index.js';
import { CSS } from './style.js';
import { FORGOTTEN_MS, type Tally, TELLING, tallied } from './tally.js';

/** What it needs of what `connect()` resolves to. */
export type StatusLine = Pick<Retries, 'on' | 'retryNow'> & {
  readonly outbox: Pick<Retries['outbox'], 'depth' | 'retry'>;
};

const TEXTS = {
  waiting: 'Reconnecting, {count} waiting',
  offline: 'Offline',
  'offline-waiting': 'Offline, {count} waiting',
  back: 'Connected again',
};
const RETRY = 'Retry now';

/** What is over sooner is no news. */
const SHOW_AFTER_MS = 500;
/** Until then it may begin again, and would flicker. */
const HIDE_AFTER_MS = 1_000;
/** After that it is no longer news. */
const SAID_MS = 5_000;

// A server that renders pages has no elements, and imports this all the same.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * Nothing to see while all is well; `Reconnecting, 3 waiting · Retry now` while requests of this page wait or retry, the
 * outbox has entries, or the device is offline. Set {@link SteadfetchStatus.retries} to set it going.
 *
 * Attributes `text-waiting`, `text-offline`, `text-offline-waiting`, `text-back` and `text-retry` (with `{count}`) say it in
 * other words; `delay-ms` is how long something has to last to be shown. Its `state` attribute is `quiet`, `waiting` or
 * `offline`, and `shown` is there while there is something to see; its parts are `box`, `text` and `button`, its slots `icon` and `retry`.
 */
export class SteadfetchStatus extends Base {
  #line: StatusLine | undefined;
  #tally: Tally = new Map();
  #kept = 0;
  #ends: (() => void)[] = [];
  #shown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pruner: ReturnType<typeof setTimeout> | undefined;
  #view: View | undefined;

  /** What `connect()` resolves to. */
  get retries(): StatusLine | undefined {
    return this.#line;
  }

  set retries(line: StatusLine | undefined) {
    this.#line = line;
    if (this.isConnected) this.#start();
  }

  connectedCallback(): void {
    this.#view ??= createView(this, () => {
      void this.#line?.retryNow();
      void this.#line?.outbox.retry().then(() => this.#askDepth());
    });
    this.#view.button.addEventListener('blur', this.#update);
    // Set before the element was defined, it hides the accessor.
    if (Object.hasOwn(this, 'retries')) {
      const { retries } = this;
      Reflect.deleteProperty(this, 'retries');
      this.retries = retries;
    } else this.#start();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  #start(): void {
    this.#stop();
    const line = this.#line;
    for (const type of ['online', 'offline'] as const) {
      addEventListener(type, this.#update);
      this.#ends.push(() => removeEventListener(type, this.#update));
    }
    if (line) {
      for (const type of TELLING) this.#ends.push(line.on(type, this.#hear));
      for (const type of ['queued', 'queue-sent', 'queue-failed'] as const) {
        this.#ends.push(line.on(type, this.#askDepth));
      }
    }
    this.#askDepth();
    this.#update();
  }

  #stop(): void {
    this.#timer = clearTimeout(this.#timer) as undefined;
    clearTimeout(this.#pruner);
    for (const end of this.#ends.splice(0)) end();
    this.#tally = new Map();
    this.#kept = 0;
    this.#shown = false;
  }

  #askDepth = async (): Promise<void> => {
    const line = this.#line;
    const depth = await line?.outbox.depth();
    if (line !== this.#line) return;
    this.#kept = depth ?? 0;
    this.#update();
  };

  #update = (): void => {
    const view = this.#view;
    if (!view) return;
    const count = this.#tally.size + this.#kept;
    const offline = globalThis.navigator?.onLine === false;
    const state = offline ? 'offline' : count > 0 ? 'waiting' : 'quiet';
    this.setAttribute('state', state);
    if ((state !== 'quiet') !== this.#shown) {
      this.#timer ??= setTimeout(this.#turn, this.#shown ? HIDE_AFTER_MS : this.#delayMs());
    } else this.#timer = clearTimeout(this.#timer) as undefined;
    clearTimeout(this.#pruner);
    // A worker that was stopped says no more of what waited in it.
    if (count > 0) this.#pruner = setTimeout(this.#hear, FORGOTTEN_MS);
    const text = state === 'quiet' ? 'back' : offline && count > 0 ? 'offline-waiting' : state;
    // Whoever is on the button is not to lose the place.
    view.show(
      this.#shown || view.isFocused(),
      this.#text(text, count),
      this.getAttribute('text-retry') ?? RETRY,
      count > 0,
    );
  };

  #turn = (): void => {
    this.#timer = undefined;
    this.#shown = !this.#shown;
    this.#update();
    // Said once when it begins and once when it is over; what changes meanwhile is there to be read.
    this.#view?.say(this.#shown ? this.#view.text() : this.#text('back', 0));
    if (!this.#shown) setTimeout(() => this.#shown || this.#view?.say(''), SAID_MS);
  };

  #hear = (event?: LayerEvent): void => {
    this.#tally = tallied(this.#tally, Date.now(), event);
    this.#update();
  };

  #text(name: keyof typeof TEXTS, count: number): string {
    return (this.getAttribute(`text-${name}`) ?? TEXTS[name]).replace('{count}', String(count));
  }

  #delayMs(): number {
    return Number(this.getAttribute('delay-ms') ?? SHOW_AFTER_MS);
  }
}

interface View {
  readonly button: HTMLButtonElement;
  show(visible: boolean, text: string, retry: string, retryable: boolean): void;
  say(text: string): void;
  text(): string;
  isFocused(): boolean;
}

function createView(host: HTMLElement, onRetry: () => void): View {
  const root = host.attachShadow({ mode: 'open' });
  const make = <Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes: Record<string, string>,
    ...children: (Node | string)[]
  ) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const words = make('span', { part: 'text' });
  const retry = make('slot', { name: 'retry' });
  const button = make('button', { part: 'button', type: 'button' }, retry);
  const box = make('span', { part: 'box' }, make('slot', { name: 'icon' }), words, button);
  // Apart from what is shown: a count that changes is not to be read out each time.
  const live = make('span', { role: 'status', 'aria-live': 'polite', class: 'said' });
  button.addEventListener('click', onRetry);
  if (root.adoptedStyleSheets) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
    root.adoptedStyleSheets = [sheet];
  } else root.append(make('style', {}, CSS));
  root.append(box, live);
  return {
    button,
    show(visible, text, label, retryable) {
      host.toggleAttribute('shown', visible);
      words.textContent = text;
      retry.textContent = label;
      button.hidden = !retryable && root.activeElement !== button;
    },
    say(text) {
      live.textContent = text;
    },
    text: () => words.textContent ?? '',
    isFocused: () => root.activeElement === button,
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'steadfetch-status': SteadfetchStatus;
  }
}

const NAME = 'steadfetch-status';
const { customElements } = globalThis;
if (customElements && !customElements.get(NAME)) customElements.define(NAME, SteadfetchStatus);
