import { createRetryLayer } from '../../src/worker/index.ts';

// A new version takes over at once.
createRetryLayer({ skipWaiting: true }).listen();
