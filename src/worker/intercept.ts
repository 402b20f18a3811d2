import {
  type Call,
  createClassifier,
  type Engine,
  observe,
  serve,
  type Teller,
  toFacts,
  type Would,
} from '../engine/index.js';
import type { Outbox } from '../outbox/index.js';
import { groupOf, skipReason } from '../policy/eligibility.js';
import type { RequestFacts } from '../policy/index.js';
import { overridden } from '../policy/override.js';
import { MAX_TOTAL_MS, type RetryPolicy } from '../policy/policy.js';
import { parseOverride } from '../protocol/index.js';
import type { IsRaced } from './browser-routing.js';
import type { Calls } from './calls.js';
import type { CspGuard } from './csp.js';
import { endsAtOnce } from './ends-at-once.js';
import type { OfflinePage } from './offline-page.js';
import type { Pulse } from './pulse.js';
import type { FindPlan, Plan } from './routes.js';
import type { Secret } from './secret.js';
import { streamsLast } from './streams-last.js';

/** How long a worker that another replaces is kept, so that its last answer has time to arrive. */
const LINGER_MS = 100;

/** Finds out how a request is answered, to be done by calling it; `undefined` leaves the request alone. */
export type Intercept = (request: Request, event?: FetchEvent) => (() => Promise<Response>) | undefined;

/** What a request is decided by. */
export interface Surroundings {
  readonly scope: ServiceWorkerGlobalScope;
  readonly engine: Engine;
  readonly findPlan: FindPlan;
  readonly calls: Calls;
  readonly secret: Secret;
  readonly pulse: Pulse;
  readonly csp: CspGuard;
  readonly teller: Teller;
  readonly isRaced: IsRaced;
  readonly offlinePage: OfflinePage | undefined;
  /** Where there is a route with one. */
  readonly outbox: Outbox | undefined;
  /** Are requests of this page left alone, whatever they are? */
  readonly isOff: (clientId: string) => boolean;
  /** Are all requests left alone? Known at once in a worker that has run for a moment. */
  readonly isPaused: () => boolean | Promise<boolean>;
  /** In place of retries: told what there would have been. */
  readonly onObserved: ((would: Would) => void) | undefined;
  /** Adds what else is known of a call. */
  readonly amend?: (call: Call) => Call;
  readonly onVerdict: (problem: unknown) => void;
  readonly onFault: (fault: unknown) => void;
}

