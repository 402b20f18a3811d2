import { type LayerEvent, type RequestEvent, toMessage } from '../protocol/index.js';

/** Brings events to pages. Nothing in here can fail a request: everything is sent and forgotten. */
export interface Mailbox {
  /** For the page that asked; kept for it if it is still loading. */
  post(clientId: string, event: RequestEvent): void;
  /** For every page. */
  broadcast(event: LayerEvent): void;
  /** A page is listening now: what was kept for it is sent again, and what comes is not kept any more. */
  welcome(client: Client): void;
}

const KEPT_EVENTS = 50;
const KEPT_MS = 60_000;

interface Kept {
  readonly at: number;
  readonly message: object;
}

export function createMailbox(clients: Clients, now: () => number, onProblem: (problem: unknown) => void): Mailbox {
  const listening = new Set<string>();
  const kept = new Map<string, Kept[]>();
  // Tells one run of the worker from the next, so that no two events ever have the same number.
  const run = now().toString(36);
  let sent = 0;

  const toEvent = (event: LayerEvent) => toMessage({ kind: 'event', seq: `${run}-${++sent}`, event });

  const isRecent = (letter: Kept): boolean => now() - letter.at < KEPT_MS;

  const send = (client: Client, message: object): void => {
    try {
      client.postMessage(message);
    } catch (problem) {
      // A page that is going away is no reason not to tell the next.
      onProblem(problem);
    }
  };

  const keep = (clientId: string, message: object): void => {
    const at = now();
    for (const [id, letters] of kept) {
      const recent = letters.filter(isRecent);
      if (recent.length > 0) kept.set(id, recent);
      else kept.delete(id);
    }
    kept.set(clientId, [...(kept.get(clientId) ?? []), { at, message }].slice(-KEPT_EVENTS));
  };

  return {
    post(clientId, event) {
      if (clientId === '') return;
      const message = toEvent(event);
      if (!listening.has(clientId)) keep(clientId, message);
      const sentTo = async () => {
        const client = await clients.get(clientId);
        if (client) client.postMessage(message);
        else listening.delete(clientId);
      };
      sentTo().catch(onProblem);
    },
    broadcast(event) {
      const message = toEvent(event);
      const sentToAll = async () => {
        for (const client of await clients.matchAll({ includeUncontrolled: true })) send(client, message);
      };
      sentToAll().catch(onProblem);
    },
    welcome(client) {
      listening.add(client.id);
      for (const { message } of (kept.get(client.id) ?? []).filter(isRecent)) send(client, message);
      kept.delete(client.id);
    },
  };
}
