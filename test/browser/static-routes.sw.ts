/// <reference lib="WebWorker" />
import { constant, createRetryLayer } from '../../src/worker/index.ts';

declare const self: ServiceWorkerGlobalScope;

// What is raced and what is left alone is told in the worker's URL, and so is what its browser does with static routes.
const told = new URLSearchParams(location.search);
type Install = { prototype: { addRoutes?: () => Promise<void> } };
// TypeScript does not know it yet; where there are no static routes, there is no event of its own for installing.
const { InstallEvent: { prototype } = ExtendableEvent as unknown as Install } = self as unknown as {
  InstallEvent?: Install;
};
if (told.has('without')) delete prototype.addRoutes;
if (told.has('refused')) prototype.addRoutes = () => Promise.reject(new TypeError('Too many router rules.'));

const asked: string[] = [];
self.addEventListener('fetch', ({ request }) => asked.push(new URL(request.url).pathname));
self.addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'asked') port?.postMessage(asked);
});

createRetryLayer({
  routes: [
    ...told.getAll('off').map((match) => ({ match, retry: false as const })),
    ...told.getAll('race').map((match) => ({ match, raceNetwork: true })),
  ],
  defaults: { backoff: constant(20) },
  navigationPreload: told.has('preload'),
}).listen();
