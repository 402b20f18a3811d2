import type { Outcome, RetryPolicy } from '../policy/index.js';
import { isListed } from '../policy/outcome.js';
import { carriesFreshness } from '../policy/retry-after.js';

/** One attempt that has come to something: its outcome as data beside the real object it stands for. */
export type Landing =
  | { readonly attempt: number; readonly outcome: Outcome; readonly response: Response }
  | { readonly attempt: number; readonly outcome: Outcome; readonly error: unknown };

/** Waits for an attempt. Never rejects: failures travel as data. */
export async function land(
  attempt: number,
  sent: Promise<Response>,
  { policy, now }: { readonly policy: RetryPolicy; readonly now: () => number },
): Promise<Landing> {
  let response: Response;
  try {
    response = await sent;
  } catch (error) {
    return { attempt, outcome: { kind: 'network-error' }, error };
  }
  try {
    return { attempt, outcome: toOutcome(response, policy, now), response };
  } catch {
    // An answer that cannot be read by us is still the page's.
    return { attempt, outcome: { kind: 'response', status: 0 }, response };
  }
}

/** Headers are read only where something hangs on them, which spares every good answer the work. */
function toOutcome(response: Response, policy: RetryPolicy, now: () => number): Outcome {
  const { status, headers } = response;
  if (!isListed(status, policy)) return { kind: 'response', status };
  const header = (name: string) => headers.get(name);
  const date = header('Date');
  return {
    kind: 'response',
    status,
    time: { retryAfter: header('Retry-After'), date, age: header('Age'), rateLimit: header('RateLimit') },
    fresh: carriesFreshness({ cacheControl: header('Cache-Control'), expires: header('Expires'), date }, now()),
  };
}
