import { createRetryLayer } from '../../src/worker/index.ts';

// What a user sees who gives a wrong option: the worker is not installed, and the error says why.
createRetryLayer({ defaults: { attempts: 0 } }).listen();
