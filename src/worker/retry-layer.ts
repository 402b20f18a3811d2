import { clientsClaim } from 'workbox-core/clientsClaim.js';
import {
  createEngine,
  createGossip,
  createGuardNotices,
  createOriginBook,
  createOriginStore,
  createTeller,
  createWarner,
  type GuardListener,
  platformPorts,
} from '../engine/index.js';
import { createOutbox, createOutboxStore } from '../outbox/index.js';
import { CIRCUIT_DEFAULTS, RetryLayerError, resolveBudget } from '../policy/index.js';
import { type LayerStatus, type OutboxItem, type OutboxWish, VERSION } from '../protocol/index.js';
import { type IsRaced, routeInBrowser } from './browser-routing.js';
import { createCalls } from './calls.js';
import { createCspGuard } from './csp.js';
import { createDeliveries, type Deliveries } from './deliveries.js';
import { createInbox, type OutboxAnswer, type Wish } from './inbox.js';
import { createIntercept, preload } from './intercept.js';
import { createMailbox } from './mailbox.js';
import { watchNeighbours } from './neighbours.js';
import { createNotes } from './notes.js';
import { createOfflinePage } from './offline-page.js';
import { checkLayerOptions, type RetryLayerOptions } from './options.js';
import { createPulse } from './pulse.js';
import { compileRoutes } from './routes.js';
import { isSampled } from './sample.js';
import { createSecret } from './secret.js';
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
  const guards = {
    budget: resolveBudget(options.budget),
    circuit: { ...CIRCUIT_DEFAULTS, ...options.circuit },
  };
  const warn = createWarner();
  const store = createOriginStore();
  const csp = createCspGuard(scope, store, platformPorts, warn);
  const notes = createNotes(csp.store, platformPorts.sleep);
  const secret = createSecret(notes, scope.registration.scope);
  const ports = { ...platformPorts, fetch: csp.fetch };
  const calls = createCalls(ports.now);
  const pulse = createPulse(ports.now);
  const mailbox = createMailbox(scope.clients, ports.now, (problem) => warn('an event could not be sent', problem));
  const teller = createTeller(mailbox, ports.now, options.onEvent, (problem) =>
    warn('an event could not be told, or onEvent threw', problem),
  );
  const notice: GuardListener = createGuardNotices(ports, (record) => book.look(record), teller.notice);
  const engine = createEngine({
    ports,
    guards,
    createBook: (onGuard) =>
      createOriginBook(
        notes.store,
        ports,
        guards,
        (problem) => warn('the database cannot be used, so retry budgets last only as long as this worker', problem),
        onGuard,
      ),
    onGuard(change) {
      notice(change);
      if (change.by === 'us') gossip.tell({ kind: 'guards', record: change.after });
    },
    onSuccess: ({ origin, group }) => gossip.tell({ kind: 'success', origin, group }),
  });
  const { book, parking } = engine;
  const gossip = createGossip(
    {
      guards: ({ record }) => book.merge(record),
      success: parking.release,
      'retry-now': ({ origin }) => engine.retryNow(origin),
      pause: () => notes.set(PAUSED, true),
      resume: () => notes.set(PAUSED, undefined),
      reset: ({ origin }) => void book.reset(origin),
    },
    (problem) => warn('other workers cannot be told', problem),
  );
  const onFault = (fault: unknown) => warn('a request was answered without retries because of a fault', fault);
  const isOff = (clientId: string): boolean =>
    retired || (clientId !== '' && !isSampled(clientId, options.sample ?? 1));
  const isPaused = (): boolean | Promise<boolean> => {
    if (notes.isLoaded()) return notes.get(PAUSED) === true;
    const limit = ports.sleep(PAUSED_MS);
    return Promise.race([notes.loaded().finally(limit.cancel), limit.done]).then(() => notes.get(PAUSED) === true);
  };
  let isRaced: IsRaced = () => false;
  const keeps = options.mode !== 'observe' && options.routes?.some((route) => route.outbox);
  const outbox = keeps
    ? createOutbox({
        store: createOutboxStore(ports.now),
        engine,
        origin: scope.location.origin,
        prepare: options.prepare,
        locks: scope.navigator.locks,
        isPaused: () => retired || notes.get(PAUSED) === true,
        tell: teller.notice,
        onQueued: () => deliveries?.register(),
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
    calls,
    secret,
    pulse,
    csp,
    teller,
    isRaced: (match) => isRaced(match),
    offlinePage,
    outbox,
    isOff,
    isPaused,
    onObserved: options.mode === 'observe' ? teller.observed : undefined,
    onVerdict: (problem) => warn('classify threw or gave no verdict, so the rules decided', problem),
    onFault,
  });

  const status = (): LayerStatus => ({
    version: VERSION,
    counters: teller.counters(),
    paused: notes.get(PAUSED) === true,
    mode: options.mode ?? 'retry',
    ...book.status(parking.count),
  });

  function online(event?: ExtendableEvent): void {
    engine.device.changed(ports.now());
    engine.retryNow();
    sendNow(event);
  }

  /** What waits in the outbox for a time of our own choice waits no longer. */
  function sendNow(event?: ExtendableEvent): void {
    const sent = outbox?.send(true).catch(onFault);
    if (sent) event?.waitUntil(sent);
  }

  /** A browser gives a registration that is made again the worker that was to go. */
  function revive(): void {
    if (!retired) return;
    retired = false;
    store.revive();
    outbox?.revive();
    gossip.open();
  }

  async function retire(): Promise<void> {
    retired = true;
    gossip.close();
    await scope.registration.unregister();
    await Promise.all([store.destroy(), outbox?.destroy(), offlinePage?.destroy()]);
  }

  async function ask(wish: OutboxWish, event?: ExtendableEvent): Promise<OutboxAnswer> {
    const items = (await outbox?.carryOut(wish)) ?? [];
    const waiting = (await outbox?.waiting()) ?? 0;
    if (waiting > 0 && wish.do !== 'list') {
      const sent = outbox?.send().catch(onFault);
      if (sent) event?.waitUntil(sent);
    }
    return { items, waiting };
  }

  function carryOut(wish: Wish, clientId: string, event: ExtendableEvent): unknown {
    switch (wish.kind) {
      case 'beat':
        return pulse.beat(clientId);
      case 'online':
        return online(event);
      case 'retry-now':
        gossip.tell(wish);
        sendNow(event);
        return engine.retryNow(wish.origin);
      case 'abort':
        return calls.abort(clientId, wish.id);
      case 'call':
        return calls.announce(clientId, wish);
      case 'withdraw':
        return calls.withdraw(clientId, wish.id);
      case 'pause':
      case 'resume':
        gossip.tell(wish);
        return notes.set(PAUSED, wish.kind === 'pause' ? true : undefined);
      case 'reset':
        gossip.tell(wish);
        return book.reset(wish.origin);
      case 'retire':
        return retire();
    }
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
    scope.addEventListener('message', createInbox(mailbox, { welcome, status, outbox: ask, carryOut }, warn));
    // Not in Chromium, which has no such event in workers.
    scope.addEventListener('online', () => online());
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
  let retired = false;

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
      cancel: async (id) => (await ask({ do: 'cancel', id })).items,
      clear: async (outbox) => (await ask({ do: 'cancel', outbox })).items,
      async setOwner(owner) {
        await ask({ do: 'owner', owner });
      },
      depth: async () => (await outbox?.waiting()) ?? 0,
    },
    status,
  };
}

/** Kept: whoever has paused retries does not expect the next worker to go on. */
const PAUSED = 'paused';
/** A worker that was just started waits as long as this to learn whether it is; its records are waited for as long. */
const PAUSED_MS = 20;

/** A document that is left alone has been asked for already: without this the browser would ask once more. */
function takePreload(event: FetchEvent): (() => Promise<Response>) | undefined {
  const { mode, method } = event.request;
  if (mode !== 'navigate' || method !== 'GET') return undefined;
  return async () => (await preload(event)) ?? fetch(event.request);
}
