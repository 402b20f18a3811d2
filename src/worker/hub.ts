import {
  createEngine,
  createGossip,
  createGuardNotices,
  createOriginBook,
  createOriginStore,
  createTeller,
  createWarner,
  type Engine,
  type GuardListener,
  platformPorts,
  type Teller,
  type Warner,
} from '../engine/index.js';
import { CIRCUIT_DEFAULTS, resolveBudget } from '../policy/index.js';
import { type LayerStatus, VERSION } from '../protocol/index.js';
import { type Calls, createCalls } from './calls.js';
import { type CspGuard, createCspGuard } from './csp.js';
import type { Wish } from './inbox.js';
import { createMailbox, type Mailbox } from './mailbox.js';
import { createNotes, type Notes } from './notes.js';
import type { RetryLayerOptions } from './options.js';
import { createPulse, type Pulse } from './pulse.js';
import { createSecret, type Secret } from './secret.js';

/** The one engine of a worker, with all that it shares with other workers and with pages. */
export interface Hub {
  readonly engine: Engine;
  readonly teller: Teller;
  readonly mailbox: Mailbox;
  readonly notes: Notes;
  readonly secret: Secret;
  readonly csp: CspGuard;
  readonly calls: Calls;
  readonly pulse: Pulse;
  readonly warn: Warner;
  readonly onFault: (fault: unknown) => void;
  readonly onVerdict: (problem: unknown) => void;
  /** Are all requests left alone? Known at once in a worker that has run for a moment. */
  readonly isPaused: () => boolean | Promise<boolean>;
  readonly isRetired: () => boolean;
  readonly status: () => LayerStatus;
  readonly online: () => void;
  /** A browser gives a registration that is made again the worker that was to go. */
  readonly revive: () => void;
  readonly carryOut: (wish: Wish, clientId: string) => unknown;
}

/** Reads the state from IndexedDB at once. */
export function createHub(
  scope: ServiceWorkerGlobalScope,
  options: Pick<RetryLayerOptions, 'budget' | 'circuit' | 'onEvent'>,
): Hub {
  const guards = {
    budget: resolveBudget(options.budget),
    circuit: { ...CIRCUIT_DEFAULTS, ...options.circuit },
  };
  const warn = createWarner();
  const store = createOriginStore();
  const csp = createCspGuard(scope, store, platformPorts, warn);
  const notes = createNotes(csp.store, platformPorts.sleep);
  const secret = createSecret(notes, scope.registration.scope);
  const ports = { ...platformPorts, fetch: csp.fetch };
  const calls = createCalls(ports.now);
  const pulse = createPulse(ports.now);
  const mailbox = createMailbox(scope.clients, ports.now, (problem) => warn('an event could not be sent', problem));
  const teller = createTeller(mailbox, ports.now, options.onEvent, (problem) =>
    warn('an event could not be told, or onEvent threw', problem),
  );
  const notice: GuardListener = createGuardNotices(ports, (record) => book.look(record), teller.notice);
  const engine = createEngine({
    ports,
    guards,
    createBook: (onGuard) =>
      createOriginBook(
        notes.store,
        ports,
        guards,
        (problem) => warn('the database cannot be used, so retry budgets last only as long as this worker', problem),
        onGuard,
      ),
    onGuard(change) {
      notice(change);
      if (change.by === 'us') gossip.tell({ kind: 'guards', record: change.after });
    },
    onSuccess: ({ origin, group }) => gossip.tell({ kind: 'success', origin, group }),
  });
  const { book, parking } = engine;
  const gossip = createGossip(
    {
      guards: ({ record }) => book.merge(record),
      success: parking.release,
      'retry-now': ({ origin }) => engine.retryNow(origin),
      pause: () => notes.set(PAUSED, true),
      resume: () => notes.set(PAUSED, undefined),
      reset: ({ origin }) => void book.reset(origin),
    },
    (problem) => warn('other workers cannot be told', problem),
  );
  let retired = false;

  function online(): void {
    engine.device.changed(ports.now());
    engine.retryNow();
  }

  async function retire(): Promise<void> {
    retired = true;
    gossip.close();
    await scope.registration.unregister();
    await store.destroy();
  }

  return {
    engine,
    teller,
    mailbox,
    notes,
    secret,
    csp,
    calls,
    pulse,
    warn,
    onFault: (fault) => warn('a request was answered without retries because of a fault', fault),
    onVerdict: (problem) => warn('classify threw or gave no verdict, so the rules decided', problem),
    isPaused() {
      if (notes.isLoaded()) return notes.get(PAUSED) === true;
      const limit = ports.sleep(PAUSED_MS);
      return Promise.race([notes.loaded().finally(limit.cancel), limit.done]).then(() => notes.get(PAUSED) === true);
    },
    isRetired: () => retired,
    status: () => ({
      version: VERSION,
      counters: teller.counters(),
      paused: notes.get(PAUSED) === true,
      ...book.status(parking.count),
    }),
    online,
    revive() {
      if (!retired) return;
      retired = false;
      store.revive();
      gossip.open();
    },
    carryOut(wish, clientId) {
      switch (wish.kind) {
        case 'beat':
          return pulse.beat(clientId);
        case 'online':
          return online();
        case 'retry-now':
          gossip.tell(wish);
          return engine.retryNow(wish.origin);
        case 'abort':
          return calls.abort(clientId, wish.id);
        case 'call':
          return calls.announce(clientId, wish);
        case 'withdraw':
          return calls.withdraw(clientId, wish.id);
        case 'pause':
        case 'resume':
          gossip.tell(wish);
          return notes.set(PAUSED, wish.kind === 'pause' ? true : undefined);
        case 'reset':
          gossip.tell(wish);
          return book.reset(wish.origin);
        case 'retire':
          return retire();
      }
    },
  };
}

/** Kept: whoever has paused retries does not expect the next worker to go on. */
export const PAUSED = 'paused';
/** A worker that was just started waits as long as this to learn whether it is; its records are waited for as long. */
const PAUSED_MS = 20;
