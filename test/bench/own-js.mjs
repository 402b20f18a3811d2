import fetchRetry from 'fetch-retry';
import ky from 'ky';
import pRetry from 'p-retry';
import { byTurns, openStage } from './stage.mjs';
import { median, ratios, show, spread } from './stats.mjs';
import { bare, built, layer, rival } from './workers.mjs';

const URL_OF = 'https://app.test/items/1';

/** What runs on the processor for a request that succeeds at its first try, with a network that answers at once. */
export async function ownJs({ quick }) {
  const inNode = await librariesInNode(quick);
  const inWorker = await eventsInWorkers(quick);
  return {
    chromium: inWorker.chromium,
    tables: [inNode, inWorker.table],
  };
}

async function librariesInNode(quick) {
  const { createRetryFetch } = await import(built('fetch'));
  const answer = async () => new Response('small');
  const kinds = {
    'nothing but the stub': answer,
    'a `Request` and the stub': (url) => answer(new Request(url)),
    'steadfetch/fetch': createRetryFetch({}, { fetch: answer }),
    ky: ky.create({ fetch: answer }),
    'fetch-retry': fetchRetry(answer),
    'p-retry': (url) => pRetry(() => answer(url)),
  };
  const turns = quick ? { runs: 2, rounds: 1 } : { runs: 5, rounds: 10, warmUp: 3 };
  const batch = quick ? 50 : 1_000;
  const stands = Object.keys(kinds).map((kind) => ({ kind }));
  const taken = await byTurns(stands, turns, async ({ kind }) => {
    const send = kinds[kind];
    // What others on this machine take does not count.
    const before = process.cpuUsage();
    for (let n = 0; n < batch; n += 1) await send(URL_OF);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / batch;
  });
  return {
    about: `In Node, processor time a request with a stub for the network: ${turns.runs} runs of ${turns.rounds * batch}`,
    columns: ['', 'µs'],
    rows: stands.map(({ kind }) => [kind, show(spread(taken.get(kind).map(median)), 1)]),
  };
}

async function eventsInWorkers(quick) {
  const scripts = {
    'bare worker': bare(),
    steadfetch: layer(),
    'Workbox NetworkOnly': await rival('workbox'),
    'Serwist NetworkOnly': await rival('serwist'),
  };
  const workers = Object.fromEntries(Object.entries(scripts).map(([kind, script]) => [kind, stubbed(script)]));
  const stage = await openStage(workers, (_, res) => res.end());
  const turns = quick ? { runs: 2, rounds: 1 } : { runs: 5, rounds: 10, warmUp: 3 };
  const events = quick ? 50 : 1_000;
  const each = {};
  for (const method of ['GET', 'PUT']) {
    each[method] = await byTurns(stage.stands, turns, ({ page }) => page.evaluate(ask, { method, events }));
  }
  await stage.close();
  const of = (method, kind) => [
    show(spread(each[method].get(kind).map(median)), 0),
    show(ratios(each[method].get(kind), each[method].get('Workbox NetworkOnly'), median), 2),
  ];
  return {
    chromium: stage.version,
    table: {
      about: `In the worker, from a fetch event to its answer with a stub for the network, µs: ${turns.runs} runs of ${turns.rounds * events}`,
      columns: ['', 'GET', 'to Workbox', 'PUT of 1 kB', 'to Workbox'],
      rows: Object.keys(workers).map((kind) => [kind, ...of('GET', kind), ...of('PUT', kind)]),
    },
  };
}

/** A worker that can be asked to give its own listeners events. */
const stubbed = (script) => `
const network = self.fetch;
const listeners = [];
let isStubbed = false;
const add = self.addEventListener;
self.addEventListener = function (type, listener) {
  if (type === 'fetch') listeners.push(listener);
  return add.apply(this, arguments);
};
self.fetch = (...given) => (isStubbed ? Promise.resolve(new Response('small')) : network(...given));
${script}
self.addEventListener('message', async ({ data, ports }) => {
  if (data?.events === undefined) return;
  const { method, events } = data;
  const init = method === 'PUT' ? { method, body: 'x'.repeat(1_024) } : {};
  const requests = Array.from({ length: events }, () => new Request('/small', init));
  isStubbed = true;
  const beganAt = performance.now();
  for (const request of requests) {
    let answered;
    const event = {
      type: 'fetch',
      request,
      clientId: 'page',
      resultingClientId: '',
      preloadResponse: Promise.resolve(undefined),
      respondWith(answer) {
        answered = answer;
      },
      waitUntil() {},
    };
    for (const listener of listeners) listener.call(self, event);
    await answered;
  }
  const us = ((performance.now() - beganAt) / events) * 1_000;
  isStubbed = false;
  ports[0].postMessage(us);
});`;

/** In the page. */
function ask(what) {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    navigator.serviceWorker.controller.postMessage(what, [port2]);
  });
}
