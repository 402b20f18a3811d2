import { requestAt } from '../engine/index.js';
import { withOverride } from '../protocol/index.js';

/**
 * The same request, told to be left alone by the service worker that sees it: what is retried here is not to be retried
 * there as well. No server and no `Response.url` sees the mark.
 */
export async function aside(request: Request): Promise<Request> {
  if (isAside(request)) return request;
  return requestAt(marked(request.url), request);
}

/**
 * A request as `fetch` would make it of the same arguments, marked at once if that is possible: some of what an `init`
 * says (`priority`) cannot be read from a request again.
 */
export function toRequest(input: RequestInfo | URL, init: RequestInit, { mark }: { readonly mark: boolean }): Request {
  const markable = mark && !(input instanceof Request) && !isStream(init.body);
  return new Request(markable ? marked(String(input)) : input, init);
}

export const isAside = ({ url }: Request): boolean => marked(url) === url;

const marked = (url: string): string => withOverride(url, { off: true });

const isStream = (body: unknown): boolean =>
  typeof (body as ReadableStream | null | undefined)?.getReader === 'function';
