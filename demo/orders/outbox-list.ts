import type { OutboxItem, Retries } from '../../src/page/index.ts';
import { byId, make, setText } from '../dom.ts';

/** Shows what waits in the outbox, and lets it be called off. */
export interface OutboxList {
  refresh(): Promise<void>;
}

export function createOutboxList(outbox: Retries['outbox']): OutboxList {
  const list = byId('outbox', HTMLElement);
  const empty = byId('outbox-empty', HTMLElement);
  const title = byId('outbox-title', HTMLElement);
  const sendNow = byId('send-now', HTMLButtonElement);

  async function refresh(): Promise<void> {
    const items = ((await outbox.list()) ?? []).filter(({ state }) => state !== 'sent');
    const hadFocus = list.contains(document.activeElement) ? document.activeElement?.id : undefined;
    const wasOnSendNow = document.activeElement === sendNow;
    list.replaceChildren(...items.map(entry));
    empty.hidden = items.length > 0;
    sendNow.disabled = items.length === 0;
    // Whoever is on a button keeps it, or else the place.
    if (hadFocus !== undefined) (document.getElementById(hadFocus) ?? title).focus();
    else if (wasOnSendNow && sendNow.disabled) title.focus();
    setText(empty, 'Nothing waits here.');
  }

  function entry(item: OutboxItem): HTMLElement {
    const cancel = make('button', 'quiet', 'Cancel');
    cancel.type = 'button';
    cancel.id = `cancel-${item.id}`;
    const time = new Date(item.queuedAt).toLocaleTimeString('en-GB');
    cancel.setAttribute('aria-label', `Cancel the order of ${time}`);
    cancel.addEventListener('click', async () => {
      await outbox.cancel(item.id);
      await refresh();
    });
    const what = make('span', 'what', `${item.method}, ${item.bytes} bytes, kept at ${time}`);
    return make('li', '', what, make('span', 'state', stateOf(item)), cancel);
  }

  return { refresh };
}

function stateOf({ state, sends, reason }: OutboxItem): string {
  if (reason !== undefined) return `set aside: ${reason}`;
  const often = sends === 1 ? 'sent once' : `sent ${sends} times`;
  return sends === 0 ? state : `${state}, ${often}`;
}
