import type { Retries } from '../page/index.js';

/** What the panel needs of what `connect()` resolves to. */
export type DevtoolsLine = Pick<Retries, 'state' | 'on' | 'status' | 'outbox' | 'retryNow' | 'reset'> & {
  readonly workerVersion?: string;
};

/**
 * A panel that shows what the worker does and why. It keeps the last 10 000 events that it has heard, in this page only.
 *
 * Attributes: `docked` puts it at the window's lower edge, where it can be resized and collapsed; `theme` is `light` or
 * `dark` where that is not to follow the system.
 */
export interface SteadfetchDevtools extends HTMLElement {
  /** What `connect()` resolves to. */
  retries: DevtoolsLine | undefined;
  /** Of a docked one: is it more than a button? */
  open: boolean;
}

export interface DevtoolsOptions {
  /** As a panel, or as a button only; what its user did last counts more. @defaultValue true */
  readonly open?: boolean;
  /** @defaultValue as the system has it */
  readonly theme?: 'light' | 'dark';
}

/**
 * Puts the panel at the window's lower edge: `showDevtools(await connect('/sw.js'))`. A second call hands the same panel
 * another line. Its `remove()` takes it away.
 */
export function showDevtools(retries: DevtoolsLine, { open = true, theme }: DevtoolsOptions = {}): SteadfetchDevtools {
  const known = document.querySelector<SteadfetchDevtools>('steadfetch-devtools[docked]');
  const element = known ?? (document.createElement('steadfetch-devtools') as SteadfetchDevtools);
  if (theme) element.setAttribute('theme', theme);
  element.retries = retries;
  if (known) return known;
  element.setAttribute('docked', '');
  element.open = open;
  document.body.append(element);
  return element;
}

declare global {
  interface HTMLElementTagNameMap {
    'steadfetch-devtools': SteadfetchDevtools;
  }
}
