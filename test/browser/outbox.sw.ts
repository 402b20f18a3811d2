/// <reference lib="WebWorker" />
import { constant, createRetryLayer, type OutboxPolicy } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

const { searchParams } = new URL(self.location.href);

// What can be wrong with a browser, by name.
const FAULTS: Record<string, () => void> = {
  // As a browser tells of a full disk: the transaction is aborted after all its requests were taken.
  full: () => {
    const add = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (value, key) {
      const request = add.call(this, value, key);
      if (value instanceof ArrayBuffer && value.byteLength > 100) {
        Object.defineProperty(this.transaction, 'error', { value: new DOMException('full', 'QuotaExceededError') });
        this.transaction.abort();
      }
      return request;
    };
  },
  'open-rejects': () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('no storage here', 'SecurityError');
    };
  },
  'no-sync': () => {
    Object.defineProperty(ServiceWorkerRegistration.prototype, 'sync', { value: undefined });
  },
  'sync-refused': () => {
    SyncManager.prototype.register = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
  },
};
declare const SyncManager: { prototype: { register(tag: string): Promise<void> } };
declare global {
  interface ServiceWorkerGlobalScopeEventMap {
    sync: ExtendableEvent;
  }
}

// A test asks how often the browser was asked to come, and how its coming ended.
let registered = 0;
const syncs: { lastChance: boolean; at: number; endedAt?: number; failed?: boolean }[] = [];
if ('SyncManager' in self) {
  const { register } = SyncManager.prototype;
  SyncManager.prototype.register = function (tag) {
    registered += 1;
    return register.call(this, tag);
  };
}
self.addEventListener('sync', (event) => {
  const { lastChance, waitUntil } = event as ExtendableEvent & { lastChance: boolean };
  const seen: (typeof syncs)[number] = { lastChance, at: Date.now() };
  syncs.push(seen);
  event.waitUntil = (work) => {
    const end = (failed: boolean) => Object.assign(seen, { endedAt: Date.now(), failed });
    work.then(
      () => end(false),
      () => end(true),
    );
    waitUntil.call(event, work);
  };
});
self.addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'syncs') port?.postMessage({ syncs, registered });
});

FAULTS[searchParams.get('fault') ?? '']?.();

// A test says where this worker is to stand still, and stops it there. What has been begun stays unfinished.
const line = new BroadcastChannel('outbox-test');
let armed: { place: string; nth: number } | undefined;
let onLine: boolean | undefined;
line.addEventListener('message', ({ data }) => {
  if ('place' in data) armed = data;
  else onLine = data.onLine;
  line.postMessage('heard');
});
// A device that is offline by its own word, and not for the browser: that tells its workers of it some time later.
const said = Object.getOwnPropertyDescriptor(WorkerNavigator.prototype, 'onLine');
Object.defineProperty(navigator, 'onLine', { get: () => onLine ?? said?.get?.call(navigator) });
function stands(place: string): boolean {
  if (armed?.place !== place || --armed.nth > 0) return false;
  armed = undefined;
  line.postMessage('reached');
  return true;
}
const forEver = new Promise<never>(() => {});

const { fetch } = self;
self.fetch = async (...asked) => {
  if (stands('leased')) await forEver;
  const response = await fetch(...asked);
  if (stands('answered')) await forEver;
  return response;
};

/** Requests without end keep a transaction from being committed. */
function holdOpen(store: IDBObjectStore): void {
  store.count().onsuccess = () => holdOpen(store);
}
const PLACES: Record<string, string> = { waiting: 'keeping', sending: 'leasing', sent: 'settling' };
for (const method of ['put', 'add'] as const) {
  const write = IDBObjectStore.prototype[method];
  IDBObjectStore.prototype[method] = function (value, key) {
    const request = write.call(this, value, key);
    if (stands(PLACES[value?.state] ?? '')) holdOpen(this);
    return request;
  };
}

const limit = (name: 'maxEntries' | 'maxBytes' | 'maxAgeMs'): Partial<OutboxPolicy> =>
  searchParams.has(name) ? { [name]: Number(searchParams.get(name)) } : {};
const limits = { ...limit('maxEntries'), ...limit('maxBytes'), ...limit('maxAgeMs') };
const retry = { attempts: 2, backoff: constant(50), throttledBackoff: constant(50) };

createRetryLayer({
  routes: [
    { match: /[?&]addkey\b/, retry, outbox: { name: 'added', addKey: true, ...limits } },
    { match: /[?&]byurl\b/, retry, outbox: { name: 'byurl', orderBy: 'url', ...limits } },
    { match: /[?&]free\b/, retry, outbox: { name: 'free', orderBy: 'none', ...limits } },
    { match: /[?&]error\b/, retry, outbox: { name: 'silent', answer: 'error', ...limits } },
    { match: /[?&]form\b/, retry, outbox: { name: 'forms', page: '/?queued', doneAt: '/thanks', ...limits } },
    { match: /[?&]box\b/, retry, outbox: { name: 'orders', ...limits } },
  ],
  prepare: async (request) => {
    const headers = new Headers(request.headers);
    headers.set('Authorization', 'fresh');
    return new Request(request, { headers });
  },
}).listen();
