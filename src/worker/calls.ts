import type { PageMessage } from '../protocol/index.js';

/** What pages say of single requests of theirs: what one asks for, and that it is called off. */
export interface Calls {
  /** Fires when the page calls off the request with this id; already, if it has done so before the request came. */
  signalOf(clientId: string, id: string): AbortSignal;
  abort(clientId: string, id: string): void;
  /** The request with this id is answered. */
  end(clientId: string, id: string): void;
  /** The next request of this page, method and URL asks for this. */
  announce(clientId: string, call: PageMessage & { kind: 'call' }): void;
  /** What was announced of a request. */
  take(clientId: string, method: string, url: string): string | undefined;
}

/** Nothing that was said and never came is remembered for longer, */
const KEPT_MS = 30_000;
/** nor more than this. */
const MOST_KEPT = 1_000;

export function createCalls(now: () => number): Calls {
  const aborts = createShelf<AbortController>(now);
  const announced = createShelf<readonly string[]>(now);
  return {
    signalOf: (clientId, id) => aborts.put(`${clientId} ${id}`, (known) => known ?? new AbortController()).signal,
    abort(clientId, id) {
      const called = aborts.put(`${clientId} ${id}`, (known) => known ?? new AbortController());
      called.abort(new DOMException('the page has called it off', 'AbortError'));
    },
    end: (clientId, id) => aborts.drop(`${clientId} ${id}`),
    announce(clientId, { method, url, asked }) {
      announced.put(`${clientId} ${method} ${url}`, (known = []) => [...known, asked]);
    },
    take(clientId, method, url) {
      if (announced.isEmpty()) return undefined;
      const key = `${clientId} ${method} ${url}`;
      const [first, ...rest] = announced.get(key) ?? [];
      if (rest.length > 0) announced.put(key, () => rest);
      else announced.drop(key);
      return first;
    },
  };
}

/** A map whose entries go when they are old or too many, oldest first. */
function createShelf<T>(now: () => number) {
  const entries = new Map<string, { readonly value: T; readonly at: number }>();
  const fresh = (key: string): T | undefined => {
    const entry = entries.get(key);
    return entry && now() - entry.at < KEPT_MS ? entry.value : undefined;
  };
  return {
    isEmpty: () => entries.size === 0,
    get: fresh,
    drop: (key: string) => void entries.delete(key),
    put(key: string, change: (known: T | undefined) => T): T {
      const value = change(fresh(key));
      entries.delete(key);
      entries.set(key, { value, at: now() });
      if (entries.size > MOST_KEPT) for (const oldest of [...entries.keys()].slice(0, 1)) entries.delete(oldest);
      return value;
    },
  };
}
