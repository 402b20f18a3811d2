import { type Call, type Engine, within } from '../engine/index.js';
import { fullBy, type OutboxPolicy } from '../policy/outbox.js';
import { hastened, isPending, type OutboxEntry } from '../policy/outbox-entry.js';
import { type OutboxItem, type OutboxNotice, type OutboxWish, toItem, withoutQuery } from '../protocol/index.js';
import type { Prepare } from './deliver.js';
import { drain, hasWork, nextAt } from './drain.js';
import { takeIn } from './intake.js';
import type { Numbered, OutboxStore } from './outbox-store.js';

/** Keeps what cannot be delivered, and delivers it later. */
export interface Outbox {
  /** Answers a request of a route with an outbox. */
  answer(call: Call, policy: OutboxPolicy): Promise<Response>;
  /**
   * Sends what may be sent now, and resolves to how many entries of this owner are left. `hurry` ends the waits that no
   * server has asked for. Of calls while it sends all get the same.
   */
  send(hurry?: boolean): Promise<number>;
  /** Is there anything to be sent now, as far as is known without looking? A worker that was just started has to look. */
  isDue(): boolean | Promise<boolean>;
  /** How many entries of this owner wait. */
  waiting(): Promise<number>;
  /** What a page or the worker wants; resolves to the entries it was about. */
  carryOut(wish: OutboxWish): Promise<OutboxItem[]>;
  /** Deletes everything. */
  destroy(): Promise<void>;
  revive(): void;
}

export interface OutboxParts {
  readonly store: OutboxStore;
  readonly engine: Engine;
  /** This one. */
  readonly origin: string;
  readonly prepare: Prepare | undefined;
  readonly locks: LockManager | undefined;
  readonly isPaused: () => boolean;
  readonly tell: (notice: OutboxNotice) => void;
  /** Something waits from now on. */
  readonly onQueued: () => void;
  readonly onFault: (fault: unknown) => void;
}

/** Whoever holds it sends, and nobody else does. It goes with its holder, when a worker is stopped. */
const LOCK = 'steadfetch-outbox';
/** A page is not kept waiting for longer by a database that does not answer. */
const STORE_MS = 3_000;
/** A page that says hello waits no longer to be told how many entries there are. */
const WAITING_MS = 500;
/** Browsers stop an event that takes minutes: Chromium's `sync` may take three. */
const PASS_MS = 100_000;
/** What may go within this time is waited for, instead of leaving it to the next event. */
const NAP_MS = 10_000;
const MIN_NAP_MS = 250;
/** A pause, and a device that goes offline, are noticed within this time: nobody tells of them. */
const NAP_STEP_MS = 500;
/** A request of a worker that was just started waits no longer to learn whether others have to go first. */
const FOLLOWS_MS = 200;

