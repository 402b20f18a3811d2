import { type Override, type PageMessage, toMessage, withOverride } from '../protocol/index.js';
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
  return async (input, { retry, retryOptions, ...init } = {}) => {
    const options = retry ?? (retryOptions && inOurWords(retryOptions));
    const asked = options === undefined ? undefined : toOverride(options);
    const to = line();
    const signal = init.signal ?? (input instanceof Request ? input.signal : undefined);
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    // A signal that may fire is worth a word; a request of another scheme does not come to the worker.
    if (!to || signal?.aborted || !(asked || signal) || !/^https?:$/.test(url.protocol)) return fetch(input, init);
    const abortId = signal ? crypto.randomUUID() : undefined;
    const override: Override = {
      ...asked,
      ...(abortId && !asked?.off ? { abortId } : {}),
      ...(asked && !asked.off && to.nonce !== '' ? { nonce: to.nonce } : {}),
    };
    const calledOff = (): void => post(to.worker, { kind: 'abort', id: abortId ?? '' });
    signal?.addEventListener('abort', calledOff);
    try {
      return await send(input, init, url, override, to);
    } finally {
      signal?.removeEventListener('abort', calledOff);
    }
  };

  async function send(
    input: RequestInfo | URL,
    init: RequestInit,
    url: URL,
    override: Override,
    { worker, fragments }: Line,
  ): Promise<Response> {
    const isRequest = input instanceof Request;
    // A request cannot be given another URL without its body becoming a stream, which not every connection takes.
    const hasBody = isRequest && !['GET', 'HEAD'].includes(input.method);
    if (fragments && !hasBody) {
      const marked = withOverride(isRequest ? input.url : String(input), override);
      return fetch(isRequest ? new Request(marked, input) : marked, init);
    }
    const method = (init.method ?? (isRequest ? input.method : 'GET')).toUpperCase();
    url.hash = '';
    await ask(worker, { kind: 'call', url: url.href, method, asked: withOverride('', override).slice(1) }, 'done');
    return fetch(input, init);
  }
}

/**
 * A URL that asks for fewer attempts, less time or nothing at all, to be given to `fetch` or `XMLHttpRequest`: a
 * fragment, which no server sees. What asks for more needs `retries.fetch`.
 *
 * @throws {@link RetryLayerError} if an option is wrong
 */
export const withRetry = (url: string | URL, options: CallOptions): string =>
  withOverride(String(url), toOverride(options));

/** Says something that needs no answer; whoever cannot hear it has gone. */
export function post(worker: ServiceWorker, message: PageMessage): void {
  try {
    worker.postMessage(toMessage(message));
  } catch {
    // As above.
  }
}
