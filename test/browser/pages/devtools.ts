import { type DevtoolsLine, type SteadfetchDevtools, showDevtools } from '../../../src/devtools/index.ts';
import type { LayerEvent, LayerStatus, OutboxItem } from '../../../src/page/index.ts';
import '../../../src/status/index.ts';

/** A panel of this page's own line, at the lower edge. */
export function show(theme?: 'light' | 'dark'): SteadfetchDevtools {
  return showDevtools(window.sf.retries as DevtoolsLine, theme ? { theme } : {});
}

/** A status of this page's own line, at the top. */
export function showStatus(attributes: Readonly<Record<string, string>> = {}): void {
  const element = document.createElement('steadfetch-status');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (window.sf.retries) element.retries = window.sf.retries;
  document.body.prepend(element);
}

/** A line that tells what it is told to tell. */
export function fakeLine(events: readonly LayerEvent[], status?: LayerStatus, items: OutboxItem[] = []) {
  const listeners = new Map<string, (event: never) => void>();
  const line: DevtoolsLine = {
    state: 'controlled',
    workerVersion: '0.1.0',
    on(type, listener) {
      listeners.set(type, listener);
      return () => listeners.delete(type);
    },
    status: async () => status,
    retryNow: async () => true,
    reset: async () => true,
    outbox: {
      list: async () => items,
      get: async (id) => items.find((item) => item.id === id),
      follow: async () => undefined,
      retry: async () => items,
      cancel: async () => items,
      clear: async () => items,
      setOwner: async () => true,
      depth: async () => items.length,
    },
  };
  // A type that is not known here is heard by whoever listens to any other.
  const tell = (more: readonly LayerEvent[]) => {
    for (const event of more) (listeners.get(event.type) ?? listeners.get('recovered'))?.(event as never);
  };
  const panel = showDevtools(line);
  tell(events);
  return { panel, tell };
}

/** So many events of requests that were retried twice, each second one in vain. */
export function manyEvents(count: number, end = Date.now()): LayerEvent[] {
  return Array.from({ length: count }, (_, index): LayerEvent => {
    const request = Math.floor(index / 3);
    const startedAt = end - (count / 3 - request) * 250;
    const about = {
      id: `r${request}`,
      method: request % 4 === 0 ? 'PUT' : 'GET',
      url: `https://${request % 3 === 0 ? 'api.test' : 'app.test'}/items/${request}`,
      group: 'data',
    };
    const after = (elapsedMs: number) => ({ ...about, at: startedAt + elapsedMs, elapsedMs });
    if (index % 3 === 0)
      return {
        type: 'retry-scheduled',
        ...after(60),
        attempt: 1,
        delayMs: 400,
        cause: 'status',
        status: 503,
        by: 'backoff',
      };
    if (index % 3 === 1)
      return {
        type: 'retry-scheduled',
        ...after(520),
        attempt: 2,
        delayMs: 2_000,
        cause: 'network-error',
        by: 'retry-after',
      };
    return request % 2 === 0
      ? { type: 'recovered', ...after(2_600), attempts: 3, status: 200 }
      : { type: 'gave-up', ...after(2_600), attempts: 3, lastStatus: 503, reason: 'attempts' };
  });
}
