import { createRetryLayer, exponential, fullJitter, presets } from '../src/worker/index.ts';

createRetryLayer({
  routes: [
    { match: /\/wire\/(bare|none|naive)-/, retry: false }, // the lanes without steadfetch: never intercepted
    { match: '/wire-control', retry: false },
    { match: /\/wire\/scene-/, name: 'scene' }, // with the defaults, but a budget and a circuit of its own
    { match: /\/wire\/hedged-/, name: 'hedged', retry: { hedge: { afterMs: 300 }, cancelTimedOut: true } },
    {
      match: /\/wire\/download-/,
      name: 'files',
      retry: { ...presets.download, backoff: fullJitter(exponential({ baseMs: 800 })) },
    },
    { match: /\/wire\/order-/, name: 'orders', retry: { attempts: 2 }, outbox: { name: 'orders', addKey: true } },
  ],
  offlinePage: '/offline.html',
  skipWaiting: true, // a demo that was updated is to show what is new
}).listen();
