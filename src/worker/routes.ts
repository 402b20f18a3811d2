import { Route as WorkboxRoute } from 'workbox-routing/Route.js';
import { Router } from 'workbox-routing/Router.js';
import type { Classify } from '../engine/index.js';
import { DEFAULTS, NAVIGATION_DEFAULTS, RetryLayerError, type RetryPolicy, resolvePolicy } from '../policy/index.js';
import { OUTBOX_METHODS, type OutboxPolicy, resolveOutbox } from '../policy/outbox.js';
import type { Candidate, Match, RetryLayerOptions, Route } from './options.js';

/** What is to be done with a request: under which policy, in which group. */
export interface Plan {
  /** `false`: leave it alone. */
  readonly policy: RetryPolicy | false;
  /** The route's own name, if it has one. */
  readonly group?: string;
  readonly classify: Classify | undefined;
  readonly classifyBody: boolean;
  /** What becomes of requests that cannot be delivered; of these methods only. */
  readonly outbox?: OutboxPolicy & { readonly methods: readonly string[] };
  /** What the route matches, if the browser is asked to race its requests. */
  readonly race?: string;
}

/** Finds the plan for a request; `undefined` if no route matches and there are no defaults. */
export type FindPlan = (request: Request, url: URL, sameOrigin: boolean) => Plan | undefined;

/**
 * Puts the routes on a router of their own, so that somebody else's Workbox in the same worker keeps its own. Workbox
 * routes by method first; as ours may match every method, a method's table is filled when it is first seen.
 */
export function compileRoutes(options: RetryLayerOptions): FindPlan {
  const compiled = (options.routes ?? []).map((route) => compile(route, options));
  const fallback = options.defaults === false ? undefined : planFor({}, options);
  const router = new Router();
  const known = new Set<string>();

  return (request, url, sameOrigin) => {
    const { method } = request;
    if (!known.has(method)) {
      known.add(method);
      for (const { route, matches, plans } of compiled) {
        if (route.methods && !route.methods.includes(method)) continue;
        // The router hands a truthy match result on as `params`, which is all we want of it: the plan.
        const match = (candidate: Candidate) => matches(candidate) && plans;
        const registered = new WorkboxRoute(match, unused);
        // Given to the constructor, a method that Workbox has no name for is refused in development builds.
        registered.method = method as 'GET';
        router.registerRoute(registered);
      }
    }
    const event = undefined as unknown as ExtendableEvent;
    const found = compiled.length > 0 ? router.findMatchingRoute({ request, url, sameOrigin, event }) : {};
    const plans = (found.params as unknown as Plans | undefined) ?? fallback;
    return plans?.[request.mode === 'navigate' ? 'navigation' : 'other'];
  };
}

/** Navigations have defaults of their own, so every route has a plan for either kind. */
export interface Plans {
  readonly navigation: Plan;
  readonly other: Plan;
}

// A route has to have a handler; ours are asked for their plan instead.
const unused = { handle: () => Promise.resolve(Response.error()) };

function compile(route: Route, options: RetryLayerOptions) {
  return { route, matches: matcher(route.match), plans: planFor(route, options) };
}

/** What a route does not say is inherited of the layer. */
export function planFor(
  { match, methods = OUTBOX_METHODS, retry = {}, name, raceNetwork, outbox, ...route }: Partial<Route>,
  { defaults = {}, ...layer }: RetryLayerOptions,
): Plans {
  const plan = (base: RetryPolicy): Plan => ({
    policy: retry !== false && resolvePolicy(retry, resolvePolicy(defaults || {}, base)),
    ...(name === undefined ? {} : { group: name }),
    classify: route.classify ?? layer.classify,
    classifyBody: route.classifyBody ?? layer.classifyBody ?? false,
    ...(outbox ? { outbox: { ...resolveOutbox(outbox), methods } } : {}),
    ...(raceNetwork ? { race: match as string } : {}),
  });
  return { navigation: plan(NAVIGATION_DEFAULTS), other: plan(DEFAULTS) };
}

function matcher(match: Match): (candidate: Candidate) => boolean {
  if (typeof match === 'function') {
    // Of its own, so that what it does to the URL is nobody else's business.
    return (candidate) => {
      const answer: unknown = match({ ...candidate, url: new URL(candidate.url) });
      // A promise is truthy: the route would match everything.
      if (answer instanceof Promise)
        throw new RetryLayerError('bad-option', 'a match function must not be async', 'match');
      return Boolean(answer);
    };
  }
  if (match instanceof RegExp) {
    // A sticky or global expression would go on from where its last match ended.
    const stateless = new RegExp(match.source, match.flags.replace(/[gy]/g, ''));
    return ({ url }) => stateless.test(url.href);
  }
  const prefix = asWritten(match);
  if (match.startsWith('/')) {
    return ({ url, sameOrigin }) => sameOrigin && isPrefix(prefix, url.pathname + url.search);
  }
  return ({ url }) => isPrefix(prefix, url.href);
}

/** A text as the browser writes it: with its dots resolved and its spaces and umlauts escaped. */
export function asWritten(match: string): string {
  const { href, pathname, search } = new URL(match, 'http://this.origin');
  // `https://a.example` is a prefix of `https://a.example.org` as a text, but not as a URL; `href` ends in a slash.
  return match.startsWith('/') ? pathname + search : href;
}

/** Is `prefix` the beginning of `whole`, up to a border between two segments? */
export function isPrefix(prefix: string, whole: string): boolean {
  if (!whole.startsWith(prefix)) return false;
  const next = whole.charAt(prefix.length);
  return next === '' || prefix.includes('?') || prefix.endsWith('/') || next === '/' || next === '?';
}
