import { constant, createRetryLayer } from '../../src/worker/index.ts';

// What can go wrong with a database, by name.
const FAULTS: Record<string, () => void> = {
  missing: () => Object.defineProperty(self, 'indexedDB', { value: undefined }),
  throws: () => {
    indexedDB.open = () => {
      throw new DOMException('no storage here', 'SecurityError');
    };
  },
  hangs: () => {
    indexedDB.open = () => new EventTarget() as IDBOpenDBRequest;
  },
  'transactions throw': () => {
    IDBDatabase.prototype.transaction = () => {
      throw new DOMException('closing', 'InvalidStateError');
    };
  },
  full: () => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  },
};
FAULTS[new URLSearchParams(location.search).get('fault') ?? '']?.();

createRetryLayer({ defaults: { backoff: constant(20) } }).listen();
