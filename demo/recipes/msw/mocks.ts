import { HttpResponse, http } from 'msw';
import { setupWorker } from 'msw/browser';

let asked = 0;

const worker = setupWorker(
  http.get('/api/orders', () => HttpResponse.text('mocked tea')),
  // Fails twice, as the real one may.
  http.get('/api/shaky', () => {
    asked += 1;
    return asked < 3 ? new HttpResponse(null, { status: 503 }) : HttpResponse.text(`mocked tea at attempt ${asked}`);
  }),
);

/** The worker that answers for MSW is ours. */
export const startMocks = () =>
  worker.start({ serviceWorker: { url: '/sw.js' }, onUnhandledRequest: 'bypass', quiet: true });
