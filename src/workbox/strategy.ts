import { refuse } from '../policy/check.js';

/** Any strategy of `workbox-strategies`, `workbox-precaching` or `serwist`, or a class of your own made from theirs. */
export interface StrategyLike {
  handle(options: never): Promise<Response>;
  readonly plugins: readonly object[];
}

/** What is used of a strategy: `_handle` is what Workbox documents for subclasses, and never renames. */
export interface Strategy {
  _handle(request: Request, handler: Handler): Promise<Response | undefined>;
  readonly fetchOptions?: RequestInit | undefined;
}

/** What a strategy makes for each request; all of it is its public interface. */
export interface Handler {
  fetch(input: RequestInfo): Promise<Response>;
  /** Serwist's, whose strategy for precached files answers with it without a `fetch`. */
  getPreloadResponse?(): Promise<Response | undefined>;
  readonly event: ExtendableEvent;
  hasCallback(name: keyof Callbacks): boolean;
  iterateCallbacks<Name extends keyof Callbacks>(name: Name): Iterable<Callbacks[Name]>;
  waitUntil(work: Promise<unknown>): unknown;
}

/** The plugins' callbacks that have to do with fetching. */
export interface Callbacks {
  requestWillFetch(about: { readonly request: Request; readonly event: ExtendableEvent }): Promise<Request>;
  fetchDidSucceed(about: {
    readonly request: Request;
    readonly event: ExtendableEvent;
    readonly response: Response;
  }): Promise<Response>;
  fetchDidFail(about: {
    readonly request: Request;
    readonly originalRequest: Request;
    readonly event: ExtendableEvent;
    readonly error: Error;
  }): Promise<void>;
}

/** The strategy as it is used; throws where it is none. */
export function toStrategy(value: unknown): Strategy {
  if (typeof (Object(value) as Partial<Strategy>)._handle !== 'function') {
    refuse(
      value,
      'strategy',
      'must be a strategy of Workbox or Serwist',
      'such as `new NetworkFirst()`; for a function use retryHandler(policy)',
    );
  }
  return value as Strategy;
}
