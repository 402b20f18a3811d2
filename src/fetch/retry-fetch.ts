import {
  type Call,
  createClassifier,
  createEngine,
  createGossip,
  createGuardNotices,
  createOriginBook,
  createTeller,
  createWarner,
  type Engine,
  serve,
  toFacts,
  unlessAborted,
  type Warner,
} from '../engine/index.js';
import { groupOf } from '../policy/eligibility.js';
import {
  CIRCUIT_DEFAULTS,
  DEFAULTS,
  type RetryOptions,
  type RetryPolicy,
  resolveBudget,
  resolvePolicy,
  skipReason,
} from '../policy/index.js';
import { type EventOf, type LayerEvent, type LayerStatus, VERSION } from '../protocol/index.js';
import { aside, isAside, toRequest } from './aside.js';
import { withAttempts } from './attempts.js';
import { askedByCall, checkRetryFetch, type RetryFetchOptions, type RetryRequestInit } from './options.js';
import { createSending, heldWhile, withExtras } from './sending.js';
import { createSubscribers } from './subscribers.js';
import { NOWHERE, platformSurroundings, type Surroundings } from './surroundings.js';

/** `fetch` with retries; to be called as that is. */
export interface RetryFetch {
  /**
   * Fetches, and retries where that is harmless. Rejects as `fetch` does: with the reason of the signal, at once, or
   * with the network's own error, which then has `attempts`, a number.
   *
   * @throws {@link RetryLayerError} if `retry` is wrong; nothing is sent then
   */
  (input: RequestInfo | URL, init?: RetryRequestInit): Promise<Response>;
  /** Calls `listener` for every event of this type. Returns a function that ends it. */
  on<Type extends LayerEvent['type']>(type: Type, listener: (event: EventOf<Type>) => void): () => void;
  /** What is known and was done since it was made. */
  status(): LayerStatus;
}

/**
 * Makes a `fetch` that retries by itself, without a service worker: for a first visit, browsers without workers, Node,
 * edge runtimes, tests. Pages share its state with the worker and with each other; elsewhere each one keeps its own, in
 * memory, so make one and use it everywhere. A worker that controls the page leaves alone what is retried here.
 *
 * `policy` is what every call inherits. An attempt that is overdue is always called off when the next one starts
 * (`cancelTimedOut: true`): outside a worker that costs a request nothing.
 *
 * @throws {@link RetryLayerError} if an option is wrong
 */
export function createRetryFetch(policy: RetryOptions = {}, options: RetryFetchOptions = {}): RetryFetch {
  checkRetryFetch(policy, options);
  // As it is now: whoever puts ours in its place must not have it call itself.
  const send = options.fetch ?? globalThis.fetch;
  const { ports, ...around } = platformSurroundings();
  return assembleRetryFetch(resolvePolicy(policy, DEFAULTS), options, {
    ...around,
    ports: { ...ports, fetch: (request, init) => (init === undefined ? send(request) : send(request, init)) },
  });
}

