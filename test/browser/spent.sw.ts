import { createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ defaults: { hedge: { afterMs: 200 } }, budget: { capacity: 0 } }).listen();
