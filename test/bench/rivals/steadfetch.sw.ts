import { createRetryLayer } from '../../../src/worker/index.js';

createRetryLayer().listen();
