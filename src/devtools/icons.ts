import { html, svg, type TemplateResult } from 'lit';

const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0 -9zM10.3 10.3l3.2 3.2',
  close: 'M4 4l8 8M12 4l-8 8',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2l7.5 4.8l-7.5 4.8z',
  clear: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0 -11zM4.1 4.1l7.8 7.8',
  save: 'M8 2.5v7.5M4.8 7.2L8 10.4l3.2 -3.2M3 13.3h10',
  down: 'M3.5 6l4.5 4.5L12.5 6',
  again: 'M13 8a5 5 0 1 1 -1.6 -3.7M13 2.5v2.8h-2.8',
} as const;

/** A stroke drawing of 16 by 16; the words beside it say the same. */
export const icon = (name: keyof typeof PATHS): TemplateResult =>
  html`<svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">${svg`<path d=${PATHS[name]}></path>`}</svg>`;

/** The mark: an attempt, a pause, and an answer. */
export const logo: TemplateResult = html`<svg class="logo" width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
  <rect class="a" x="1" y="5" width="4" height="8" rx="1.5"></rect>
  <path class="b" d="M6.5 9h3"></path>
  <rect class="c" x="11" y="3" width="6" height="12" rx="1.5"></rect>
</svg>`;
