import { createOriginStore, idlePorts, type OriginStore, type Ports, platformPorts } from '../engine/index.js';

/** What a retrying fetch finds where it runs: a page, a web worker, Node, an edge runtime. Tests bring their own. */
export interface Surroundings {
  readonly ports: Ports;
  /** For what is done beside requests: its timers keep nothing alive. */
  readonly idle: Ports;
  /** What is shared with workers and other pages. Absent: each keeps its own state, in memory. */
  readonly store?: OriginStore;
  /** Absent where there are no origins, and every answer can be read. */
  readonly ownOrigin?: string;
  /** Does a service worker see what is fetched now, or may it? */
  isControlled(): boolean;
  onOnline(listener: () => void): void;
}

export function platformSurroundings(): Surroundings {
  const ownOrigin = globalThis.location?.origin;
  return {
    ports: platformPorts,
    idle: idlePorts,
    // Named only: in a frame without an origin of its own to look at it is an error in some browsers.
    ...('indexedDB' in globalThis ? { store: createOriginStore() } : {}),
    ...(ownOrigin === undefined ? {} : { ownOrigin }),
    isControlled() {
      const workers = globalThis.navigator?.serviceWorker;
      // Chromium's web workers may be controlled and cannot ask: a mark that nobody reads does no harm there.
      return workers ? workers.controller !== null : 'importScripts' in globalThis;
    },
    onOnline: (listener) => globalThis.addEventListener?.('online', listener),
  };
}

/** Keeps nothing: what the book knows is all there is. */
export const NOWHERE: OriginStore = {
  load: async () => [],
  update: async () => new Map(),
  destroy: async () => {},
  revive() {},
};
