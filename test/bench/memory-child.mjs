import fetchRetry from 'fetch-retry';
import ky from 'ky';
import pRetry from 'p-retry';

const [kind, requests, fetchJs] = process.argv.slice(2);
const { createRetryFetch, constant } = await import(fetchJs);
/** Longer than this process lives. */
const WAIT_MS = 20_000;

let answered = 0;
const unavailable = async () => {
  answered += 1;
  return new Response(null, { status: 503 });
};
// Nothing may end the waits: neither a budget nor a circuit.
const openHanded = {
  fetch: unavailable,
  budget: { capacity: 1e6 },
  circuit: { failures: 1e6, window: 1_000, failureRatio: 1 },
};
const delayed = { limit: 3, delay: () => WAIT_MS };
const SEND = {
  'steadfetch/fetch': createRetryFetch({ backoff: constant(WAIT_MS), throttledBackoff: constant(WAIT_MS) }, openHanded),
  ky: ky.create({ fetch: unavailable, retry: delayed, timeout: false }),
  'fetch-retry': fetchRetry(unavailable, { retryOn: [503], retryDelay: WAIT_MS }),
  'p-retry': (url) =>
    pRetry(
      async () => {
        const response = await unavailable(url);
        if (response.status === 503) throw new Error('unavailable');
        return response;
      },
      { retries: 3, minTimeout: WAIT_MS },
    ),
};
const send = SEND[kind];
// No origin fails as often as its circuit looks back.
const begin = (count) => Array.from({ length: count }, (_, n) => send(`https://app-${n % 10}.test/items/1`));
const settled = async (count) => {
  while (answered < count) await new Promise(setImmediate);
  // What is done about an answer is over then.
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let time = 0; time < 3; time += 1) globalThis.gc();
  return process.memoryUsage().heapUsed;
};

// The first ones also compile.
const first = begin(50);
const before = await settled(50);
const waiting = begin(Number(requests));
const after = await settled(50 + Number(requests));
const isWaiting = await Promise.race([Promise.any([...first, ...waiting]).catch(() => {}), 'all']);
if (isWaiting !== 'all' || answered !== 50 + Number(requests)) throw new Error(`${kind}: not all of them wait`);
process.send((after - before) / Number(requests));
