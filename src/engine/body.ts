import { cancelBody } from './discard.js';
import type { Ports } from './ports.js';

/** The most bytes of request bodies that are kept for replay at one time, over all requests. */
export const MAX_KEPT_BYTES = 8 * 1_048_576;
/** An answer that comes sooner has cost no copy: what an upload can bring until then is not worth one. */
const COUNT_AFTER_MS = 20;
/** How long a failed attempt waits for the size of its body to be known. Counting is local: this is for slow uploads. */
const COUNT_MS = 1_000;
/** 128 kbit/s. Nobody tells when a body has been sent, so an attempt is not overdue before a slow upload could be over. */
const UPLOAD_BYTES_PER_MS = 16;

/** How long the upload of so many bytes may take over a slow connection. */
export const uploadMsOf = (bytes: number): number => Math.floor(bytes / UPLOAD_BYTES_PER_MS);

/** Bytes of request bodies that are kept now; one per engine. */
export interface BodyLedger {
  keptBytes: number;
}

/** Whether a request's body can be sent again. */
export interface KeptBody {
  /** Is the whole body known to be small enough? Otherwise it has been dropped, and the attempt in flight is the only one. */
  isReplayable(): Promise<boolean>;
  /** How long its upload may take over a slow connection, as far as its size is known. */
  uploadMs(): number;
  /** Lets go of the body. */
  release(): void;
}

/**
 * Counts a request's body while its first attempt is under way, and drops our copy as soon as it is too large. The
 * attempt itself reads its own clone: it is neither truncated nor slowed.
 */
export function keepBody(request: Request, maxBytes: number, ledger: BodyLedger, ports: Ports): KeptBody {
  let bytes = 0;
  let released = false;
  let copy: ReturnType<typeof counting> | undefined;
  let counted: Promise<boolean> | undefined;
  const fits = (more: number): boolean => {
    if (released) return false;
    bytes += more;
    ledger.keptBytes += more;
    return bytes <= maxBytes && ledger.keptBytes <= MAX_KEPT_BYTES;
  };
  const release = (): void => {
    released = true;
    ledger.keptBytes -= bytes;
    bytes = 0;
    // An upload that goes on is read no further for our sake.
    copy?.stop();
    // The last attempt takes the original, whose body is then not ours to cancel.
    if (!request.bodyUsed) cancelBody(request);
    later.cancel();
  };
  const count = async (): Promise<boolean> => {
    if (released || request.bodyUsed) return false;
    copy = counting(request.clone(), fits);
    const whole = await copy.whole.catch(() => false);
    if (!whole) release();
    return whole;
  };
  const later = ports.sleep(COUNT_AFTER_MS);
  void later.done.then(() => {
    counted ??= count();
  });
  return {
    async isReplayable() {
      counted ??= count();
      const limit = ports.sleep(COUNT_MS);
      try {
        return (await Promise.race([counted, limit.done])) === true && !request.bodyUsed;
      } finally {
        limit.cancel();
      }
    },
    uploadMs: () => uploadMsOf(bytes),
    release,
  };
}

/** `whole`: all of it has come, and fits. `stop`: nobody wants to know any more. */
function counting(copy: Request, fits: (bytes: number) => boolean): { whole: Promise<boolean>; stop(): void } {
  // Firefox has no `Request.body`; there the whole copy is read at once.
  const isOne = !('body' in copy);
  const reader = isOne ? undefined : copy.body?.getReader();
  const read = async (): Promise<boolean> => {
    if (isOne) return fits((await (copy as Request).blob()).size);
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return true;
      if (!fits(chunk.value.byteLength)) return false;
    }
  };
  return { whole: read(), stop: () => void reader?.cancel().catch(() => {}) };
}
