import type { Ports } from './ports.js';

/** An answer whose body is no larger than this is kept in memory, in case no later attempt brings another. */
const KEPT_BYTES = 65_536;
/** A body that is still coming after this is not waited for. */
const KEPT_MS = 100;

/**
 * Frees the connection of an answer that is not delivered now, before the wait begins: six unread bodies stall an
 * origin (HTTP/1.1). Resolves to the same answer with its body in memory if it is small and comes at once, else to
 * `undefined`. Never rejects.
 */
export async function discard(response: Response, ports: Ports): Promise<Response | undefined> {
  if (response.body === null) return response;
  let kept = response;
  try {
    kept = response.clone();
    if (await drained(response.body, ports)) return kept;
  } catch {
    // Better a connection held than an answer lost.
    return kept;
  }
  cancelBody(kept);
  return undefined;
}

/** Cancels a body that nobody will read. A cancel that fails is no loss: the request goes on all the same. */
export function cancelBody(of: Response | Request): void {
  try {
    of.body?.cancel().catch(() => {});
  } catch {
    // As above.
  }
}

async function drained(body: ReadableStream<Uint8Array>, ports: Ports): Promise<boolean> {
  const reader = body.getReader();
  const limit = ports.sleep(KEPT_MS);
  const late = limit.done.then(() => undefined);
  try {
    for (let bytes = 0; bytes <= KEPT_BYTES; ) {
      const chunk = await Promise.race([reader.read(), late]);
      if (chunk === undefined) break;
      if (chunk.done) return true;
      bytes += chunk.value.byteLength;
    }
    reader.cancel().catch(() => {});
    return false;
  } finally {
    limit.cancel();
  }
}
