import { withOverride } from '../protocol/index.js';

/**
 * The same request, told to be left alone by the service worker that sees it: what is retried here is not to be retried
 * there as well. No server and no `Response.url` sees the mark.
 */
export async function aside(request: Request): Promise<Request> {
  if (isAside(request)) return request;
  const url = marked(request.url);
  const { method } = request;
  // `undefined` in Firefox, which has no `Request.body`.
  if (method === 'GET' || method === 'HEAD' || request.body === null) return new Request(url, request);
  // Taken over as it is, a body would be a stream, which browsers send over HTTP/2 only.
  const body = await request.blob();
  const { headers, mode, credentials, cache, redirect, referrer, referrerPolicy, integrity, keepalive, signal } =
    request;
  return new Request(url, {
    method,
    headers,
    mode,
    credentials,
    cache,
    redirect,
    referrer,
    referrerPolicy,
    integrity,
    keepalive,
    signal,
    ...(body.size > 0 ? { body } : {}),
  });
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
