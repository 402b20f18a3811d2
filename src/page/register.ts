/** How a page stands to the worker. */
export type ConnectState =
  /** The worker answers this page's fetches. */
  | 'controlled'
  /** A worker is there but not for this page before its next load: a first visit without claim, or a hard reload. */
  | 'uncontrolled-reload'
  /** As `controlled`, and a newer version of the worker waits until the pages of the old one are closed. */
  | 'waiting'
  /** This browser or context has no service workers. */
  | 'unsupported'
  /** The worker could not be registered or did not start: its script is missing, faulty or forbidden. */
  | 'failed';

export interface Registered {
  readonly state: ConnectState;
  readonly registration?: ServiceWorkerRegistration;
  /** Why it failed. */
  readonly error?: unknown;
}

/** Where a page may only name scripts by a `TrustedScriptURL` (`require-trusted-types-for 'script'`), one of those. */
export type WorkerUrl = string | URL | { toJSON(): string; toString(): string };

/** Registers the worker and waits until it is clear how things stand, for `limitMs` at most. Never rejects. */
export async function register(url: WorkerUrl, options: RegistrationOptions, limitMs: number): Promise<Registered> {
  // Reading the property may throw where storage is forbidden, as in a sandboxed frame.
  const container = serviceWorkers();
  if (container === undefined) return { state: 'unsupported' };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const registration = await Promise.race([container.register(url as string, options), aborted(limit.signal)]);
    if (registration === undefined) return { state: 'failed', error: new Error(`not registered within ${limitMs} ms`) };
    await settled(registration, container, limit.signal);
    const state = stateOf(registration, container);
    if (state === 'failed') return { state, error: new Error('the worker did not install; the console says why') };
    return { state, registration };
  } catch (error) {
    return { state: 'failed', error };
  } finally {
    clearTimeout(timer);
    limit.abort();
  }
}

export function serviceWorkers(): ServiceWorkerContainer | undefined {
  try {
    return globalThis.navigator?.serviceWorker;
  } catch {
    return undefined;
  }
}

/** How things stand now. */
export function stateOf(
  { active, waiting, installing }: ServiceWorkerRegistration,
  { controller }: ServiceWorkerContainer,
): ConnectState {
  // Somebody else's worker, of a narrower scope, is not ours.
  const ours = controller !== null && controller === active;
  if (!ours) return active || waiting || installing ? 'uncontrolled-reload' : 'failed';
  return waiting ? 'waiting' : 'controlled';
}

/**
 * Resolves once nothing more is about to change: the new worker waits, has failed, or is active and has had its chance
 * to claim this page.
 */
async function settled(registration: ServiceWorkerRegistration, container: ServiceWorkerContainer, limit: AbortSignal) {
  const worker = registration.installing;
  while (worker && (worker.state === 'installing' || (isOnItsWay(worker) && container.controller === null))) {
    if (limit.aborted) return;
    const claimed = once(container, 'controllerchange', limit);
    await Promise.race([once(worker, 'statechange', limit), claimed, aborted(limit)]);
  }
  // A first worker claims the page when it activates. A hard reload is never claimed, so the wait for it is short.
  const claim = new AbortController();
  const timer = setTimeout(() => claim.abort(), worker ? CLAIM_MS : 0);
  limit.addEventListener('abort', () => claim.abort());
  while (container.controller === null && !claim.signal.aborted) {
    await Promise.race([once(container, 'controllerchange', claim.signal), aborted(claim.signal)]);
  }
  clearTimeout(timer);
}

const CLAIM_MS = 1_000;

const isOnItsWay = ({ state }: ServiceWorker): boolean => state === 'installed' || state === 'activating';

const once = (target: EventTarget, type: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => target.addEventListener(type, () => resolve(), { once: true, signal }));

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
