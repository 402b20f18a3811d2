import { constant, createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ skipWaiting: true, defaults: { attempts: 2, backoff: constant(20) } }).listen();
