import { html, nothing, type TemplateResult } from 'lit';
import { logo } from './icons.js';

const LEAST_PX = 160;
const STEP_PX = 24;

const mostPx = (): number => Math.max(LEAST_PX, Math.round(innerHeight * 0.9));

/** What was remembered may be of another window, and this one may become smaller. */
export const dockPx = (heightPx: number): number => Math.max(LEAST_PX, Math.min(heightPx, mostPx()));

/** The upper edge of a docked panel, by which it is made higher and lower. */
export function resizer(heightPx: number, onResize: (heightPx: number) => void): TemplateResult {
  const onGrip = (event: PointerEvent): void => {
    const grip = event.currentTarget as HTMLElement;
    const from = heightPx + event.clientY;
    grip.setPointerCapture(event.pointerId);
    const move = ({ clientY }: PointerEvent) => onResize(dockPx(from - clientY));
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', () => grip.removeEventListener('pointermove', move), { once: true });
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowUp: STEP_PX, ArrowDown: -STEP_PX }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onResize(dockPx(heightPx + by));
  };
  return html`<div class="resizer" role="separator" aria-orientation="horizontal" aria-label="Height of the panel" tabindex="0"
    aria-valuemin=${LEAST_PX} aria-valuemax=${mostPx()} aria-valuenow=${Math.round(heightPx)}
    @pointerdown=${onGrip} @keydown=${onKey}></div>`;
}

/** What is left of a docked panel that is collapsed. */
export const pill = (going: number, onOpen: () => void): TemplateResult =>
  html`<button type="button" class="pill" aria-expanded="false" @click=${onOpen}>${logo}<span>steadfetch</span>
    ${going > 0 ? html`<span class="badge busy">${going} going on</span>` : nothing}</button>`;
