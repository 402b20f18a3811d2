import { clientsClaim } from 'workbox-core/clientsClaim.js';
import { createOutbox, createOutboxStore } from '../outbox/index.js';
import { RetryLayerError } from '../policy/index.js';
import { checkOwner, type LayerStatus, type OutboxItem, type OutboxWish } from '../protocol/index.js';
import { type IsRaced, routeInBrowser } from './browser-routing.js';
import { createDeliveries, type Deliveries } from './deliveries.js';
import { createHub, PAUSED } from './hub.js';
import { createInbox, type OutboxAnswer, type Wish } from './inbox.js';
import { createIntercept, preload } from './intercept.js';
import { watchNeighbours } from './neighbours.js';
import { createOfflinePage } from './offline-page.js';
import { checkLayerOptions, type RetryLayerOptions } from './options.js';
import { compileRoutes } from './routes.js';
import { isSampled } from './sample.js';
import { toStaticRoutes } from './static-routes.js';

/** Retries for every fetch of the pages that this worker controls. */
export interface RetryLayer {
  /** Installs the listeners. Call it once, at the top level of the worker. */
  listen(): void;
  /**
   * Fetches with retries from inside the worker, where a plain `fetch` has none. Rejects with its reason when the
   * request's signal is aborted, also during a wait.
   */
  fetch(request: Request): Promise<Response>;
  /** What waits to be delivered, as far as it belongs to the current owner; empty where no route has an outbox. */
  readonly outbox: LayerOutbox;
  /** What the layer knows and has done since the worker was started. */
  status(): LayerStatus;
}

export interface LayerOutbox {
  /** All entries, or those of one outbox; the results of the last day are among them. */
  list(outbox?: string): Promise<readonly OutboxItem[]>;
  /** Gives an entry, or all, their time once more, and sends them now. */
  retry(id?: string): Promise<readonly OutboxItem[]>;
  cancel(id: string): Promise<readonly OutboxItem[]>;
  /** Deletes all entries of the current owner, results included. */
  clear(outbox?: string): Promise<readonly OutboxItem[]>;
  setOwner(owner?: string): Promise<void>;
  /** How many entries wait. */
  depth(): Promise<number>;
}

/**
 * Makes a layer. Reads its state from IndexedDB at once, so call it at the top level of the worker.
 *
 * @throws {@link RetryLayerError} if an option is wrong; nothing is installed then
 */
