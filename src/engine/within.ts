import type { Ports } from './ports.js';

/** Rejects if `work` has not come to an end after `ms`. */
export async function within<T>(work: Promise<T>, ms: number, ports: Pick<Ports, 'sleep'>): Promise<T> {
  const limit = ports.sleep(ms);
  try {
    return await Promise.race([work, limit.done.then(() => Promise.reject(new Error(`no answer within ${ms} ms`)))]);
  } finally {
    limit.cancel();
  }
}
