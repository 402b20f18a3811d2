import type { Call } from './call.js';
import type { Ports } from './ports.js';

/** What a request with `keepalive` has once its page is gone. */
const KEEPALIVE = { attempts: 2, totalMs: 10_000 };
const ASK_MS = 100;

/**
 * Is it of no use to go on, because whoever asked has gone? What is to outlive its page may be tried once more, for a
 * while.
 */
export async function isInVain(
  { isGone, facts }: Call,
  { attempts, elapsedMs }: { readonly attempts: number; readonly elapsedMs: number },
  ports: Ports,
): Promise<boolean> {
  if (isGone === undefined || !(await saysSo(isGone, ports))) return false;
  return !facts.keepalive || attempts >= KEEPALIVE.attempts || elapsedMs >= KEEPALIVE.totalMs;
}

/** A browser that does not answer has not said that it is gone. */
async function saysSo(isGone: () => Promise<boolean>, ports: Ports): Promise<boolean> {
  const limit = ports.sleep(ASK_MS);
  try {
    return await Promise.race([isGone().catch(() => false), limit.done.then(() => false)]);
  } finally {
    limit.cancel();
  }
}
