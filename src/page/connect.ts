import { createWarner } from '../engine/warner.js';
import {
  DATABASE,
  isCompatible,
  type LayerEvent,
  type LayerStatus,
  OFFLINE_CACHE,
  OUTBOX_DATABASE,
  type PageMessage,
  REMEDY,
  VERSION,
} from '../protocol/index.js';
import { createBridge, type Line, post, type RetryFetch } from './bridge.js';
import { createHeartbeat } from './heartbeat.js';
import { createListeners, type Listener } from './listeners.js';
import { createPageOutbox, type PageOutbox } from './outbox.js';
import { ask } from './questions.js';
import { type ConnectState, register, serviceWorkers, stateOf, type WorkerUrl } from './register.js';

export interface ConnectOptions {
  /** Which URLs the worker controls. @defaultValue the directory of its script */
  readonly scope?: string;
  /** `module` for a worker script with imports that no bundler has resolved. @defaultValue 'classic' */
  readonly type?: WorkerType;
  /** Puts `retries.fetch` in the place of `window.fetch`. @defaultValue false */
  readonly patchFetch?: boolean;
  /** Keeps the worker alive while requests of this page wait in it. @defaultValue true */
  readonly heartbeat?: boolean;
}

/** A page's line to the worker. */
export interface Retries {
  /** How this page stood to the worker when `connect` resolved. */
  readonly state: ConnectState;
  /** Why the worker could not be registered, where the state is `failed` or an older worker goes on. */
  readonly error?: unknown;
  /** The worker's version, if it answered. */
  readonly workerVersion?: string;
  /** Calls `listener` for every event of this type, those of the page's own load included. Returns a function that ends it. */
  on<Type extends LayerEvent['type']>(type: Type, listener: Listener<Type>): () => void;
  /** What the worker knows and has done; `undefined` if it does not answer within 2 s or there is none. */
  status(): Promise<LayerStatus | undefined>;
  /** `fetch` that tells the worker what this call asks for, and that it was called off. */
  readonly fetch: RetryFetch;
  /** What waits in the worker to be delivered. */
  readonly outbox: PageOutbox;
  /** Ends waits that no server has asked for, of one origin or of all. These and the next: `false` if nobody has done it. */
  retryNow(origin?: string): Promise<boolean>;
  /** Leaves all requests alone from now on, in every tab, until `resume()`; also after the worker was stopped. */
  pause(): Promise<boolean>;
  resume(): Promise<boolean>;
  /** Forgets what is remembered of an origin, or of all: budgets are full, holds over and circuits closed. */
  reset(origin?: string): Promise<boolean>;
  /** Takes the worker out of the browser, with all that it has kept. Pages that it controls have plain fetches at once. */
  retire(): Promise<boolean>;
}

const OPTIONS = ['scope', 'type', 'patchFetch', 'heartbeat'];

/** `connect` resolves within this time, whatever the browser does. */
const CONNECT_MS = 4_500;
/** Of it, what is left to the handshake. */
const HELLO_MS = 1_000;

/**
 * Registers the worker and connects this page to it. Never rejects and never hangs: it resolves within 5 s with the
 * state that the page is in.
 */
