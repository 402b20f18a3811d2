import { connect } from 'steadfetch';
import { createRetryFetch } from 'steadfetch/fetch';

const { state } = await connect('/sw.js');
// In an app: `if (import.meta.env.DEV)`.
if (location.search.includes('mocked')) await (await import('./mocks.ts')).startMocks();

// What MSW answers no worker retries. To see an app's retries against mocks, retry in the page.
const get = location.search.includes('in-page') ? createRetryFetch() : fetch;

const [worker, button, orders] = ['worker', 'load', 'orders'].map((id) => document.getElementById(id) as HTMLElement);
worker.textContent = state;
button.removeAttribute('disabled');
button.addEventListener('click', async () => {
  const response = await get(location.search.includes('shaky') ? '/api/shaky' : '/api/orders');
  orders.textContent = `${response.status} ${await response.text()}`;
});
