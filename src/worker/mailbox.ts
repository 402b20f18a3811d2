import { type LayerEvent, type RequestEvent, toMessage } from '../protocol/index.js';

/** Brings events to pages. Nothing in here can fail a request: everything is sent and forgotten. */
export interface Mailbox {
  /** For the page that asked; kept for it if it is still loading. */
  post(clientId: string, event: RequestEvent): void;
  /** For every page. */
  broadcast(event: LayerEvent): void;
  /** How many events were not told because there were too many of them. */
  untold(): number;
  /** A page is listening now: what was kept for it is sent again, and what comes is not kept any more. */
  welcome(client: Client): void;
}

const KEPT_EVENTS = 50;
/** A page whose every request fails is told of so many a second. */
const MOST_A_SECOND = 20;
const MOST_TOLD = 1_000;
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
  let untold = 0;
  /** How many events each page was told since when. */
  const rates = new Map<string, { readonly since: number; readonly count: number }>();

  /** Requests whose end is still to be told, because their trouble was. */
  const told = new Set<string>();

  /** Is this one too many for this page and second? It is counted then. */
  const isTooMany = (clientId: string, { type, id }: RequestEvent): boolean => {
    const at = now();
    for (const [other, { since }] of rates) if (at - since >= 1_000 || at < since) rates.delete(other);
    const { since, count } = rates.get(clientId) ?? { since: at, count: 0 };
    rates.set(clientId, { since, count: count + 1 });
    const isLast = type === 'recovered' || type === 'gave-up';
    // Whoever was told that a request waits is told how it ended, however much else there is to tell.
    if (isLast && told.delete(id)) return false;
    if (count >= MOST_A_SECOND) {
      untold += 1;
      return true;
    }
    if (!isLast && told.size < MOST_TOLD) told.add(id);
    return false;
  };

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
      if (listening.has(clientId) && isTooMany(clientId, event)) return;
      const sentTo = async () => {
        const client = await clients.get(clientId);
        if (client) client.postMessage(message);
        else listening.delete(clientId);
      };
      sentTo().catch(onProblem);
    },
    untold: () => untold,
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
