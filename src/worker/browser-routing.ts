import { type IDBPDatabase, openDB } from 'idb';
import type { Ports } from '../engine/index.js';
import type { StaticRoute } from './static-routes.js';

/** Chromium 123, Safari 27; TypeScript does not know it yet. */
interface InstallEvent extends ExtendableEvent {
  addRoutes?(rules: readonly object[]): Promise<void>;
}

/** Does the browser race requests of a route with this match? A worker that was just started has to look that up. */
export type IsRaced = (match: string | undefined) => boolean | Promise<boolean>;

/**
 * Hands the routes to the browser when the worker is installed, which it never fails. A worker that is started later
 * cannot ask which rules it has, so it is noted whether they were taken: a browser may have learnt of static routes
 * since, and what it does not race has to keep to holds. For the same reason what cannot be found out is `false`.
 */
export function routeInBrowser(
  scope: ServiceWorkerGlobalScope,
  routes: readonly StaticRoute[],
  sleep: Ports['sleep'],
  onProblem: (problem: unknown) => void,
): IsRaced {
  if (routes.length === 0) return () => false;
  const raced = new Set(routes.flatMap(({ source, match }) => (source === 'network' ? [] : match)));
  const wanted = JSON.stringify(routes);
  let taken: boolean | undefined;

  scope.addEventListener('install', (event: InstallEvent) => {
    const add = async (): Promise<void> => {
      try {
        await event.addRoutes?.(routes.map(toRule));
        taken = event.addRoutes !== undefined;
      } catch (problem) {
        taken = false;
        onProblem(problem);
      }
      // Not for the installation to wait for.
      if (raced.size > 0) void note((db) => db.put(STORE, taken ? wanted : '', scope.registration.scope));
    };
    event.waitUntil(add());
  });

  const looked =
    raced.size > 0 &&
    Promise.race([note((db) => db.get(STORE, scope.registration.scope)), sleep(LOOK_MS).done]).then(
      (noted) => (taken ??= noted === wanted),
    );

  return (match) => match !== undefined && raced.has(match) && (taken ?? looked);
}

/** How long the first requests of a worker wait for it. If they are raced, the browser has sent them meanwhile. */
const LOOK_MS = 100;

const toRule = ({ source, pattern, method }: StaticRoute): object => ({
  source,
  condition: { urlPattern: new URLPattern(pattern), ...(method === undefined ? {} : { requestMethod: method }) },
});

/** What each worker's browser has taken, by scope. Not in the database of the records: a note is not one of them. */
const STORE = 'static-routes';

/** Without a database nothing is known, and so nothing is taken for raced. */
async function note<T>(work: (db: IDBPDatabase) => Promise<T>): Promise<T | undefined> {
  try {
    const db = await openDB('steadfetch-routes', 1, { upgrade: (db) => void db.createObjectStore(STORE) });
    return await work(db).finally(() => db.close());
  } catch {
    return undefined;
  }
}
