import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { show, spread } from './stats.mjs';
import { built } from './workers.mjs';

const child = fileURLToPath(new URL('memory-child.mjs', import.meta.url));
const KINDS = ['steadfetch/fetch', 'ky', 'fetch-retry', 'p-retry'];

/** What a request takes of the heap while it waits for its next attempt. */
export async function memory({ quick }) {
  const requests = quick ? 100 : 2_000;
  const runs = quick ? 2 : 5;
  const taken = new Map(KINDS.map((kind) => [kind, []]));
  for (let run = 0; run < runs; run += 1) {
    for (const kind of KINDS) taken.get(kind).push(await bytesOf(kind, requests));
  }
  return {
    tables: [
      {
        about: `Heap for each of ${requests} requests that were answered with 503 and wait, in Node: ${runs} runs`,
        columns: ['', 'kB'],
        rows: KINDS.map((kind) => [kind, show(spread(taken.get(kind).map((bytes) => bytes / 1_000)), 1)]),
      },
    ],
  };
}

/** In a process of its own, so that nobody finds what another has left. */
function bytesOf(kind, requests) {
  return new Promise((resolve, reject) => {
    const waiter = fork(child, [kind, String(requests), built('fetch')], { execArgv: ['--expose-gc'] });
    waiter.once('message', (bytes) => {
      resolve(bytes);
      // It would wait on.
      waiter.kill();
    });
    waiter.once('error', reject);
    waiter.once('exit', (code) => reject(new Error(`${kind}: exited with ${code}`)));
  });
}
