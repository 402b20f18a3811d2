import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ defaults: { attempts: 3, backoff: constant(20) } }).listen();
