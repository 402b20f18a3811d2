/**
 * Is there another `fetch` listener in this worker? What this layer leaves alone is that one's then, and its routes may
 * look at a whole URL. Listeners are added while the script is first run, so only what is added then is seen, and only
 * after this was called.
 */
export function watchNeighbours(scope: ServiceWorkerGlobalScope): () => boolean {
  let seen = false;
  const { addEventListener } = scope;
  scope.addEventListener = function add(this: unknown, ...given: Parameters<typeof addEventListener>) {
    seen ||= given[0] === 'fetch';
    addEventListener.apply(scope, given);
  } as typeof addEventListener;
  // As soon as the script has run: nothing of it is left behind.
  queueMicrotask(() => {
    scope.addEventListener = addEventListener;
  });
  return () => seen || scope.onfetch != null;
}
