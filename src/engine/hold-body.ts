import { toNumber } from '../policy/content-range.js';
import type { HoldBodyPolicy } from '../policy/index.js';
import { isEncoded } from '../policy/resume.js';
import { headOf } from './rebuilt.js';

/**
 * Resolves once the whole of a small answer is in memory; rejects if it breaks off or has another length than it says. One
 * that says no length, or too much of it, is not waited for.
 */
export async function held(response: Response, { maxBytes }: HoldBodyPolicy): Promise<void> {
  const { header, cors } = headOf(response);
  const length = toNumber(header('Content-Length') ?? '');
  const isStream = /^text\/event-stream\b/i.test(header('Content-Type') ?? '');
  if (response.body === null || length === undefined || length > maxBytes || isStream) return;
  // A copy is read and counted, and the answer itself stays as it is: with its `url`, and its bytes to come.
  const reader = response.clone().body?.getReader();
  let bytes = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    bytes += chunk.value.byteLength;
    if (bytes > maxBytes) return void reader?.cancel().catch(() => {});
  }
  // Decoded bytes are others than were declared, and the encoding of another origin's answer may be hidden.
  if (bytes !== length && !cors && !isEncoded(header)) {
    throw new TypeError(`the body has ${bytes} bytes instead of ${length}`);
  }
}
