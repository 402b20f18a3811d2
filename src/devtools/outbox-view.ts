import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { OutboxItem } from '../protocol/index.js';
import { clock } from './row-words.js';
import { countdown, hostOf, OUTBOX_REASONS, originOf, pathOf } from './words.js';

export interface OutboxView {
  readonly items: readonly OutboxItem[] | undefined;
  readonly now: number;
  /** Was Clear asked for once? */
  readonly clearing: boolean;
  onRetry(id?: string): void;
  onCancel(id: string): void;
  onClear(event: MouseEvent): void;
}

export function outbox(view: OutboxView): TemplateResult {
  const { items, clearing, onRetry, onClear } = view;
  if (!items || items.length === 0) {
    return html`<p class="empty">The outbox is empty.<br>What cannot be delivered on a route with an <code>outbox</code> is kept here.</p>`;
  }
  const pending = items.filter(isPending).length;
  return html`
    <div class="filters">
      <span class="count">${pending} to send, ${items.length - pending} ended</span>
      <button type="button" @click=${() => onRetry()}>Retry all</button>
      <button type="button" class=${clearing ? 'danger' : ''} @click=${onClear}>${clearing ? `Delete all ${items.length}?` : 'Clear outbox'}</button>
    </div>
    <ul class="items">${repeat(
      items,
      ({ id }) => id,
      (item) => entry(item, view),
    )}</ul>`;
}

export const isPending = ({ state }: OutboxItem): boolean => state === 'waiting' || state === 'sending';

const TONES = { waiting: 'wait', sending: 'busy', sent: 'good', failed: 'bad' } as const;
const STATES = { waiting: 'waiting', sending: 'sending', sent: 'delivered', failed: 'set aside' } as const;

function entry(item: OutboxItem, { now, onRetry, onCancel }: OutboxView): TemplateResult {
  const { id, method, url, state, sends, notBefore, status, reason, queuedAt, outbox, bytes } = item;
  const name = `${method} ${pathOf(url)}`;
  const why =
    state === 'failed' && reason ? `Not sent any more, because ${OUTBOX_REASONS[reason] ?? reason}.` : undefined;
  return html`<li>
    <span class="badge ${TONES[state] ?? 'quiet'}">${STATES[state] ?? state}</span>
    <div class="what">
      <p class="name"><span class="method">${method}</span> <span class="subject">${pathOf(url)}<small>${hostOf(originOf(url))}</small></span></p>
      <p class="facts"><span>${outbox}</span><span>since ${clock(queuedAt)}</span><span>${size(bytes)}</span>
        <span>${sends === 0 ? 'not sent yet' : sends === 1 ? 'sent once' : `sent ${sends} times`}</span>
        ${status === undefined ? nothing : html`<span>last answer ${status}</span>`}
        ${state === 'waiting' ? html`<span>${notBefore > now ? `next in ${countdown(notBefore - now)}` : 'next as soon as it may'}</span>` : nothing}</p>
      ${why ? html`<p>${why}</p>` : nothing}
    </div>
    <div class="do">
      ${state === 'sent' ? nothing : html`<button type="button" aria-label=${`Retry ${name}`} @click=${() => onRetry(id)}>Retry</button>`}
      <button type="button" aria-label=${`${isPending(item) ? 'Cancel' : 'Remove'} ${name}`} @click=${() => onCancel(id)}>${isPending(item) ? 'Cancel' : 'Remove'}</button>
    </div>
  </li>`;
}

const size = (bytes: number): string => (bytes < 1_000 ? `${bytes}\u00a0B` : `${(bytes / 1_000).toFixed(1)}\u00a0kB`);
