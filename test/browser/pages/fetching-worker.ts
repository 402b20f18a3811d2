import { constant, createRetryFetch } from '../../../src/fetch/index.ts';

const retryFetch = createRetryFetch({ backoff: constant(20) });

// A web worker: it fetches what it is told to, and says what came.
addEventListener('message', async ({ data }: MessageEvent<string>) => {
  const { status } = await retryFetch(data);
  postMessage(status);
});
