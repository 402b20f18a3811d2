import { isListed, type Outcome } from './outcome.js';
import type { RetryPolicy } from './policy.js';

/** However many mirrors there are, no more attempts than this are made because of them. */
const MAX_MIRRORED = 10;

/** Every server is asked once, at least. */
export const attemptsOver = ({ attempts }: RetryPolicy, servers: number): number =>
  Math.max(attempts, Math.min(MAX_MIRRORED, servers));

/** Does the next attempt go to the next server? */
export function rotates(outcome: Outcome, policy: RetryPolicy): boolean {
  if (outcome.kind !== 'response') return true;
  const { mirrorStatuses } = policy;
  if (mirrorStatuses !== 'retried') return mirrorStatuses.includes(outcome.status);
  return outcome.verdict === 'retry' || isListed(outcome.status, policy);
}

/**
 * May a mirror see this header, though it is not to see who asks? Nobody can tell by its name what a header of an app's
 * own holds, so none of those; and what is left is preflighted nowhere.
 */
export const isForMirrors = (name: string): boolean =>
  ['accept', 'accept-language', 'content-language', 'content-type', 'range'].includes(name.toLowerCase());
