/**
 * The same request at another URL. A body becomes bytes: taken over as it is, it would be a stream, which browsers send
 * over HTTP/2 only.
 */
export async function requestAt(url: string, request: Request): Promise<Request> {
  const { method } = request;
  // `undefined` in Firefox, which has no `Request.body`.
  if (method === 'GET' || method === 'HEAD' || request.body === null) return new Request(url, request);
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
