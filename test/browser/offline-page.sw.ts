import { constant, createRetryLayer } from '../../src/worker/index.ts';

const backoff = constant(50);

createRetryLayer({
  offlinePage: new URL(self.location.href).searchParams.get('page') ?? '',
  defaults: { backoff, throttledBackoff: backoff },
}).listen();
