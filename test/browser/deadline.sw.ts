import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ defaults: { attempts: 10, backoff: constant(400), totalMs: 1_000 } }).listen();
