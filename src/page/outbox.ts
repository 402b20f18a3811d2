import { checkOwner, type LayerEvent, type OutboxItem, type OutboxWish } from '../protocol/index.js';

/** What waits in the worker to be delivered, as far as it belongs to the current owner. */
export interface PageOutbox {
  /** All entries, or those of one outbox; the results of the last day are among them. */
  list(outbox?: string): Promise<OutboxItem[]>;
  /** `undefined`: there is none such any more. */
  get(id: string): Promise<OutboxItem | undefined>;
  /** Resolves once the entry is delivered, has failed, or (to `undefined`) was cancelled. */
  follow(id: string): Promise<OutboxItem | undefined>;
  /** Sends an entry now, or all: what has failed has its time once more, what a server has asked for stays. */
  retry(id?: string): Promise<OutboxItem[]>;
  /** Deletes an entry. One that is being sent may still be taken by its server. */
  cancel(id: string): Promise<OutboxItem[]>;
  /** Deletes all entries of the current owner, results included: for signing out. */
  clear(outbox?: string): Promise<OutboxItem[]>;
  /**
   * Whose requests are kept and sent from now on, in all tabs, also after a restart. Entries of somebody else wait until
   * they are the owner again, or until their time is over. `false`: the worker could not be told.
   */
  setOwner(owner?: string): Promise<boolean>;
  /** How many entries wait. */
  depth(): Promise<number>;
}

/** Asks the worker; `undefined` if it does not answer. */
export type AskOutbox = (
  wish: OutboxWish,
) => Promise<{ readonly items: readonly OutboxItem[]; readonly waiting: number } | undefined>;

/** Where the browser wakes no worker by itself, an open page does. */
const POKE_MS = 10_000;

/** A page's outbox, and what keeps it going. */
export interface OutboxLine {
  readonly outbox: PageOutbox;
  /** Something waits: the worker is asked to send until nothing does. */
  keepGoing(waiting: number): void;
  hear(event: LayerEvent): void;
  stop(): void;
}

export function createPageOutbox(ask: AskOutbox): OutboxLine {
  let timer: ReturnType<typeof setInterval> | undefined;
  let stopped = false;
  /** Each is told to look again at the entry with its id. */
  const followers = new Map<() => void, string>();

  const rest = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const keepGoing = (waiting: number): void => {
    if (waiting === 0 || stopped) rest();
    else timer ??= setInterval(() => void poke(), POKE_MS);
  };
  const tell = (id?: string): void => {
    for (const [look, of] of followers) if (id === undefined || id === of) look();
  };
  /** An event may not have come, or the worker not have answered: whoever follows an entry looks again. */
  const poke = async (): Promise<void> => {
    await wish({ do: 'send' });
    tell();
  };
  const wish = async (what: OutboxWish) => {
    const answer = await ask(what);
    if (answer) keepGoing(answer.waiting);
    return answer;
  };
  const items = async (what: OutboxWish): Promise<OutboxItem[]> => [...((await wish(what))?.items ?? [])];
  /** To the worker no id means all: a slip of whoever calls is not to delete them. */
  const one = (id: string) => ({ id: String(id) });
  const get = async (id: string) => (await items({ do: 'list', ...one(id) }))[0];

  return {
    outbox: {
      list: (outbox) => items({ do: 'list', outbox }),
      get,
      async follow(id) {
        for (;;) {
          let look = (): void => {};
          const news = new Promise<void>((resolve) => {
            look = resolve;
          });
          followers.set(look, String(id));
          try {
            const answer = await wish({ do: 'list', ...one(id) });
            const item = answer?.items[0];
            const isOpen = answer === undefined || item?.state === 'waiting' || item?.state === 'sending';
            if (!isOpen || stopped) return item;
            keepGoing(1);
            await news;
          } finally {
            followers.delete(look);
          }
        }
      },
      retry: (id) => items({ do: 'retry', id }),
      cancel: (id) => items({ do: 'cancel', ...one(id) }),
      clear: (outbox) => items({ do: 'cancel', outbox }),
      setOwner: async (owner) => (await wish({ do: 'owner', owner: checkOwner(owner) })) !== undefined,
      depth: async () => (await wish({ do: 'list', id: '' }))?.waiting ?? 0,
    },
    keepGoing,
    hear(event) {
      if (event.type === 'queued') keepGoing(1);
      if (event.type === 'queue-sent' || event.type === 'queue-failed') tell(event.id);
    },
    stop() {
      stopped = true;
      rest();
      tell();
    },
  };
}
