/** `<steadfetch-status>`: says that something waits, and is not there as long as nothing does. */
export { type StatusLine, SteadfetchStatus } from './element.js';
