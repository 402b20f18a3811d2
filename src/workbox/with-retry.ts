import { RetryLayerError } from '../policy/index.js';
import type { Plans } from '../worker/routes.js';
import { throughPlugins } from './plugins.js';
import type { InterceptWith } from './retries.js';
import { isFetch } from './retry-handler.js';
import type { Handler, Strategy } from './strategy.js';

/** Does the strategy wait for an answer, take one if it comes, or has it failed without? */
type Wanted = 'now' | 'in-background' | 'no-more';

const ANY = Number.POSITIVE_INFINITY;
/** What a request may have at most, besides what its policy says. */
const LIMITS: Readonly<Record<Wanted | 'install', { readonly attempts: number; readonly totalMs: number }>> = {
  now: { attempts: ANY, totalMs: ANY },
  // Files are installed one after the other, and the new version waits for all of them.
  install: { attempts: ANY, totalMs: 10_000 },
  'in-background': { attempts: 2, totalMs: 10_000 },
  'no-more': { attempts: ANY, totalMs: 0 },
};

const retrying = new WeakSet<Strategy>();

/** Gives every handler that the strategy makes a `fetch` that retries; the strategy itself goes on as it is. */
export function addRetries(
  strategy: Strategy,
  plans: Plans,
  intercept: InterceptWith,
  onFault: (fault: unknown) => void,
): void {
  if (retrying.has(strategy)) {
    const message = 'strategy must not have retries already; call withRetry once for each';
    throw new RetryLayerError('bad-option', message, 'strategy');
  }
  retrying.add(strategy);
  const handle = strategy._handle;
  strategy._handle = (request, handler) => {
    let wanted: Wanted = 'now';
    equip(
      handler,
      toStarter(strategy, handler, plans, intercept, () => wanted),
      onFault,
    );
    const handled = handle.call(strategy, request, handler);
    // A strategy of your own may answer without a promise.
    void Promise.resolve(handled).then(
      () => {
        wanted = 'in-background';
      },
      () => {
        wanted = 'no-more';
      },
    );
    return handled;
  };
}

/** `undefined`: the request is left alone, which the strategy can do by itself. */
type ToStart = (request: Request) => (() => Promise<Response>) | undefined;

function equip(handler: Handler, toStart: ToStart, onFault: (fault: unknown) => void): void {
  const alone = handler.fetch.bind(handler);
  const preloadAlone = handler.getPreloadResponse?.bind(handler);

  /** With retries; `undefined`: without, also if something of ours fails before anything is sent. */
  function started(request: Request): Promise<Response> | undefined {
    try {
      const answer = toStart(request)?.();
      // Also when the strategy has failed, so that its plugins are told of what is still under way.
      if (answer) handler.waitUntil(answer.catch(() => {}));
      return answer;
    } catch (fault) {
      onFault(fault);
      return undefined;
    }
  }

  handler.fetch = (input) => {
    const request = typeof input === 'string' ? new Request(input) : input;
    return started(request) ?? alone(request);
  };
  if (preloadAlone) {
    handler.getPreloadResponse = async () => {
      const preloaded = await preloadAlone();
      return preloaded && (started((handler.event as FetchEvent).request) ?? preloaded);
    };
  }
}

function toStarter(
  strategy: Strategy,
  handler: Handler,
  plans: Plans,
  intercept: InterceptWith,
  wanted: () => Wanted,
): ToStart {
  const event = isFetch(handler.event) ? handler.event : undefined;
  const limits = () => LIMITS[wanted() === 'now' && handler.event.type === 'install' ? 'install' : wanted()];
  return (request) => {
    const plugins = throughPlugins(strategy, handler, request);
    const start = intercept(plans, {
      through: plugins.through,
      amend({ isGone, ceilingMs = () => ANY, ...call }) {
        return {
          ...call,
          mostAttempts: () => limits().attempts,
          ceilingMs: () => Math.min(ceilingMs(), limits().totalMs),
          // The strategy knows what to do without a network: it has a cache, or a queue.
          waitsOffline: false,
          // Of what may be queued in the end the queue is told, page or no page.
          ...(isGone && !handler.hasCallback('fetchDidFail') ? { isGone } : {}),
          keepAlive: (work) => void handler.waitUntil(work.catch(() => {})),
        };
      },
    })(request, event);
    return start && (() => plugins.told(start));
  };
}
