import type { Ports } from './ports.js';

/** An answer whose body is no larger than this is kept in memory, in case no later attempt brings another. */
const KEPT_BYTES = 65_536;
/** A body that is still coming after this is not waited for. */
const KEPT_MS = 100;

/** What is left of an answer that was discarded; it holds no connection. */
export interface Kept {
  readonly response: Response;
  readonly whole: boolean;
}

/**
 * Frees the connection of an answer that is not delivered now, before the wait begins: six unread bodies stall an
 * origin (HTTP/1.1). Resolves to the same answer with its body in memory if that is small and comes at once, else to one
 * of the same status and headers whose body breaks off; an error page's ends there: Chromium loads one that breaks off
 * for ever. Never rejects.
 */
export async function discard(response: Response, isNavigation: boolean, ports: Ports): Promise<Kept> {
  if (response.body === null) return { response, whole: true };
  let kept = response;
  try {
    kept = response.clone();
    const { whole, chunks } = await drained(response.body, ports);
    if (whole) return { response: kept, whole };
    const rest = brokenOff(response, chunks, isNavigation && isErrorPage(response));
    cancelBody(kept);
    return { response: rest, whole };
  } catch {
    // Better a connection held than an answer lost.
    return { response: kept, whole: true };
  }
}

/**
 * Is it shown and nothing else? A navigation may as well be a download, whose file would seem whole, and what is good may
 * be put into a cache.
 */
const isErrorPage = ({ ok, headers }: Response): boolean =>
  !ok &&
  /^text\/html\b/i.test(headers.get('Content-Type') ?? '') &&
  !/^attachment\b/i.test(headers.get('Content-Disposition') ?? '');

/** What is left of an answer whose body was not waited for: it can be told from a network error, and seems whole to no script. */
function brokenOff({ status, statusText, headers }: Response, chunks: readonly Uint8Array[], ends: boolean): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      start: (to) => {
        for (const chunk of chunks) to.enqueue(chunk);
      },
      // Not before what there is has been read: an error takes what is still queued with it.
      pull: (to) => (ends ? to.close() : to.error(new TypeError('the rest of this answer was not waited for'))),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, statusText, headers });
}

/** Cancels a body that nobody will read. A cancel that fails is no loss: the request goes on all the same. */
export function cancelBody(of: Response | Request): void {
  try {
    of.body?.cancel().catch(() => {});
  } catch {
    // As above.
  }
}

async function drained(body: ReadableStream<Uint8Array>, ports: Ports) {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  const limit = ports.sleep(KEPT_MS);
  const late = limit.done.then(() => undefined);
  try {
    for (let bytes = 0; bytes <= KEPT_BYTES; ) {
      // One that breaks off is not waited for any longer.
      const chunk = await Promise.race([reader.read().catch(() => undefined), late]);
      if (chunk === undefined) break;
      if (chunk.done) return { whole: true, chunks };
      chunks.push(chunk.value);
      bytes += chunk.value.byteLength;
    }
    reader.cancel().catch(() => {});
    return { whole: false, chunks };
  } finally {
    limit.cancel();
  }
}
