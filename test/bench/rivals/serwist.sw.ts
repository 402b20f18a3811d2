import { NetworkOnly, Serwist } from 'serwist';

const serwist = new Serwist({
  clientsClaim: true,
  runtimeCaching: (['GET', 'PUT'] as const).map((method) => ({
    matcher: () => true,
    handler: new NetworkOnly(),
    method,
  })),
});
serwist.addEventListeners();