/** {@link createRetryFetch} somewhere else; nothing is checked. */
export function assembleRetryFetch(
  inherited: RetryPolicy,
  { classify, classifyBody = false, budget, circuit, onEvent }: Omit<RetryFetchOptions, 'fetch'>,
  { ports, idle, store, ownOrigin, isControlled, onOnline }: Surroundings,
  warn: Warner = createWarner(),
): RetryFetch {
  const guards = { budget: resolveBudget(budget), circuit: { ...CIRCUIT_DEFAULTS, ...circuit } };
  const onEventProblem = (problem: unknown) => warn('an event could not be told, or a listener threw', problem);
  const subscribers = createSubscribers(onEvent, onEventProblem);
  const nobodyElse = { post: () => {}, broadcast: () => {}, untold: () => 0 };
  const teller = createTeller(nobodyElse, ports.now, subscribers.tell, onEventProblem);
  const notice = createGuardNotices(idle, (record) => engine.book.look(record), teller.notice);
  const engine: Engine = createEngine({
    ports,
    guards,
    createBook: (onGuard) =>
      createOriginBook(
        store ?? NOWHERE,
        idle,
        guards,
        (problem) => warn('the database cannot be used, so retry budgets last only as long as this page', problem),
        onGuard,
      ),
    onGuard(change) {
      notice(change);
      if (change.by === 'us') gossip?.tell({ kind: 'guards', record: change.after });
    },
    onSuccess: ({ origin, group }) => gossip?.tell({ kind: 'success', origin, group }),
  });
  const { book, device, parking, retryNow } = engine;
  // Whoever shares no store has nobody to tell.
  const gossip =
    store &&
    createGossip(
      {
        guards: ({ record }) => book.merge(record),
        success: parking.release,
        'retry-now': ({ origin }) => retryNow(origin),
        // Those of workers.
        pause: () => {},
        resume: () => {},
        reset: ({ origin }) => void book.reset(origin),
      },
      (problem) => warn('other pages and workers cannot be told', problem),
    );
  onOnline(() => {
    device.changed(ports.now());
    retryNow();
  });
  const onFault = (fault: unknown) => warn('a request was answered without retries because of a fault', fault);
  const onVerdict = (problem: unknown) => warn('classify threw or gave no verdict, so the rules decided', problem);

  async function served(request: Request, send: Engine['ports']['fetch'], call: PlannedCall): Promise<Response> {
    const tell = teller.about(call.facts, call.group, '');
    let attempts = 0;
    const whole: Call = {
      ...call,
      request,
      signal: request.signal,
      tell(step) {
        if (step.type === 'attempt') attempts += 1;
        tell(step);
      },
      keepAlive: () => {},
    };
    const sending = createSending(request, send, isControlled);
    const own: Engine = { ...engine, ports: { ...ports, fetch: sending.fetch } };
    let response: Response | undefined;
    try {
      response = await unlessAborted(serve(whole, own, onFault), request.signal);
      return response;
    } catch (error) {
      throw request.signal.aborted ? error : withAttempts(error, attempts);
    } finally {
      sending.over(response);
    }
  }

  async function retryFetch(input: RequestInfo | URL, given?: RetryRequestInit): Promise<Response> {
    // `null` is as good as nothing to `fetch`.
    const init = given ?? {};
    const asked = askedByCall(init);
    const send = withExtras(ports.fetch, init);
    const controlled = isControlled();
    const request = toRequest(input, init, { mark: controlled });
    let plan: Plan;
    try {
      plan = planFor(request, asked);
    } catch (fault) {
      onFault(fault);
      return heldWhile(request, send(request));
    }
    if (plan.do === 'retry') return served(request, send, plan.call);
    // Whoever wants no retries wants none of the worker either; what else is not for us may be for the worker.
    if (plan.do === 'never') {
      const alone = controlled ? await aside(request) : request;
      return heldWhile(alone, send(alone));
    }
    const marked = controlled && !(input instanceof Request) && isAside(request);
    const left = marked ? toRequest(input, init, { mark: false }) : request;
    return heldWhile(left, send(left));
  }

  function planFor(request: Request, asked: RetryOptions | false): Plan {
    const url = new URL(request.url);
    if (request.url.includes('#')) url.hash = '';
    const facts = toFacts(request, url, ownOrigin ?? url.origin);
    const policy = asked && { ...resolvePolicy(asked, inherited), cancelTimedOut: true };
    const skipped = skipReason(facts, policy);
    if (!policy || skipped === 'retry-off') return { do: 'never' };
    if (skipped !== undefined) return { do: 'leave' };
    const judge = classify && { classify: createClassifier(classify, classifyBody, ports, onVerdict) };
    return { do: 'retry', call: { facts, policy, group: groupOf(facts), ...judge } };
  }

  return Object.assign(retryFetch, {
    on: subscribers.on,
    status: (): LayerStatus => ({
      version: VERSION,
      counters: teller.counters(),
      ...book.status(parking.count),
      ...(store ? {} : { storage: 'memory' as const }),
    }),
  });
}

type PlannedCall = Omit<Call, 'request' | 'tell' | 'keepAlive' | 'signal'>;

/** What is done with a request: retried here, by nobody, or left to whoever sees it. */
type Plan = { readonly do: 'retry'; readonly call: PlannedCall } | { readonly do: 'never' | 'leave' };
