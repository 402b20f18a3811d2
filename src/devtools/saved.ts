import type { LayerEvent, LayerStatus, OutboxItem } from '../protocol/index.js';

/** A file of what is kept, for a report or another look at it. */
export interface Saved {
  readonly format: 'steadfetch-events';
  readonly version: 1;
  readonly savedAt: string;
  readonly page: string;
  readonly workerVersion?: string;
  /** Events that had to make room for these. */
  readonly forgotten: number;
  readonly status?: LayerStatus;
  /** Without what their servers have answered: a file that is passed on holds no bodies. */
  readonly outbox?: readonly Omit<OutboxItem, 'answer'>[];
  readonly events: readonly LayerEvent[];
}

export const withoutAnswer = ({ answer: _, ...item }: OutboxItem): Omit<OutboxItem, 'answer'> => item;

export function download(saved: Saved): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(saved, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `steadfetch-${saved.savedAt.replace(/[:.]/g, '-')}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

/** The browser has begun with it by then. */
const REVOKE_MS = 10_000;

/** What its user did last, where the page may keep something. */
export interface Remembered {
  readonly open?: boolean;
  readonly heightPx?: number;
}

const KEY = 'steadfetch-devtools';

export function remembered(): Remembered {
  try {
    const { open, heightPx } = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return {
      ...(typeof open === 'boolean' ? { open } : {}),
      ...(typeof heightPx === 'number' ? { heightPx } : {}),
    };
  } catch {
    return {};
  }
}

export function remember(what: Remembered): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...remembered(), ...what }));
  } catch {
    // Storage is full or forbidden: then not.
  }
}
