import { createWarner } from '../engine/warner.js';
import { isCompatible, type LayerEvent, type LayerStatus, VERSION } from '../protocol/index.js';
import { createListeners, type Listener } from './listeners.js';
import { ask } from './questions.js';
import { type ConnectState, register, serviceWorkers } from './register.js';

export interface ConnectOptions {
  /** Which URLs the worker controls. @defaultValue the directory of its script */
  readonly scope?: string;
  /** `module` for a worker script with imports that no bundler has resolved. @defaultValue 'classic' */
  readonly type?: WorkerType;
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
}

/** `connect` resolves within this time, whatever the browser does. */
const CONNECT_MS = 4_500;
/** Of it, what is left to the handshake. */
const HELLO_MS = 1_000;

/**
 * Registers the worker and connects this page to it. Never rejects and never hangs: it resolves within 5 s with the
 * state that the page is in.
 */
export async function connect(workerUrl: string | URL, options: ConnectOptions = {}): Promise<Retries> {
  const warn = createWarner();
  const listeners = createListeners(warn);
  const container = serviceWorkers();
  container?.addEventListener('message', ({ data }) => listeners.receive(data));
  // With `addEventListener` alone, messages wait for the end of the page's load.
  container?.startMessages();

  const hello = async (to: ServiceWorker | null | undefined) =>
    to ? (await ask(to, { kind: 'hello', version: VERSION }, 'welcome', HELLO_MS))?.version : undefined;
  // Before anything is registered: a message to the old worker while a new one wants to take its place keeps the old
  // one busy, and Chromium then lets the new one wait for half a minute.
  const before = container?.controller;
  const versionBefore = await hello(before);
  const registered = await register(workerUrl, options, CONNECT_MS - 2 * HELLO_MS);
  const { registration, error } = registered;
  // A new version that cannot be had leaves the old one at work.
  const old = registered.state === 'failed' && versionBefore !== undefined;
  const state = old ? 'controlled' : registered.state;
  if (registered.state === 'failed') {
    warn(
      `the worker could not be registered, so ${old ? 'an older one stays' : 'nothing is retried'}; ` +
        'if its script failed, its own console says why (in Chromium: DevTools, Application, Service workers)',
      error,
    );
  }
  const worker = () => container?.controller ?? registration?.active ?? undefined;
  const workerVersion = before && before === worker() ? versionBefore : await hello(worker());
  if (workerVersion !== undefined && !isCompatible(VERSION, workerVersion)) {
    warn(`the worker has version ${workerVersion}, the page ${VERSION}; rebuild the older of the two`);
  }
  // A page that is claimed later, or handed to a new version, has to be known there as well.
  container?.addEventListener('controllerchange', () => void hello(container.controller));

  // Whoever listens as soon as `connect` has resolved hears the events that came while it was under way.
  setTimeout(listeners.open);

  return {
    state,
    ...(error === undefined ? {} : { error }),
    ...(workerVersion === undefined ? {} : { workerVersion }),
    on: listeners.on,
    async status() {
      const to = worker();
      return to && (await ask(to, { kind: 'status' }, 'status'))?.status;
    },
  };
}
