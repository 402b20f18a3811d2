import { html, nothing, type TemplateResult } from 'lit';
import type { GiveUpReason } from '../policy/index.js';
import type { LayerStatus } from '../protocol/index.js';
import { GIVE_UP_REASONS } from './words.js';

const NUMBER = new Intl.NumberFormat('en');

export function counters(status: LayerStatus | undefined): TemplateResult {
  if (!status) return html`<p class="empty">The worker does not answer.</p>`;
  const { requests, attempts, retries, hedges, amplification, recovered, untold, gaveUp } = status.counters;
  const reasons = Object.entries(gaveUp).toSorted(([, a], [, b]) => b - a);
  const most = Math.max(1, ...reasons.map(([, count]) => count));
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  return html`<div class="counters">
    <dl class="figures">
      ${figure('Requests', requests)}${figure('Attempts', attempts)}${figure('Retries', retries)}${figure('Hedges', hedges)}
      ${figure('Recovered', recovered, recovered > 0 ? 'good' : '')}${figure('Gave up', total, total > 0 ? 'bad' : '')}
      ${figure('Amplification', `${amplification.toFixed(2)}×`)}${figure('Untold', untold)}
    </dl>
    <section aria-labelledby="reasons">
      <h3 id="reasons">Gave up, by reason</h3>
      ${total === 0 ? html`<p class="soft">None did.</p>` : html`<ul class="reasons">${reasons.map(([reason, count]) => html`<li><span>${GIVE_UP_REASONS[reason as GiveUpReason] ?? reason}</span><svg width="96" height="8" aria-hidden="true"><rect width=${Math.max(3, (count / most) * 96)} height="8" rx="2"></rect></svg><strong>${NUMBER.format(count)}</strong></li>`)}</ul>`}
      <p class="soft">Since the worker was last started (version ${status.version}, state in ${status.storage === 'memory' ? 'memory only' : 'IndexedDB'}${status.paused ? ', paused' : ''}${status.mode === 'observe' ? ', observing only' : ''}).
        ${untold > 0 ? 'Untold events were more than 20 a second.' : nothing}</p>
    </section>
  </div>`;
}

const figure = (name: string, value: number | string, tone = ''): TemplateResult =>
  html`<div class=${tone}><dt>${name}</dt><dd>${typeof value === 'number' ? NUMBER.format(value) : value}</dd></div>`;
