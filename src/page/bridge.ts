import { requestAt } from '../engine/request-at.js';
import { RetryLayerError } from '../policy/errors.js';
import { type Override, type PageMessage, parseOverride, toMessage, withOverride } from '../protocol/index.js';
import { type CallOptions, type FetchRetryOptions, inOurWords, toOverride } from './call-options.js';
import { ask } from './questions.js';

/** `fetch`, and what a single call asks for. `retryOptions` is the name that the Fetch Retry proposal gives it. */
export type RetryFetch = (
  input: RequestInfo | URL,
  init?: RequestInit & { readonly retry?: CallOptions; readonly retryOptions?: FetchRetryOptions },
) => Promise<Response>;

/** The worker of ours that controls this page, and what it has said at the handshake. */
export interface Line {
  readonly worker: ServiceWorker;
  readonly nonce: string;
  readonly fragments: boolean;
}

/**
 * Fetches as the page does, and tells the worker what the page alone knows: what this call asks for, and that it is
 * called off. Without a worker of ours it is the page's own `fetch`.
 */
export function createBridge(line: () => Line | undefined, fetch: typeof globalThis.fetch): RetryFetch {
  return async (...given) => {
    const [input, init] = given;
    // Whatever else stands in the init is the browser's business, which passes over what it does not know.
    const { retry, retryOptions } = init ?? {};
    const options = retry ?? (retryOptions && inOurWords(retryOptions));
    const asked = options === undefined ? undefined : toOverride(options);
    const to = line();
    const request = isRequest(input) ? input : undefined;
    // `null` takes the signal of a request away.
    const signal = init?.signal === undefined ? request?.signal : (init.signal ?? undefined);
    const url = to && (asked || signal) && !signal?.aborted ? urlOf(input) : undefined;
    const carried = parseOverride(url?.hash ?? '');
    if (!to || !url || carried?.off) return fetch(...given);
    const own = signal && !asked?.off && carried?.abortId === undefined ? crypto.randomUUID() : undefined;
    const theirs = asked ? unsigned(carried) : carried;
    const override: Override = { ...theirs, ...asked, ...(own === undefined ? {} : { abortId: own }) };
    const calledOff = (): void => post(to.worker, { kind: 'abort', id: own ?? '' });
    if (own !== undefined) signal?.addEventListener('abort', calledOff);
    try {
      return await (to.fragments ? inFragment(to, override) : byMessage(to, override, url));
    } finally {
      signal?.removeEventListener('abort', calledOff);
    }

    async function inFragment({ nonce }: Line, override: Override): Promise<Response> {
      const mark = asked && !asked.off && nonce !== '' ? { ...override, nonce } : override;
      if (!request) return fetch(withOverride(String(input), mark), init);
      const marked = withOverride(request.url, mark);
      // A body that the init has takes the place of the request's.
      const whole = init?.body == null ? await requestAt(marked, request) : new Request(marked, request);
      return fetch(whole, init);
    }

    /** Beside somebody's own routes, which may look at a whole URL. */
    async function byMessage({ worker }: Line, override: Override, url: URL): Promise<Response> {
      refuseMore(asked, 'cannot be asked for by a call beside the routes of another; set it on a route of the worker');
      const id = crypto.randomUUID();
      const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
      url.hash = '';
      await ask(
        worker,
        { kind: 'call', id, url: url.href, method, asked: withOverride('', override).slice(1) },
        'done',
      );
      try {
        return await fetch(...given);
      } finally {
        // One that never came to the worker must not be taken for the next.
        post(worker, { kind: 'withdraw', id });
      }
    }
  };
}

/**
 * Of what a URL carries, that which can ask for no more: what a call asks for is signed, and somebody else may have made
 * the URL.
 */
const unsigned = ({ hedge, retryNonIdempotent, abortId }: Override = {}): Override => ({
  ...(hedge === undefined ? {} : { hedge }),
  ...(retryNonIdempotent === false ? { retryNonIdempotent } : {}),
  ...(abortId === undefined ? {} : { abortId }),
});

/** Also one of another realm: of a frame. */
const isRequest = (input: unknown): input is Request =>
  typeof input === 'object' && input !== null && !(input instanceof URL) && 'url' in input;

/** Absolute, where a worker may see it; `undefined` for whatever `fetch` itself has to refuse. */
function urlOf(input: RequestInfo | URL): URL | undefined {
  try {
    const url = new URL(isRequest(input) ? input.url : input, globalThis.document?.baseURI ?? location.href);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A URL that asks for fewer attempts, less time or nothing at all, to be given to `fetch` or `XMLHttpRequest`: a
 * fragment, which no server sees. What asks for more needs `retries.fetch`.
 *
 * @throws {@link RetryLayerError} if an option is wrong
 */
export function withRetry(url: string | URL, options: CallOptions): string {
  const override = toOverride(options);
  refuseMore(override, 'cannot be asked for by a URL; use retries.fetch');
  if (typeof url !== 'string' && !(url instanceof URL)) {
    throw new RetryLayerError('bad-option', 'url must be a text or a URL; give a Request to retries.fetch', 'url');
  }
  return withOverride(String(url), override);
}

/** What counts only if the page is known to ask for it: it may mean more requests. */
function refuseMore({ retryNonIdempotent, attemptTimeoutMs }: Override = {}, why: string): void {
  const more = retryNonIdempotent
    ? 'retryNonIdempotent'
    : attemptTimeoutMs === undefined
      ? undefined
      : 'attemptTimeoutMs';
  if (more !== undefined) throw new RetryLayerError('bad-option', `retry.${more} ${why}`, `retry.${more}`);
}

/** Says something that needs no answer; whoever cannot hear it has gone. */
export function post(worker: ServiceWorker, message: PageMessage): void {
  try {
    worker.postMessage(toMessage(message));
  } catch {
    // As above.
  }
}
