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
  isShared: () => boolean,
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
      // What somebody else's listener may want to answer has to come to the worker.
      const ours = routes.filter(({ source }) => source !== 'network' || !isShared());
      try {
        await event.addRoutes?.(ours.map(toRule));
        taken = event.addRoutes !== undefined;
      } catch (problem) {
        taken = false;
        onProblem(problem);
      }
      // Not for the installation to wait for. An older version may go on beside this one, with routes of its own.
      if (raced.size > 0) void remember(taken);
    };
    event.waitUntil(add());
  });

  const look = async (): Promise<boolean> => {
    await notes.loaded();
    taken ??= known().includes(wanted);
    return taken;
  };
  const known = (): readonly unknown[] => {
    const noted = notes.get(key);
    return Array.isArray(noted) ? noted : [];
  };
  const remember = async (taken: boolean): Promise<void> => {
    await notes.loaded();
    const others = known().filter((text) => text !== wanted);
    notes.set(key, [...others, ...(taken ? [wanted] : [])].slice(-2).map(String));
  };
  const looked = raced.size > 0 && look();

  return (match) => match !== undefined && raced.has(match) && (taken ?? looked);
}

const toRule = ({ source, pattern, method }: StaticRoute): object => ({
  source,
  condition: { urlPattern: new URLPattern(pattern), ...(method === undefined ? {} : { requestMethod: method }) },
});
