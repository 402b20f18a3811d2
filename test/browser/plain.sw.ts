import { createRetryLayer } from '../../src/worker/index.ts';

// As a user writes it: everything by default.
createRetryLayer().listen();
