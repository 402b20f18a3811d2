import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ defaults: { attemptTimeoutMs: 500, backoff: constant(100) } }).listen();
