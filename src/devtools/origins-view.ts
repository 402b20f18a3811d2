import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { LayerStatus, OriginStatus } from '../protocol/index.js';
import { countdown, hostOf } from './words.js';

export interface OriginsView {
  readonly status: LayerStatus | undefined;
  readonly now: number;
  onRetryNow(origin: string): void;
  onReset(origin: string): void;
}

export function origins(view: OriginsView): TemplateResult {
  const { status } = view;
  if (!status) return html`<p class="empty">The worker does not answer.</p>`;
  if (status.origins.length === 0) {
    return html`<p class="empty">All is well.<br>Budgets are full, nothing is held, every circuit is closed.</p>`;
  }
  // By key: a card that goes must not leave its focused button to another origin.
  return html`<ul class="cards">${repeat(
    status.origins,
    ({ origin, group }) => `${origin} ${group}`,
    (origin) => card(origin, view),
  )}</ul>`;
}

/** Does somebody have to wait because of it? */
export const isTroubled = ({ circuit, heldUntil, heldPaths }: OriginStatus, now: number): boolean =>
  circuit !== 'closed' || [heldUntil, ...Object.values(heldPaths)].some((until) => until > now);

function card(of: OriginStatus, { now, onRetryNow, onReset }: OriginsView): TemplateResult {
  const { origin, group, tokens, capacity, circuit, openUntil, heldUntil, heldPaths, parked = 0 } = of;
  const holds = [['', heldUntil] as const, ...Object.entries(heldPaths)].filter(([, until]) => until > now);
  const until = circuit === 'open' && openUntil > now ? ` tries in ${countdown(openUntil - now)}` : '';
  const whole = Number.isFinite(tokens) && Number.isFinite(capacity) && capacity > 0;
  const share = whole ? Math.max(0, Math.min(1, tokens / capacity)) : 1;
  return html`<li class="card">
    <header><h3>${hostOf(origin)}</h3><span class="tag">${group}</span></header>
    <dl>
      <div><dt>Circuit</dt><dd><span class="badge ${circuit === 'closed' ? 'good' : circuit === 'open' ? 'bad' : 'wait'}">${circuit}</span>${until}</dd></div>
      <div><dt>Hold</dt><dd>${holds.length === 0 ? html`<span class="soft">none</span>` : holds.map(([path, end]) => html`<span class="hold">${path ? html`<code>${path}</code> ` : nothing}<span class="badge wait">${countdown(end - now)}</span></span>`)}</dd></div>
      <div><dt>Parked</dt><dd>${parked === 0 ? html`<span class="soft">none</span>` : html`${parked} ${parked === 1 ? 'request' : 'requests'}`}</dd></div>
      <div><dt>Tokens</dt><dd>
        <svg class="meter ${share < 0.25 ? 'low' : ''}" role="meter" width="96" height="8" aria-label="Tokens" aria-valuemin="0" aria-valuemax=${capacity} aria-valuenow=${tokens}><rect class="all" width="96" height="8" rx="4"></rect><rect class="left" width=${Math.max(share > 0 ? 4 : 0, share * 96)} height="8" rx="4"></rect></svg>
        ${whole ? `${Math.floor(tokens * 10) / 10} of ${capacity}` : 'by share'}</dd></div>
    </dl>
    <footer>
      <button type="button" @click=${() => onRetryNow(origin)}>Retry now</button>
      <button type="button" @click=${() => onReset(origin)}>Reset</button>
    </footer>
  </li>`;
}
