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
  /** It does not come, or has come. */
  withdraw(clientId: string, id: string): void;
  /** What was announced of a request. */
  take(clientId: string, method: string, url: string): string | undefined;
}

/** What was said of a request that has not come is remembered for so long, */
const KEPT_MS = 10_000;
/** and of no more than so many. */
const MOST_KEPT = 1_000;

interface Announced {
  readonly key: string;
  readonly asked: string;
  readonly at: number;
}

export function createCalls(now: () => number): Calls {
  /** Of requests that are under way. */
  const live = new Map<string, AbortController>();
  /** Aborts that came before their request. */
  const early = new Map<string, number>();
  const announced = new Map<string, Announced>();
  const isFresh = (at: number): boolean => now() - at < KEPT_MS;
  const keep = <T>(map: Map<string, T>, key: string, value: T): void => {
    map.delete(key);
    map.set(key, value);
    if (map.size > MOST_KEPT) for (const oldest of [...map.keys()].slice(0, 1)) map.delete(oldest);
  };
  const callOff = (controller: AbortController): void =>
    controller.abort(new DOMException('the page has called it off', 'AbortError'));

  return {
    signalOf(clientId, id) {
      const key = `${clientId} ${id}`;
      const controller = live.get(key) ?? new AbortController();
      const abortedAt = early.get(key);
      if (abortedAt !== undefined && isFresh(abortedAt)) callOff(controller);
      early.delete(key);
      live.set(key, controller);
      return controller.signal;
    },
    abort(clientId, id) {
      const key = `${clientId} ${id}`;
      const controller = live.get(key);
      if (controller) callOff(controller);
      else keep(early, key, now());
    },
    end: (clientId, id) => void live.delete(`${clientId} ${id}`),
    announce(clientId, { id, method, url, asked }) {
      keep(announced, `${clientId} ${id}`, { key: `${clientId} ${method} ${url}`, asked, at: now() });
    },
    withdraw: (clientId, id) => void announced.delete(`${clientId} ${id}`),
    take(clientId, method, url) {
      if (announced.size === 0) return undefined;
      const wanted = `${clientId} ${method} ${url}`;
      for (const [id, { key, asked, at }] of announced) {
        if (key !== wanted) continue;
        announced.delete(id);
        if (isFresh(at)) return asked;
      }
      return undefined;
    },
  };
}
