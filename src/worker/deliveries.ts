import type { Outbox } from '../outbox/index.js';

/** Starts the sending of the outbox whenever something happens in this worker, and asks the browser to see to that. */
export interface Deliveries {
  /** Something waits: where the browser can, it wakes the worker once it is online. */
  register(): Promise<void>;
  /** Sends what is due; `hurry`: what waits for a time of our own choice as well. An event is kept alive meanwhile. */
  send(event?: ExtendableEvent, hurry?: boolean): void;
  /** An event keeps the worker alive: what is due is sent meanwhile. */
  use(event: ExtendableEvent): void;
  listen(): void;
}

/** Chromium only, and not in TypeScript's library. */
interface SyncEvent extends ExtendableEvent {
  readonly tag: string;
  /** The browser will not try again by itself. */
  readonly lastChance: boolean;
}
type WithSync = ServiceWorkerRegistration & { sync?: { register(tag: string): Promise<void> } };

const TAG = 'steadfetch-outbox';

export function createDeliveries(
  scope: ServiceWorkerGlobalScope,
  outbox: Outbox,
  onFault: (fault: unknown) => void,
): Deliveries {
  const register = async (): Promise<void> => {
    // Refused where there is no page to ask for it, or the user does not want it: then other events have to do.
    await (scope.registration as WithSync).sync?.register(TAG).catch(() => {});
  };

  const send = (event?: ExtendableEvent, hurry = false): void => {
    const sent = outbox.send(hurry).then(() => {}, onFault);
    event?.waitUntil(sent);
  };

  async function onSync({ lastChance }: SyncEvent): Promise<void> {
    const left = await outbox.send();
    if (left === 0) return;
    // Chromium tries three times within 20 minutes, and forgets it then; who asks anew has three more.
    if (lastChance) await register();
    else throw new DOMException(`${left} entries of the outbox are left`, 'InvalidStateError');
  }

  const use = (event: ExtendableEvent): void => {
    const due = outbox.isDue();
    if (due === true) send(event);
    // A worker that was just started has to look.
    else if (due !== false)
      event.waitUntil(due.then((isDue) => (isDue ? outbox.send().then(() => {}, onFault) : undefined)));
  };

  return {
    register,
    send,
    use,
    listen() {
      scope.addEventListener('sync' as 'fetch', (event) => {
        const sync = event as unknown as SyncEvent;
        if (sync.tag === TAG) sync.waitUntil(onSync(sync));
      });
      scope.addEventListener('activate', use);
      scope.addEventListener('message', use);
    },
  };
}