export async function connect(workerUrl: WorkerUrl, options: ConnectOptions = {}): Promise<Retries> {
  const warn = createWarner();
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) warn(`connect has no option ${name}; there are ${OPTIONS.join(', ')}`);
  }
  const listeners = createListeners(warn);
  const container = serviceWorkers();
  let registration: ServiceWorkerRegistration | undefined;
  const worker = () => container?.controller ?? registration?.active ?? undefined;
  const say = (message: PageMessage): void => {
    const to = worker();
    if (to) post(to, message);
  };
  const heart = createHeartbeat(() => say({ kind: 'beat' }));
  const mail = createPageOutbox(async (wish) => {
    const to = worker();
    return to && ask(to, { kind: 'outbox', wish }, 'outbox');
  });
  const onMessage = ({ data }: MessageEvent): void => {
    const event = listeners.receive(data);
    if (event) mail.hear(event);
    if (event && options.heartbeat !== false) heart.hear(event);
  };
  container?.addEventListener('message', onMessage);
  // With `addEventListener` alone, messages wait for the end of the page's load.
  container?.startMessages();

  let line: Line | undefined;
  const hello = async (to: ServiceWorker | null | undefined) => {
    const welcome = to && (await ask(to, { kind: 'hello', version: VERSION }, 'welcome', HELLO_MS));
    if (welcome) mail.keepGoing(welcome.waiting);
    // Another may have taken the page over before this one has answered.
    if (welcome && to === worker()) line = { worker: to, nonce: welcome.nonce, fragments: welcome.fragments };
    return welcome?.version;
  };
  // Before anything is registered: a message to the old worker while a new one wants to take its place keeps the old
  // one busy, and Chromium then lets the new one wait for half a minute.
  const before = container?.controller;
  const versionBefore = await hello(before);
  const { scope, type } = options;
  const where = { ...(scope === undefined ? {} : { scope }), ...(type === undefined ? {} : { type }) };
  const registered = await register(workerUrl, where, CONNECT_MS - 2 * HELLO_MS);
  registration = registered.registration;
  // A new version that cannot be had leaves the old one at work.
  const old = registered.state === 'failed' && versionBefore !== undefined;
  if (registered.state === 'failed') {
    warn(
      `the worker could not be registered, so ${old ? 'an older one stays' : 'nothing is retried'}; ` +
        'if its script failed, its own console says why (in Chromium: DevTools, Application, Service workers)',
      registered.error,
    );
  }
  // A page that is claimed from now on, or handed to a new version, has to be known there as well.
  container?.addEventListener('controllerchange', () => void hello(container.controller));
  const workerVersion = before && before === worker() ? versionBefore : await hello(worker());
  // A busy browser may have handed the page over only now.
  const now = container && registration ? stateOf(registration, container) : registered.state;
  const state = old ? 'controlled' : now;
  const error = registered.error ?? (state === 'failed' ? new Error('the worker was taken out meanwhile') : undefined);
  if (workerVersion !== undefined && !isCompatible(VERSION, workerVersion)) {
    warn(`the worker has version ${workerVersion}, the page ${VERSION}; ${REMEDY}`);
  }

  const done = async (message: PageMessage): Promise<boolean> => {
    const to = worker();
    return to !== undefined && (await ask(to, message, 'done')) !== undefined;
  };
  const plainFetch = globalThis.fetch.bind(globalThis);
  const bridge = createBridge(() => (line && line.worker === container?.controller ? line : undefined), plainFetch);
  const patched = globalThis.fetch;
  if (options.patchFetch) globalThis.fetch = bridge;
  // Chromium has no such event in workers.
  const onOnline = (): void => say({ kind: 'online' });
  globalThis.addEventListener?.('online', onOnline);

  // Whoever listens as soon as `connect` has resolved hears the events that came while it was under way.
  setTimeout(listeners.open);

  return {
    state,
    ...(error === undefined ? {} : { error }),
    ...(workerVersion === undefined ? {} : { workerVersion }),
    on: listeners.on,
    fetch: bridge,
    outbox: mail.outbox,
    retryNow: (origin) => done({ kind: 'retry-now', ...(origin === undefined ? {} : { origin }) }),
    pause: () => done({ kind: 'pause' }),
    resume: () => done({ kind: 'resume' }),
    reset: (origin) => done({ kind: 'reset', ...(origin === undefined ? {} : { origin }) }),
    async retire() {
      const retired = await done({ kind: 'retire' });
      line = undefined;
      heart.stop();
      mail.stop();
      globalThis.removeEventListener?.('online', onOnline);
      container?.removeEventListener('message', onMessage);
      if (globalThis.fetch === bridge) globalThis.fetch = patched;
      // A worker that does not answer is taken out all the same, with what it has kept.
      if (!retired) {
        for (const name of [DATABASE, OUTBOX_DATABASE]) globalThis.indexedDB?.deleteDatabase(name);
        if (registration) void globalThis.caches?.delete(`${OFFLINE_CACHE} ${registration.scope}`).catch(() => {});
      }
      return (await registration?.unregister().catch(() => false)) || retired;
    },
    async status() {
      const to = worker();
      return to && (await ask(to, { kind: 'status' }, 'status'))?.status;
    },
  };
}
