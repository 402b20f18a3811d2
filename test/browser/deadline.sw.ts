import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ defaults: { attempts: 10, backoff: constant(1_600), totalMs: 4_000 } }).listen();
