/// <reference lib="WebWorker" />
import { createRetryLayer } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

// Counts what a first-try success must not cost.
const counts = { opens: 0, transactions: 0, messages: 0, clones: 0, waitUntils: 0 };

function counted<T extends object>(owner: T, method: keyof T & string, count: keyof typeof counts): void {
  const original = owner[method] as (...args: unknown[]) => unknown;
  Object.defineProperty(owner, method, {
    value(this: unknown, ...args: unknown[]) {
      counts[count] += 1;
      return original.apply(this, args);
    },
  });
}

counted(IDBFactory.prototype, 'open', 'opens');
counted(IDBDatabase.prototype, 'transaction', 'transactions');
counted(Client.prototype, 'postMessage', 'messages');
counted(Request.prototype, 'clone', 'clones');
counted(Response.prototype, 'clone', 'clones');
counted(ExtendableEvent.prototype, 'waitUntil', 'waitUntils');

self.addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'counts') port?.postMessage(counts);
});

createRetryLayer().listen();
