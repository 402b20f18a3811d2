import type { OriginStore, Ports } from '../engine/index.js';
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
  store: OriginStore,
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
      if (raced.size > 0) save({ routesOf: scope.registration.scope, taken: taken ? wanted : '' });
    };
    event.waitUntil(add());
  });

  const save = (note: Note): void => {
    store.update(new Map([[`static-routes ${note.routesOf}`, () => note]])).catch(() => {});
  };

  const look = async (): Promise<boolean> => {
    // Without a store nothing is known, and so nothing is taken for raced.
    const values = await Promise.race([store.load().catch(() => []), sleep(LOOK_MS).done]);
    const note = (values || []).find((value) => isNoteOf(scope.registration.scope, value)) as Note | undefined;
    taken ??= note?.taken === wanted;
    return taken;
  };
  const looked = raced.size > 0 && look();

  return (match) => match !== undefined && raced.has(match) && (taken ?? looked);
}

/** How long the first requests of a worker wait for it. If they are raced, the browser has sent them meanwhile. */
const LOOK_MS = 100;

const toRule = ({ source, pattern, method }: StaticRoute): object => ({
  source,
  condition: { urlPattern: new URLPattern(pattern), ...(method === undefined ? {} : { requestMethod: method }) },
});

/** What a scope's browser has taken; kept beside the records. */
interface Note {
  readonly routesOf: string;
  /** The routes as text; empty: none were taken. */
  readonly taken: string;
}

const isNoteOf = (scope: string, value: unknown): value is Note =>
  (Object(value) as Partial<Note>).routesOf === scope && typeof (value as Note).taken === 'string';