export function createIntercept(around: Surroundings): Intercept {
  const { scope, engine, findPlan, calls, secret, pulse, csp, teller, isRaced, onObserved, onVerdict, onFault } =
    around;
  const { ports } = engine;
  const streams = streamsLast();
  const lingers = endsAtOnce();

  return (request, event) => {
    const url = new URL(request.url);
    const { hash } = url;
    // What is written is parsed again, which takes as long as the first time.
    if (request.url.includes('#')) url.hash = '';
    const facts = toFacts(request, url, scope.location.origin);
    // A navigation's events belong to the page that is coming, not to the one that is left.
    const clientId = (facts.navigation ? event?.resultingClientId : event?.clientId) ?? '';
    if (around.isOff(clientId) || around.isPaused() === true) return undefined;
    const found = findPlan(request, url, facts.sameOrigin);
    if (found === undefined || found.policy === false) return undefined;
    const own: RetryPolicy = found.policy;

    // Of what else than a script's own fetch a URL may come from anywhere, or be looked up by it.
    const isCall = facts.destination === '' && !facts.navigation;
    const announced = isCall ? calls.take(clientId, request.method, url.href) : undefined;
    const asked = isCall ? parseOverride(announced ?? hash) : undefined;
    if (asked?.off) return undefined;
    const trusted = asked !== undefined && secret.is(asked.nonce);
    const policyIf = (page: boolean): RetryPolicy => (asked ? overridden(own, asked, page) : own);
    const isKept = around.outbox !== undefined && !onObserved && mayBeKept(facts, found);
    const mayLeave = (policy: RetryPolicy) => !isKept && skipReason(facts, policy) !== undefined;
    if (mayLeave(policyIf(trusted !== false)) || csp.skips(request, url)) return undefined;

    return () => {
      const paused = around.isPaused();
      if (typeof paused === 'boolean') return goOn();
      // A worker that was just started has to look.
      return paused.then((isPaused) => (isPaused ? ports.fetch(request) : goOn()));
    };

    function goOn(): Promise<Response> {
      if (typeof trusted === 'boolean') return answer(policyIf(trusted));
      return trusted.then((page) => {
        try {
          const policy = policyIf(page);
          if (!mayLeave(policy)) return answer(policy);
        } catch (fault) {
          onFault(fault);
        }
        return ports.fetch(request);
      });
    }

    /** Throws at once if our own machinery fails, before anything is sent; what it returns rejects with the network's error. */
    function answer(policy: RetryPolicy): Promise<Response> {
      const group = found?.group ?? groupOf(facts);
      const first = facts.navigation ? preload(event) : undefined;
      const { abortId } = asked ?? {};
      // That of a page's request never fires in a worker, so the page says so itself.
      const signal = event === undefined ? request.signal : abortId && calls.signalOf(clientId, abortId);
      const startedAt = ports.now();
      const offlinePage = around.offlinePage?.fits(facts) ? around.offlinePage : undefined;
      const known: Call = {
        request,
        facts,
        policy,
        group,
        classify: found?.classify && createClassifier(found.classify, found.classifyBody, ports, onVerdict),
        signal: signal || undefined,
        mayAsk: (origin: string) => !csp.skips(request, new URL(origin + url.pathname)),
        ceilingMs: policy.totalMs > MAX_TOTAL_MS ? () => pulse.ceilingMs(clientId, ports.now() - startedAt) : undefined,
        // Never of a navigation: its page is not there before it is answered, and asking for it would never end.
        isGone: clientId === '' || facts.navigation ? undefined : async () => !(await scope.clients.get(clientId)),
        waitsOffline: !offlinePage,
        tell: teller.about(facts, group, clientId),
        // Whoever fetches in the worker itself sees it stop.
        streams: streams || event === undefined,
        keepAlive: (work: Promise<unknown>) => event?.waitUntil(work),
        first,
      };
      const call = around.amend?.(known) ?? known;
      if (isKept && around.outbox && found?.outbox) return settled(around.outbox.answer(call, found.outbox), abortId);
      if (onObserved) return settled(observe(call, engine, onObserved));
      const racing = event !== undefined && request.method === 'GET' && isRaced(found?.race);
      const go = (raced: boolean) => {
        const served = serve(raced ? { ...call, raced } : call, engine, onFault);
        return settled(offlinePage ? offlinePage.insteadOf(served) : served, abortId);
      };
      return typeof racing === 'boolean' ? go(racing) : racing.then(go);
    }

    async function settled(answered: Promise<Response>, abortId?: string): Promise<Response> {
      try {
        return csp.settle(await answered, event?.request);
      } finally {
        if (abortId !== undefined) calls.end(clientId, abortId);
        if (lingers) linger();
      }
    }

    function linger(): void {
      try {
        if (scope.registration.waiting) event?.waitUntil(ports.sleep(LINGER_MS).done);
      } catch (fault) {
        onFault(fault);
      }
    }
  };
}

/** May this request go through an outbox? A form only where the browser has somewhere to go meanwhile. */
const mayBeKept = ({ method, navigation, sameOrigin, protocol, cache }: RequestFacts, { outbox }: Plan): boolean =>
  outbox?.methods.includes(method) === true &&
  /^https?:$/.test(protocol) &&
  cache !== 'only-if-cached' &&
  (!navigation || (sameOrigin && outbox.page !== undefined));

/** The answer that the browser asked for while the worker started; has to be awaited even if it is not used. */
export function preload(event: FetchEvent | undefined): Promise<Response | undefined> | undefined {
  return event?.preloadResponse as Promise<Response | undefined> | undefined;
}