export function createRetryLayer(options: RetryLayerOptions = {}): RetryLayer {
  checkLayerOptions(options);
  // In Node, where somebody tests a configuration, there is nothing of a worker; nothing is asked of it before `listen`.
  const scope = (globalThis.self ?? globalThis) as unknown as ServiceWorkerGlobalScope;
  const findPlan = compileRoutes(options);
  const hub = createHub(scope, options);
  const { engine, teller, notes, secret, csp, warn, onFault, isPaused } = hub;
  const isOff = (clientId: string): boolean =>
    hub.isRetired() || (clientId !== '' && !isSampled(clientId, options.sample ?? 1));
  let isRaced: IsRaced = () => false;
  const keeps = options.mode !== 'observe' && options.routes?.some((route) => route.outbox);
  const outbox = keeps
    ? createOutbox({
        store: createOutboxStore(engine.ports.now, scope.registration.scope),
        engine,
        origin: scope.location.origin,
        prepare: options.prepare,
        locks: scope.navigator?.locks,
        isPaused: () => hub.isRetired() || notes.get(PAUSED) === true,
        tell: teller.notice,
        onQueued: () => void deliveries?.register(),
        onFault: (fault) => warn('the outbox has met a problem', fault),
      })
    : undefined;
  const deliveries: Deliveries | undefined =
    outbox && createDeliveries(scope, outbox, (fault) => warn('the outbox could not be sent', fault));
  const { offlinePage: path } = options;
  const offlinePage =
    path === undefined
      ? undefined
      : createOfflinePage(scope, path, (problem) => warn(`the offline page ${path} cannot be had`, problem));
  const intercept = createIntercept({
    scope,
    engine,
    findPlan,
    calls: hub.calls,
    secret,
    pulse: hub.pulse,
    csp,
    teller,
    isRaced: (match) => isRaced(match),
    offlinePage,
    outbox,
    isOff,
    isPaused,
    onObserved: options.mode === 'observe' ? teller.observed : undefined,
    onVerdict: hub.onVerdict,
    onFault,
  });

  const status = (): LayerStatus => ({ ...hub.status(), mode: options.mode ?? 'retry' });

  /** With what the hub knows nothing of. */
  function revive(): void {
    if (hub.isRetired()) outbox?.revive();
    hub.revive();
  }

  async function ask(wish: OutboxWish, event?: ExtendableEvent): Promise<OutboxAnswer> {
    const items = (await outbox?.carryOut(wish)) ?? [];
    const waiting = (await outbox?.waiting()) ?? 0;
    if (waiting > 0 && wish.do !== 'list') deliveries?.send(event);
    return { items, waiting };
  }

  async function carryOut(wish: Wish, clientId: string, event: ExtendableEvent): Promise<void> {
    const done = hub.carryOut(wish, clientId);
    if (wish.kind === 'online' || wish.kind === 'retry-now') deliveries?.send(event, true);
    await Promise.all([done, ...(wish.kind === 'retire' ? [outbox?.destroy(), offlinePage?.destroy()] : [])]);
  }

  function onFetch(event: FetchEvent): void {
    try {
      deliveries?.use(event);
      const start = intercept(event.request, event) ?? (options.navigationPreload ? takePreload(event) : undefined);
      if (!start) return;
      // Before anything is sent: if the answer is not ours to give, this throws and nothing has happened.
      let answer: (response: Response | Promise<Response>) => void = () => {};
      event.respondWith(
        new Promise<Response>((resolve) => {
          answer = resolve;
        }),
      );
      try {
        answer(start());
      } catch (fault) {
        onFault(fault);
        answer(fetch(event.request));
      }
    } catch (fault) {
      onFault(fault);
    }
  }

  function listen(): void {
    if (listening)
      throw new RetryLayerError('already-listening', 'listen() was called twice on one layer; call it once');
    listening = true;
    scope.addEventListener('fetch', onFetch);
    const isShared = watchNeighbours(scope);
    csp.listen();
    const welcome = async () => {
      revive();
      return {
        nonce: await secret.value(),
        fragments: options.fragments ?? !isShared(),
        waiting: (await outbox?.waiting()) ?? 0,
      };
    };
    scope.addEventListener('message', createInbox(hub.mailbox, { welcome, status, outbox: ask, carryOut }, warn));
    // Not in Chromium, which has no such event in workers.
    scope.addEventListener('online', () => {
      hub.online();
      deliveries?.send(undefined, true);
    });
    deliveries?.listen();
    offlinePage?.listen();
    const staticRoutes = toStaticRoutes(options.routes ?? [], scope.location.origin);
    isRaced = routeInBrowser(scope, staticRoutes, isShared, notes, (problem) =>
      warn('the browser took no static routes', problem),
    );
    if (options.skipWaiting) scope.addEventListener('install', () => void scope.skipWaiting());
    if (options.clientsClaim ?? true) clientsClaim();
    const { navigationPreload } = options;
    if (navigationPreload !== undefined) {
      // The browser remembers it: what an earlier version has switched on stays on until somebody switches it off.
      scope.addEventListener('activate', (event) => {
        const { navigationPreload: manager } = scope.registration;
        event.waitUntil(navigationPreload ? manager?.enable() : manager?.disable());
      });
    }
  }
  let listening = false;

  return {
    listen,
    async fetch(request) {
      let start: (() => Promise<Response>) | undefined;
      try {
        start = intercept(request);
      } catch (fault) {
        onFault(fault);
      }
      return start ? start() : fetch(request);
    },
    outbox: {
      list: async (outbox) => (await ask({ do: 'list', outbox })).items,
      retry: async (id) => (await ask({ do: 'retry', id })).items,
      // Without an id it would be all of them: a slip of whoever calls is not to delete them.
      cancel: async (id) => (await ask({ do: 'cancel', id: String(id) })).items,
      clear: async (outbox) => (await ask({ do: 'cancel', outbox })).items,
      async setOwner(owner) {
        await ask({ do: 'owner', owner: checkOwner(owner) });
      },
      depth: async () => (await outbox?.waiting()) ?? 0,
    },
    status,
  };
}

/** A document that is left alone has been asked for already: without this the browser would ask once more. */
function takePreload(event: FetchEvent): (() => Promise<Response>) | undefined {
  const { mode, method } = event.request;
  if (mode !== 'navigate' || method !== 'GET') return undefined;
  return async () => (await preload(event)) ?? fetch(event.request);
}
