import { QueryClient, QueryObserver } from '@tanstack/query-core';
import { connect } from 'steadfetch';

const { state } = await connect('/sw.js');

// The worker has retried already: with the default of three more, 4 attempts would be 16.
const client = new QueryClient({ defaultOptions: { queries: { retry: false }, mutations: { retry: false } } });

const [worker, button, orders] = ['worker', 'load', 'orders'].map((id) => document.getElementById(id) as HTMLElement);
worker.textContent = state;
button.removeAttribute('disabled');
button.addEventListener('click', () => {
  const query = new QueryObserver(client, {
    queryKey: ['orders'],
    async queryFn() {
      const response = await fetch('/api/orders');
      if (!response.ok) throw new Error(String(response.status));
      return `${response.status} ${await response.text()}`;
    },
  });
  query.subscribe(({ isPending, data, error, failureCount }) => {
    if (!isPending) orders.textContent = data ?? `error ${error?.message}, failures: ${failureCount}`;
  });
});
