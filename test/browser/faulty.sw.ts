/// <reference lib="WebWorker" />
import { constant, createRetryLayer } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

// Breaks one thing at a time that the layer leans on, once the layer is made; `count` says after how many good calls.
let armed: { fault: string; after: number } | undefined;
let calls = 0;

function breaks(fault: string): void {
  if (armed?.fault !== fault) return;
  calls += 1;
  if (calls > armed.after) throw new Error(`planted: ${fault}`);
}

function breakable(owner: object, method: string, fault: string): void {
  const original = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
  Object.defineProperty(owner, method, {
    configurable: true,
    value(this: unknown, ...args: unknown[]) {
      breaks(fault);
      return original.apply(this, args);
    },
  });
}

function breakableGetter(owner: object, name: string, fault: string): void {
  const get = Object.getOwnPropertyDescriptor(owner, name)?.get;
  // Firefox has no `Request.body`, and must not seem to have one.
  if (get === undefined) return;
  Object.defineProperty(owner, name, {
    configurable: true,
    get(this: unknown) {
      breaks(fault);
      return get.call(this);
    },
  });
}

breakable(Request.prototype, 'clone', 'Request.clone');
breakable(Response.prototype, 'clone', 'Response.clone');
breakable(Headers.prototype, 'get', 'Headers.get');
breakable(Headers.prototype, 'has', 'Headers.has');
breakable(ReadableStream.prototype, 'getReader', 'getReader');
breakable(ReadableStream.prototype, 'cancel', 'cancel');
breakable(Date, 'now', 'Date.now');
breakable(Math, 'random', 'Math.random');
breakable(self, 'setTimeout', 'setTimeout');
breakable(self, 'clearTimeout', 'clearTimeout');
breakable(ExtendableEvent.prototype, 'waitUntil', 'waitUntil');
breakable(FetchEvent.prototype, 'respondWith', 'respondWith');
breakable(Clients.prototype, 'get', 'clients.get');
breakable(Client.prototype, 'postMessage', 'postMessage');
breakable(crypto, 'randomUUID', 'randomUUID');
breakable(IDBDatabase.prototype, 'transaction', 'transaction');
breakable(Map.prototype, 'set', 'Map.set');
breakable(Map.prototype, 'get', 'Map.get');
breakable(Promise, 'race', 'Promise.race');
breakableGetter(Request.prototype, 'body', 'Request.body');
breakableGetter(Request.prototype, 'url', 'Request.url');
breakableGetter(Response.prototype, 'body', 'Response.body');
breakableGetter(Response.prototype, 'status', 'Response.status');
breakableGetter(FetchEvent.prototype, 'clientId', 'clientId');
breakableGetter(WorkerNavigator.prototype, 'onLine', 'onLine');

self.addEventListener('message', ({ data, ports: [port] }) => {
  if (typeof data !== 'object' || !('fault' in data)) return;
  armed = data;
  calls = 0;
  port?.postMessage('armed');
});

createRetryLayer({
  routes: [
    {
      match: () => {
        breaks('match');
        return false;
      },
    },
  ],
  defaults: { attempts: 3, backoff: constant(10) },
  onEvent: () => breaks('onEvent'),
}).listen();
