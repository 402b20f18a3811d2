import { clientsClaim } from 'workbox-core/clientsClaim.js';
import {
  createClassifier,
  createEngine,
  createGossip,
  createGuardNotices,
  createOriginBook,
  createOriginStore,
  createTeller,
  createWarner,
  type GuardListener,
  platformPorts,
  serve,
  toFacts,
} from '../engine/index.js';
import { groupOf } from '../policy/eligibility.js';
import { CIRCUIT_DEFAULTS, RetryLayerError, type RetryPolicy, resolveBudget, skipReason } from '../policy/index.js';
import { type LayerStatus, VERSION } from '../protocol/index.js';
import { type IsRaced, routeInBrowser } from './browser-routing.js';
import { createCspGuard } from './csp.js';
import { createInbox } from './inbox.js';
import { createMailbox } from './mailbox.js';
import { checkLayerOptions, type RetryLayerOptions } from './options.js';
import { compileRoutes } from './routes.js';
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
  /** What the layer knows and has done since the worker was started. */
  status(): LayerStatus;
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
  const ports = { ...platformPorts, fetch: csp.fetch };
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
        csp.store,
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
  const gossip = createGossip(book, parking.release, (problem) => warn('other workers cannot be told', problem));
  let isRaced: IsRaced = () => false;
  const onFault = (fault: unknown) => warn('a request was answered without retries because of a fault', fault);

  const onVerdict = (problem: unknown) => warn('classify threw or gave no verdict, so the rules decided', problem);

  const status = (): LayerStatus => ({ version: VERSION, counters: teller.counters(), ...book.status() });

  /** The answer to a request, to be started by calling it; `undefined` leaves the request alone. */
  function plan(request: Request, event?: FetchEvent): (() => Promise<Response>) | undefined {
    const url = new URL(request.url);
    url.hash = '';
    const facts = toFacts(request, url, scope.location.origin);
    const found = findPlan(request, url, facts.sameOrigin);
    if (found === undefined || skipReason(facts, found.policy) !== undefined || csp.skips(request, url))
      return undefined;
    // The skip list has sorted out `false`.
    const policy = found.policy as RetryPolicy;
    const group = found.group ?? groupOf(facts);
    // Never fires for a page's request, so that is not listened to.
    const own = event === undefined ? { signal: request.signal } : {};
    return () => {
      // A navigation's events belong to the page that is coming, not to the one that is left.
      const clientId = (facts.navigation ? event?.resultingClientId : event?.clientId) ?? '';
      const first = facts.navigation ? preload(event) : undefined;
      const call = {
        request,
        facts,
        policy,
        group,
        ...(found.classify && { classify: createClassifier(found.classify, found.classifyBody, ports, onVerdict) }),
        ...own,
        // Never of a navigation: its page is not there before it is answered, and asking for it would never end.
        ...(clientId === '' || facts.navigation ? {} : { isGone: async () => !(await scope.clients.get(clientId)) }),
        tell: teller.about(facts, group, clientId),
        keepAlive: (work: Promise<unknown>) => event?.waitUntil(work),
        ...(first ? { first } : {}),
      };
      const raced = event !== undefined && request.method === 'GET' && isRaced(found.race);
      const go = async (raced: boolean) => csp.settle(await serve({ ...call, raced }, engine, onFault), event?.request);
      return typeof raced === 'boolean' ? go(raced) : raced.then(go);
    };
  }

  function onFetch(event: FetchEvent): void {
    try {
      const start = plan(event.request, event) ?? (options.navigationPreload ? takePreload(event) : undefined);
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
    csp.listen();
    scope.addEventListener('message', createInbox(mailbox, status, warn));
    // Not in Chromium, which has no such event in workers.
    scope.addEventListener('online', () => {
      engine.device.changed(ports.now());
      book.backOnline();
    });
    const staticRoutes = toStaticRoutes(options.routes ?? [], scope.location.origin);
    isRaced = routeInBrowser(scope, staticRoutes, store, ports.sleep, (problem) =>
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
        start = plan(request);
      } catch (fault) {
        onFault(fault);
      }
      return start ? start() : fetch(request);
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

/** The answer that the browser asked for while the worker started; has to be awaited even if it is not used. */
function preload(event: FetchEvent | undefined): Promise<Response | undefined> | undefined {
  return event?.preloadResponse as Promise<Response | undefined> | undefined;
}
