import axios, { isAxiosError } from 'axios';
import { connect } from 'steadfetch';

const { state } = await connect('/sw.js');

const [worker, button, orders] = ['worker', 'load', 'orders'].map((id) => document.getElementById(id) as HTMLElement);
worker.textContent = state;
button.removeAttribute('disabled');
button.addEventListener('click', async () => {
  try {
    // In a page axios asks by XMLHttpRequest, which the worker sees as any other request. No axios-retry.
    const { status, data } = await axios.get<string>('/api/orders', { responseType: 'text' });
    orders.textContent = `${status} ${data}`;
  } catch (error) {
    orders.textContent = `error ${isAxiosError(error) ? error.response?.status : error}`;
  }
});
