/** `<steadfetch-devtools>`: what the worker does, and why, in any page. */
import { defineDevtools } from './element.js';

defineDevtools();

export { type DevtoolsLine, type DevtoolsOptions, type SteadfetchDevtools, showDevtools } from './show.js';
export { duration, GIVE_UP_REASONS, inWords, OUTBOX_REASONS, WAITS_FOR } from './words.js';
