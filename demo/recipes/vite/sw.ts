import { createRetryLayer } from 'steadfetch/worker';

createRetryLayer().listen();
