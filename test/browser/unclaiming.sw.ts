import { createRetryLayer } from '../../src/worker/index.ts';

createRetryLayer({ clientsClaim: false }).listen();
