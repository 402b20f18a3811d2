/** The retry engine: anywhere `fetch` exists, with everything it takes from the world as a port. */

export { uploadMsOf } from './body.js';
export type { Call, Engine, Step } from './call.js';
export { type Classified, type Classifier, type Classify, createClassifier } from './classify.js';
export { steadyClock } from './clock.js';
export { createEngine } from './create-engine.js';
export { toFacts } from './facts.js';
export { createGossip } from './gossip.js';
export { createGuardNotices } from './guard-notices.js';
export { observe, type Would } from './observe.js';
export { onAbort, unlessAborted } from './on-abort.js';
export { createOriginBook, type GuardListener, type OriginBook, type OriginKey } from './origin-book.js';
export { idlePorts, type Ports, platformPorts, type Sleep } from './ports.js';
export { requestAt } from './request-at.js';
export { serve } from './serve.js';
export { createDatabase } from './store/database.js';
export { createOriginStore, type OriginStore } from './store/origin-store.js';
export { createTeller, type Teller } from './teller.js';
export { createWarner, type Warner } from './warner.js';
export { within } from './within.js';
