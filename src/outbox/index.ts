/** Mutations that cannot be delivered are kept, and delivered later. */
export type { Prepare } from './deliver.js';
export { createOutbox, type Outbox } from './outbox.js';
export { createOutboxStore } from './outbox-store.js';
