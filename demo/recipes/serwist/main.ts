import { connect } from 'steadfetch';

const { state } = await connect('/sw.js');

const [worker, button, orders] = ['worker', 'load', 'orders'].map((id) => document.getElementById(id) as HTMLElement);
worker.textContent = state;
button.removeAttribute('disabled');
button.addEventListener('click', async () => {
  const response = await fetch('/api/orders');
  orders.textContent = `${response.status} ${await response.text()}`;
});
