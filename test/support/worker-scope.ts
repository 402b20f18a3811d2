/// <reference lib="webworker" />
import { vi } from 'vitest';

// Workbox reads `self` when it is imported, so this file is imported before anything of the worker's.
vi.stubGlobal('self', { __WB_DISABLE_DEV_LOGS: true });

/** A page, as the worker sees it. */
export interface FakeClient {
  readonly id: string;
  readonly received: unknown[];
  postMessage(message: unknown): void;
}

export interface FakeClients {
  readonly clients: Clients;
  /** Opens a page. */
  open(id: string): FakeClient;
  close(id: string): void;
  /** Every id that was asked for. */
  readonly asked: string[];
  claimed(): number;
}

export function createClients(): FakeClients {
  const pages = new Map<string, FakeClient>();
  const asked: string[] = [];
  let claims = 0;
  return {
    asked,
    claimed: () => claims,
    open(id) {
      const received: unknown[] = [];
      const client: FakeClient = { id, received, postMessage: (message) => received.push(structuredClone(message)) };
      pages.set(id, client);
      return client;
    },
    close: (id) => pages.delete(id),
    clients: {
      async get(id: string) {
        asked.push(id);
        return pages.get(id);
      },
      matchAll: async () => [...pages.values()],
      async claim() {
        claims += 1;
      },
    } as unknown as Clients,
  };
}

export interface FakeScope extends FakeClients {
  /** The types that somebody listens to, in the order of their listeners. */
  readonly listening: string[];
  /** Calls every listener for `type`. */
  dispatch(type: string, event: object): void;
  readonly skipWaiting: ReturnType<typeof vi.fn>;
  readonly enablePreload: ReturnType<typeof vi.fn>;
  readonly disablePreload: ReturnType<typeof vi.fn>;
}

/** The least of a worker's global scope that a layer needs. */
export function stubScope(origin = 'https://app.test'): FakeScope {
  const pages = createClients();
  const listeners: [string, (event: object) => void][] = [];
  const skipWaiting = vi.fn(async () => {});
  const enablePreload = vi.fn(async () => {});
  const disablePreload = vi.fn(async () => {});
  vi.stubGlobal('self', {
    __WB_DISABLE_DEV_LOGS: true,
    location: new URL(`${origin}/sw.js`),
    clients: pages.clients,
    registration: { scope: `${origin}/`, navigationPreload: { enable: enablePreload, disable: disablePreload } },
    skipWaiting,
    addEventListener: (type: string, listener: (event: object) => void) => listeners.push([type, listener]),
  });
  return {
    ...pages,
    skipWaiting,
    enablePreload,
    disablePreload,
    get listening() {
      return listeners.map(([type]) => type);
    },
    dispatch(type, event) {
      for (const [of, listener] of listeners) if (of === type) listener(event);
    },
  };
}

/** Lets everything happen that needs no time. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
