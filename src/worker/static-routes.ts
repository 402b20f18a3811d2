import type { Route } from './options.js';
import { asWritten, isPrefix } from './routes.js';

/** A route that the browser follows by itself, as plain data. */
export interface StaticRoute {
  readonly source: 'network' | 'race-network-and-fetch-handler';
  /** What the route was given to match. */
  readonly match: string;
  readonly pattern: URLPatternInit;
  /** Absent: whatever the method. */
  readonly method?: string;
}

/**
 * The routes that a browser can follow without asking the worker: `retry: false` and `raceNetwork`. Only where a text
 * says what they match, and only if no earlier route, which the browser does not know, could match the same request.
 */
export function toStaticRoutes(routes: readonly Route[], ownOrigin: string): readonly StaticRoute[] {
  const found: StaticRoute[] = [];
  const unknown: Reach[] = [];
  for (const { match, methods, retry, raceNetwork } of routes) {
    const own = typeof match === 'string' && match.startsWith('/');
    const prefix = typeof match === 'string' ? (own ? ownOrigin : '') + asWritten(match) : undefined;
    const reach = { prefix, methods: raceNetwork ? ['GET'] : methods };
    const wanted = prefix !== undefined && (raceNetwork || retry === false);
    const pattern = wanted && !unknown.some((earlier) => overlap(earlier, reach)) && toPattern(prefix, own);
    if (pattern) {
      const source = raceNetwork ? 'race-network-and-fetch-handler' : 'network';
      const route = { source, match: match as string, pattern } as const;
      if (!reach.methods) found.push(route);
      // No page can send the forbidden ones, and the browser takes no rule for them.
      else for (const method of reach.methods) if (!FORBIDDEN.test(method)) found.push({ ...route, method });
    }
    // What is written in full stays in its place before the others.
    if (!pattern || raceNetwork) unknown.push({ prefix, methods });
  }
  return found.slice(0, MOST_ROUTES);
}

const FORBIDDEN = /^(CONNECT|TRACE|TRACK)$/;
/** Chromium takes all or none, and no more than these (measured). What is left out goes through the worker. */
const MOST_ROUTES = 255;

/** What a route may match at most; `undefined` is everything. */
interface Reach {
  readonly prefix: string | undefined;
  readonly methods: readonly string[] | undefined;
}

function overlap(one: Reach, other: Reach): boolean {
  if (one.methods && other.methods?.every((method) => !one.methods?.includes(method))) return false;
  if (one.prefix === undefined || other.prefix === undefined) return true;
  return isPrefix(one.prefix, other.prefix) || isPrefix(other.prefix, one.prefix);
}

/** Matches what `isPrefix` does; `undefined` if no pattern can. */
function toPattern(prefix: string, own: boolean): URLPatternInit | undefined {
  const { origin, protocol, hostname, port, pathname, search } = new URL(prefix);
  // A pattern cannot tell an empty query from none, nor (in Chromium) a query that begins with a second question mark.
  if (prefix !== origin + pathname + search || search.startsWith('??')) return undefined;
  // A path is looked for whoever the URL names as its user, a whole URL only without one.
  const user = own ? {} : { username: '', password: '' };
  const base = { ...user, protocol, hostname: literally(hostname), port };
  const path = literally(pathname);
  if (search) return { ...base, pathname: path, search: `${literally(search.slice(1))}*` };
  return { ...base, pathname: path + (path.endsWith('/') ? '*' : '{/*}?') };
}

/** Of the characters that mean something in a URL pattern, each as itself. */
const literally = (text: string): string => text.replace(/[+*?:{}()\\]/g, '\\$&');
