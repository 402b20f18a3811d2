/// <reference types="vite/client" />
import { connect } from '../src/page/index.ts';
import { SteadfetchStatus } from '../src/status/index.ts';
import { byId, setText } from './dom.ts';
import { showDelivered } from './orders/delivered.ts';
import { offerInstallation } from './orders/install.ts';
import { createOutboxList } from './orders/outbox-list.ts';
import { createShop } from './orders/shop.ts';

offerInstallation(byId('install', HTMLButtonElement));
const status = byId('order-status', HTMLElement);
const retries = await connect('/sw.js');
byId('status', SteadfetchStatus).retries = retries;

const shop = createShop();
const list = createOutboxList(retries.outbox);
const look = async () => {
  // Of a server that does not answer the list stays as it was.
  await Promise.all([list.refresh(), shop.delivered().then(showDelivered, () => {})]);
};
let looking = Promise.resolve();
let asked = 0;
/** One look after the other, so that what is shown last is what was seen last; of many that wait one is made. */
const refresh = () => {
  asked += 1;
  const mine = asked;
  looking = looking.then(() => (mine === asked ? look() : undefined));
  return looking;
};
let sending = false;

byId('order', HTMLFormElement).addEventListener('submit', async (event) => {
  event.preventDefault();
  // A second click of a double one is no second order.
  if (sending) return;
  sending = true;
  const tea = byId('tea', HTMLSelectElement).value;
  const cups = byId('cups', HTMLInputElement).valueAsNumber;
  setText(status, 'Sending …');
  setText(status, await shop.order({ tea, cups }));
  sending = false;
  await refresh();
});
byId('server', HTMLFieldSetElement).addEventListener('change', async ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  await shop
    .setUp(target.value === 'up')
    .catch(() => setText(status, 'The misbehaving server does not answer. It is part of npm start.'));
});
byId('send-now', HTMLButtonElement).addEventListener('click', async () => {
  await retries.outbox.retry();
  await refresh();
});
for (const type of ['queued', 'queue-sent', 'queue-failed'] as const) retries.on(type, () => void refresh());

// Some browsers remember after a reload what was chosen, others what the page says.
for (const choice of byId('server', HTMLFieldSetElement).querySelectorAll('input'))
  choice.checked = (choice.value === 'up') === shop.isUp();
await shop.setUp(shop.isUp()).catch(() => {});
await refresh();
byId('submit', HTMLButtonElement).disabled = false;
setText(
  status,
  retries.state === 'controlled' || retries.state === 'waiting'
    ? 'Ready. Nothing that you order is lost.'
    : 'No worker answers for this page, so that what cannot be delivered is lost. Reload it, or try another browser.',
);
