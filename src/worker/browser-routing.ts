import type { Notes } from './notes.js';
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
  notes: Notes,
  onProblem: (problem: unknown) => void,
): IsRaced {
  if (routes.length === 0) return () => false;
  const raced = new Set(routes.flatMap(({ source, match }) => (source === 'network' ? [] : match)));
  const wanted = JSON.stringify(routes);
  const key = `static-routes ${scope.registration.scope}`;
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
      if (raced.size > 0) notes.set(key, taken ? wanted : '');
    };
    event.waitUntil(add());
  });

  const look = async (): Promise<boolean> => {
    await notes.loaded();
    taken ??= notes.get(key) === wanted;
    return taken;
  };
  const looked = raced.size > 0 && look();

  return (match) => match !== undefined && raced.has(match) && (taken ?? looked);
}

const toRule = ({ source, pattern, method }: StaticRoute): object => ({
  source,
  condition: { urlPattern: new URLPattern(pattern), ...(method === undefined ? {} : { requestMethod: method }) },
});
