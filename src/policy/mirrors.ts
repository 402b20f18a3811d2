import type { RequestFacts } from './eligibility.js';
import { isListed, type Outcome } from './outcome.js';
import type { RetryPolicy } from './policy.js';

/** However many mirrors there are, no more attempts than this are made because of them. */
const MAX_MIRRORED = 10;

/** May this request be answered by another server? Only what is read, and no documents or workers, whose origin is what they are. */
export const mayMirror = ({ method, mode, destination }: RequestFacts): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (mode === 'cors' || mode === 'no-cors') &&
  !['worker', 'sharedworker', 'serviceworker', 'document', 'iframe', 'frame'].includes(destination);

/** Every server is asked once, at least. */
export const attemptsOver = ({ attempts }: RetryPolicy, servers: number): number =>
  Math.max(attempts, Math.min(MAX_MIRRORED, servers));

/** Does the next attempt go to the next server? */
export function rotates(outcome: Outcome, policy: RetryPolicy): boolean {
  if (outcome.kind !== 'response') return true;
  const { mirrorStatuses } = policy;
  return mirrorStatuses === 'retried' ? isListed(outcome.status, policy) : mirrorStatuses.includes(outcome.status);
}

/** Names of headers that may hold what is meant for one server alone. */
const SECRET = /auth|cookie|key|token|secret|session|csrf|xsrf/i;

/** May a mirror see this header, though it is not to see who asks? */
export const isForMirrors = (name: string): boolean => !SECRET.test(name);
