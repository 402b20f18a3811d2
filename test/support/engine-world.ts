import type { Call, Engine, Step } from '../../src/engine/call.ts';
import type { Classifier } from '../../src/engine/classify.ts';
import { createEngine } from '../../src/engine/create-engine.ts';
import { createOriginBook, type OriginBook } from '../../src/engine/origin-book.ts';
import type { Ports } from '../../src/engine/ports.ts';
import { serve } from '../../src/engine/serve.ts';
import { exponential } from '../../src/policy/backoff.ts';
import { type BudgetOptions, resolveBudget } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS, type CircuitPolicy } from '../../src/policy/circuit.ts';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { DEFAULTS, NAVIGATION_DEFAULTS, type RetryPolicy } from '../../src/policy/policy.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';
import { requestFacts } from './request-facts.ts';
import { type Answer, createNetwork, type Network } from './scripted-network.ts';
import { createVirtualTime, type Sleeper, type VirtualTime, virtualPorts } from './virtual-time.ts';

/** The defaults without chance: 500 ms, 1 s, 2 s; after a 429 or 503 1 s, 2 s, 4 s. */
export const EXACT: RetryPolicy = {
  ...DEFAULTS,
  backoff: exponential({ baseMs: 500, maxMs: 10_000 }),
  throttledBackoff: exponential({ baseMs: 1_000, maxMs: 10_000 }),
};
const EXACT_NAVIGATION: RetryPolicy = {
  ...NAVIGATION_DEFAULTS,
  backoff: EXACT.backoff,
  throttledBackoff: EXACT.throttledBackoff,
};
export const NAVIGATION: Partial<RequestFacts> = { navigation: true, mode: 'navigate', destination: 'document' };

export interface WorldOptions {
  readonly script?: readonly Answer[] | ((request: Request, earlier: number) => Answer);
  readonly policy?: Partial<RetryPolicy>;
  readonly budget?: BudgetOptions;
  readonly circuit?: Partial<CircuitPolicy>;
  readonly random?: () => number;
  readonly isOnline?: () => boolean;
  readonly savesData?: () => boolean;
  readonly classify?: Classifier;
  readonly time?: VirtualTime;
  readonly store?: MemoryStore;
  readonly prepare?: (response: Response) => Response;
  /** Do the first requests come while the worker starts, and nothing is known of what is stored? @defaultValue false */
  readonly cold?: boolean;
}

export interface CallOptions {
  readonly request?: Request;
  readonly facts?: Partial<RequestFacts>;
  readonly policy?: Partial<RetryPolicy>;
  readonly first?: Promise<Response | undefined> | undefined;
  readonly group?: string;
}

/** A step and when it was told, in milliseconds since the clock was made. */
export type Told = Step & { readonly at: number };

/** Everything the engine needs, under the control of a test. */
export interface World {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly engine: Engine;
  readonly ports: Ports;
  readonly book: OriginBook;
  readonly store: MemoryStore;
  readonly sleeper: Sleeper;
  readonly steps: Told[];
  readonly faults: unknown[];
  readonly problems: unknown[];
  readonly kept: Promise<unknown>[];
  call(options?: CallOptions): Call;
  /** Serves a request and lets time pass until it is answered. */
  serve(options?: CallOptions): Promise<Response>;
  /** Serves a request; time stands still until the test moves it. */
  start(options?: CallOptions): Promise<Response>;
}

/** What is tested of one request is tested without what other requests have to do with it. */
export const NEVER_OPENS: Partial<CircuitPolicy> = { failures: 1e9, window: 1_000, attemptsDivisor: 1 };

export const URL_OF_ITEMS = 'https://app.test/api/items';

export function createWorld({
  script = [200],
  policy = {},
  budget = {},
  circuit = NEVER_OPENS,
  random,
  isOnline,
  savesData,
  classify,
  time = createVirtualTime(),
  store = createMemoryStore(),
  prepare,
  cold = false,
}: WorldOptions = {}): World {
  const network = createNetwork(time, script, prepare);
  const chance = {
    ...(random ? { random } : {}),
    ...(isOnline ? { isOnline } : {}),
    ...(savesData ? { savesData } : {}),
  };
  const sleeper = time.sleeper();
  const ports = virtualPorts(time, sleeper, network.fetch, chance);
  const guards = { budget: resolveBudget(budget), circuit: { ...CIRCUIT_DEFAULTS, ...circuit } };
  const problems: unknown[] = [];
  // The book writes behind: its timers outlive every request, and are counted apart.
  const bookPorts = virtualPorts(time, time.sleeper(), network.fetch);
  const engine = createEngine({
    ports,
    guards,
    createBook: (onGuard) => createOriginBook(store, bookPorts, guards, (problem) => problems.push(problem), onGuard),
  });
  const { book } = engine;
  const steps: Told[] = [];
  const faults: unknown[] = [];
  const kept: Promise<unknown>[] = [];

  const call = (options: CallOptions = {}): Call => {
    const { request = new Request(URL_OF_ITEMS), facts, policy: own, first, group = 'data' } = options;
    const all = factsOf(request, facts);
    return {
      request,
      facts: all,
      policy: { ...(all.navigation ? EXACT_NAVIGATION : EXACT), ...policy, ...own },
      group,
      ...(first ? { first } : {}),
      ...(classify ? { classify } : {}),
      tell: (step) => steps.push({ at: time.elapsed(), ...step }),
      keepAlive: (work) => kept.push(work),
    };
  };
  const start = (options?: CallOptions) => {
    const go = () => serve(call(options), engine, (fault) => faults.push(fault));
    const loading = cold ? undefined : book.loading();
    const answer = loading ? loading.then(go) : go();
    answer.catch(() => {});
    return answer;
  };
  return {
    time,
    network,
    engine,
    ports,
    book,
    store,
    sleeper,
    steps,
    faults,
    problems,
    kept,
    call,
    start,
    serve: (options) => time.until(start(options)),
  };
}

/** What the worker would have read from this request. */
const factsOf = (request: Request, over: Partial<RequestFacts> = {}): RequestFacts => {
  const { origin, pathname, protocol } = new URL(request.url);
  return requestFacts({
    method: request.method,
    url: origin + pathname,
    protocol,
    origin,
    path: pathname,
    sameOrigin: origin === 'https://app.test',
    keyed: request.headers.has('Idempotency-Key'),
    hasBody: request.body !== null,
    range: request.headers.has('Range'),
    cache: request.cache,
    ...over,
  });
};

/** Resolves to what a promise was rejected with; throws if it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol('resolved');
  const outcome = await promise.then(
    () => nothing,
    (error: unknown) => ({ error }),
  );
  if (outcome === nothing) throw new Error('resolved, where it should have been rejected');
  return (outcome as { error: unknown }).error;
}
