import type { StoredRequest } from '../policy/outbox-entry.js';

/** Everything of a request but its body, as plain data. A document's request becomes one that a script could make. */
export function toStored(request: Request): StoredRequest {
  const { url, method, headers, mode, credentials, redirect, cache, referrer, referrerPolicy, integrity } = request;
  const document = mode === 'navigate';
  return {
    url: url.replace(/#.*/s, ''),
    method,
    headers: [...headers],
    mode: document ? 'same-origin' : mode,
    credentials,
    // Of a document the browser follows the redirects itself.
    redirect: document ? 'follow' : redirect,
    cache,
    referrer,
    referrerPolicy,
    integrity,
  };
}

/** The request again; `origin` is this one. */
export function rebuild(
  { url, mode, referrer, referrerPolicy, ...stored }: StoredRequest,
  body: ArrayBuffer,
  signal: AbortSignal,
  origin: string,
): Request {
  return new Request(url, {
    ...(stored as RequestInit),
    headers: stored.headers.map(([name, value]) => [name, value]),
    mode: mode as RequestMode,
    referrerPolicy: referrerPolicy as ReferrerPolicy,
    // Nobody may set a referrer of another origin.
    ...(referrer.startsWith(`${origin}/`) ? { referrer } : referrer === '' ? { referrer: '' } : {}),
    ...(body.byteLength > 0 ? { body } : {}),
    signal,
  });
}

/** All bytes of a body, or `undefined` if they are more than `maxBytes` or cannot be had. */
export async function bytesOf(request: Request, maxBytes: number): Promise<ArrayBuffer | undefined> {
  try {
    // Firefox has no `Request.body`; there the whole copy is read at once.
    if (!('body' in request)) {
      const whole = await (request as Request).arrayBuffer();
      return whole.byteLength <= maxBytes ? whole : undefined;
    }
    const reader = request.body?.getReader();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      bytes += chunk.value.byteLength;
      if (bytes > maxBytes) {
        void reader?.cancel().catch(() => {});
        return undefined;
      }
      chunks.push(chunk.value);
    }
    return await new Blob(chunks).arrayBuffer();
  } catch {
    return undefined;
  }
}

const KEY_HEADERS = ['idempotency-key', 'x-idempotency-key'];

/** The header that tells a server that it has seen this request already. */
export const keyOf = (headers: StoredRequest['headers']): readonly [string, string] | undefined =>
  headers.find(([name, value]) => KEY_HEADERS.includes(name.toLowerCase()) && value !== '');
