import { createWarner, type Ports } from '../engine/index.js';
import { RetryLayerError, type RetryOptions } from '../policy/index.js';
import { createHub, type Hub } from '../worker/hub.js';
import { createInbox } from '../worker/inbox.js';
import { createIntercept, type Intercept, type Surroundings } from '../worker/intercept.js';
import { checkRetry } from '../worker/options.js';
import { type Plans, planFor } from '../worker/routes.js';
import { checkShared, type SharedOptions } from './options.js';
import { createRetryHandler, type RetryHandler } from './retry-handler.js';
import { type StrategyLike, toStrategy } from './strategy.js';
import { addRetries } from './with-retry.js';

export interface Retries {
  /**
   * Says what all strategies and handlers of this worker share. Call it at most once, in the worker's top-level code; the
   * order does not matter.
   *
   * @throws {@link RetryLayerError} if an option is wrong, or if it comes too late
   */
  configureRetries(options: SharedOptions): void;
  /**
   * A handler for a route that goes to the network and retries; nothing is cached:
   * `registerRoute(match, retryHandler(policy))`.
   *
   * @throws {@link RetryLayerError} if an option is wrong
   */
  retryHandler(policy?: RetryOptions): RetryHandler;
  /**
   * Gives a strategy retries wherever it goes to the network, and returns it. What it does besides (caches, plugins, its
   * timeout) is as before.
   *
   * @throws {@link RetryLayerError} if an option is wrong, or it is no strategy, or has retries already
   */
  withRetry<S extends StrategyLike>(strategy: S, policy?: RetryOptions): S;
}

/** `Intercept` for one request, with what is its own. */
export type InterceptWith = (
  plans: Plans,
  own: Pick<Surroundings, 'amend'> & { readonly through?: (send: Fetch) => Fetch },
) => Intercept;

type Fetch = Ports['fetch'];

/** The engine is made once the worker's script has run: whatever is told about it until then counts. */
export function createRetries(): Retries {
  const scope = (globalThis.self ?? globalThis) as unknown as ServiceWorkerGlobalScope;
  let options: SharedOptions | undefined;
  let hub: Hub | undefined;
  let isPlanned = false;
  // Its own, because the hub itself may be what fails.
  const warn = createWarner();
  const onFault = (fault: unknown): void => warn('a request was answered without retries because of a fault', fault);

  /** Listeners have to be there when the script has run, and microtasks belong to that. */
  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      try {
        theHub();
      } catch (fault) {
        onFault(fault);
      }
    });
  }

  function theHub(): Hub {
    if (hub) return hub;
    hub = createHub(scope, options ?? {});
    listen(scope, hub);
    return hub;
  }

  const intercept: InterceptWith = (plans, { through, amend }) => {
    const { engine, calls, secret, pulse, csp, teller, isRetired, isPaused, onVerdict } = theHub();
    const { ports } = engine;
    const own = through ? { ...engine, ports: { ...ports, fetch: through(ports.fetch) } } : engine;
    return createIntercept({
      scope,
      engine: own,
      findPlan: ({ mode }) => plans[mode === 'navigate' ? 'navigation' : 'other'],
      calls,
      secret,
      pulse,
      // Asked anew, the browser would only come back to the same route.
      csp: { ...csp, settle: (response) => csp.settle(response) },
      teller,
      isRaced: () => false,
      offlinePage: undefined,
      outbox: undefined,
      isOff: isRetired,
      isPaused,
      onObserved: undefined,
      ...(amend ? { amend } : {}),
      onVerdict,
      onFault,
    });
  };

  /** What is said of a route, checked. */
  function plansOf(policy: RetryOptions): Plans {
    checkRetry(policy, 'policy');
    plan();
    return planFor({ retry: policy }, {});
  }

  return {
    configureRetries(given) {
      checkShared(given);
      if (options || hub) {
        const why = options ? 'was called twice' : 'came after the script had run';
        throw new RetryLayerError('already-listening', `configureRetries() ${why}; call it once, at the top level`);
      }
      options = given;
      plan();
    },
    retryHandler: (policy = {}) => createRetryHandler(plansOf(policy), intercept, onFault),
    withRetry(strategy, policy = {}) {
      addRetries(toStrategy(strategy), plansOf(policy), intercept, onFault);
      return strategy;
    },
  };
}

/** Pages are answered as they are by a layer, but for what needs one. */
function listen(scope: ServiceWorkerGlobalScope, hub: Hub): void {
  const { mailbox, csp, secret, status, carryOut, warn } = hub;
  csp.listen();
  const desk = {
    async welcome() {
      hub.revive();
      // The worker's own routes may look at the whole URL, and its caches keep it.
      return { nonce: await secret.value(), fragments: false, waiting: 0 };
    },
    status,
    outbox: async () => ({ items: [], waiting: 0 }),
    carryOut,
  };
  scope.addEventListener('message', createInbox(mailbox, desk, warn));
  scope.addEventListener('online', hub.online);
}