export function createOutbox(parts: OutboxParts): Outbox {
  const { store, engine, origin, locks, isPaused, tell, onQueued, onFault } = parts;
  const { ports, book } = engine;
  /** What was last read of the store: others write there as well. */
  let known: readonly Numbered[] = [];
  let owner: string | undefined;
  let sending: Promise<number> | undefined;
  /** Asked for while others are being sent. */
  let again = false;
  let hurried = false;
  /** Ends a nap. */
  let wake = (): void => {};
  let destroyed = false;

  /** Read anew with the entries: another worker of this origin may have been told of another. */
  const look = async (): Promise<readonly Numbered[]> => {
    // Each at once: by the time that both are here, something may have been added, or the owner be another.
    const entries = store.all().then((stored) => {
      known = stored;
    });
    const reading = store.owner().then((stored) => {
      owner = stored;
    });
    await Promise.all([entries, reading]);
    return known;
  };
  let isLoaded = false;
  let loading: Promise<void> | undefined;
  /** Nothing is kept or sent before it is known whose. Rejects while that cannot be found out. */
  const load = (): Promise<void> => {
    loading ??= look()
      .then(() => {
        isLoaded = true;
      })
      .finally(() => {
        loading = undefined;
      });
    return within(loading, STORE_MS, ports);
  };
  load().catch(onFault);

  const mine = (entries: readonly Numbered[]) => entries.filter(({ entry }) => entry.owner === owner);
  const pending = () =>
    mine(known)
      .map(({ entry }) => entry)
      .filter(isPending);

  const about = ({ id, outbox, request }: Pick<OutboxEntry, 'id' | 'outbox' | 'request'>) => {
    const { method, url } = request;
    return { at: ports.now(), id, outbox, method, url: withoutQuery(url) };
  };

  function onChange(before: OutboxEntry, after: OutboxEntry): void {
    // At once: what is asked for now goes behind what waits, and only that.
    known = known.map((one) => (one.entry.id === after.id ? { ...one, entry: after } : one));
    // Of entries of somebody who is not there nobody is told.
    if (before.state === after.state || after.owner !== owner) return;
    const { sends, status, reason } = after;
    if (after.state === 'sent') tell({ type: 'queue-sent', ...about(after), status: status ?? 0, sends });
    if (after.state !== 'failed' || reason === undefined) return;
    tell({ type: 'queue-failed', ...about(after), reason, sends, ...(status === undefined ? {} : { status }) });
  }

  function send(hurry = false): Promise<number> {
    again = true;
    hurried ||= hurry;
    wake();
    sending ??= passes();
    return sending;
  }

  async function passes(): Promise<number> {
    const endAt = ports.now() + PASS_MS;
    const isOver = () => destroyed || isPaused() || !ports.isOnline() || ports.now() > endAt;
    try {
      if (!isLoaded) await load();
      await book.loading();
      const pass = async (): Promise<boolean> => {
        // The lock may have been waited for.
        if (isOver()) return false;
        const hurry = hurried;
        // What was added until now is seen by this pass.
        [again, hurried] = [false, false];
        const whoIsThere = store.owner;
        const around = { ...parts, owner: () => owner, whoIsThere, alone: locks !== undefined, isOver, onChange };
        return drain(around, await look(), hurry);
      };
      for (;;) {
        const goesOn = !isOver() && (await (locks ? locks.request(LOCK, pass) : pass()));
        if (!destroyed) await look();
        const waitMs = again ? 0 : untilNext();
        if (!goesOn || isOver() || waitMs > NAP_MS || ports.now() + waitMs > endAt) return pending().length;
        await nap(waitMs, isOver);
      }
    } finally {
      // With the last look at `again`: nobody is to be told of a sending that sees nothing new.
      sending = undefined;
    }
  }

  const untilNext = (): number => Math.max(MIN_NAP_MS, nextAt(pending(), owner, engine) - ports.now());

  /** Waits for what is about to be due. */
  async function nap(waitMs: number, isOver: () => boolean): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let leftMs = waitMs;
    while (leftMs > 0 && !again && !isOver()) {
      const stepMs = Math.min(leftMs, NAP_STEP_MS);
      const step = ports.sleep(stepMs);
      await Promise.race([step.done, woken]);
      step.cancel();
      // Something may have come that is due earlier.
      leftMs = Math.min(leftMs - stepMs, nextAt(pending(), owner, engine) - ports.now());
    }
  }

  async function keep(entry: OutboxEntry, body: ArrayBuffer, policy: OutboxPolicy): Promise<void> {
    let late = false;
    const isLate = () => late || destroyed;
    const refuses = (others: readonly OutboxEntry[]) => fullBy(policy, body.byteLength, others);
    try {
      await within(store.add(entry, body, refuses, isLate), STORE_MS, ports);
    } finally {
      late = true;
    }
    known = [...known, { seq: Number.POSITIVE_INFINITY, entry }];
    tell({ type: 'queued', ...about(entry) });
    onQueued();
  }

  async function change(wish: OutboxWish): Promise<OutboxItem[]> {
    const items: OutboxItem[] = [];
    for (const { seq, entry } of await find(wish)) {
      const now = ports.now();
      let before = entry;
      const after = await store.change(seq, (left) => {
        before = left;
        return wish.do === 'retry' ? hastened(left, now) : undefined;
      });
      items.push(toItem(after ?? before));
      if (after === undefined && isPending(before)) {
        tell({ type: 'queue-failed', ...about(before), reason: 'cancelled', sends: before.sends });
      }
    }
    await look();
    return items;
  }

  const find = async ({ id, outbox }: OutboxWish): Promise<readonly Numbered[]> =>
    mine(await look()).filter(
      ({ entry }) => (id === undefined || entry.id === id) && (outbox === undefined || entry.outbox === outbox),
    );

  return {
    answer: (call, policy) =>
      takeIn(call, policy, {
        engine,
        origin,
        keep,
        async follows(orderOf) {
          if (!isLoaded) await within(load(), FOLLOWS_MS, ports).catch(() => {});
          const follows = () => pending().some(({ order }) => order === orderOf(owner));
          if (!follows()) return false;
          // Another worker may have sent it by now.
          await within(look(), FOLLOWS_MS, ports).catch(() => {});
          return follows();
        },
        async owner() {
          if (!isLoaded) await load();
          return owner;
        },
        onNotStored(call, { name: outbox }, sends, problem) {
          onFault(problem);
          const { facts } = call;
          tell({
            type: 'queue-failed',
            at: ports.now(),
            id: '',
            outbox,
            method: facts.method,
            url: facts.url,
            reason: 'not-stored',
            sends,
          });
        },
        onFault,
      }),
    send,
    isDue() {
      return isLoaded ? isDue() : load().then(isDue, () => false);
    },
    async waiting() {
      if (!isLoaded) await within(load(), WAITING_MS, ports).catch(() => {});
      return pending().length;
    },
    async carryOut(wish) {
      if (!isLoaded) await load();
      switch (wish.do) {
        case 'owner':
          await store.setOwner(wish.owner);
          owner = wish.owner;
          return [];
        case 'send':
          return [];
        case 'list':
          return (await find(wish)).map(({ entry }) => toItem(entry));
        case 'retry':
        case 'cancel':
          return change(wish);
      }
    },
    async destroy() {
      destroyed = true;
      wake();
      known = [];
      owner = undefined;
      await store.destroy();
    },
    revive() {
      destroyed = false;
      store.revive();
    },
  };

  function isDue(): boolean {
    if (known.length === 0 || sending !== undefined || destroyed || isPaused() || !ports.isOnline()) return false;
    return hasWork(pending(), owner, engine);
  }
}
