import type { Outcome, RetryPolicy } from '../policy/index.js';
import { isListed, type Verdict } from '../policy/outcome.js';
import { carriesFreshness } from '../policy/retry-after.js';
import type { Classifier } from './classify.js';
import { held } from './hold-body.js';

/** One attempt that has come to something: its outcome as data beside the real object it stands for. */
export type Landing =
  | { readonly attempt: number; readonly outcome: Outcome; readonly response: Response }
  | { readonly attempt: number; readonly outcome: Outcome; readonly error: unknown };

/** Waits for an attempt. Never rejects: failures travel as data. */
export async function land(
  attempt: number,
  sent: Promise<Response>,
  {
    policy,
    holds = false,
    now,
    classify,
    onHeaders,
    isCalledOff,
  }: {
    readonly policy: RetryPolicy;
    /** Does an answer count only once its body is there, where the policy says so? @defaultValue false */
    readonly holds?: boolean;
    readonly now: () => number;
    readonly classify?: Classifier | undefined;
    /** Told before anybody looks at the answer, which may take its time. */
    readonly onHeaders?: () => void;
    /** Is it ours that it has failed? Then there is nothing to judge. */
    readonly isCalledOff?: () => boolean;
  },
): Promise<Landing> {
  let response: Response;
  try {
    response = await sent;
    if (holds && policy.holdBody && !isListed(response.status, policy)) await held(response, policy.holdBody);
  } catch (error) {
    const outcome = { kind: 'network-error' } as const;
    return { attempt, outcome: classify && !isCalledOff?.() ? await judged(outcome, { error }) : outcome, error };
  }
  try {
    onHeaders?.();
    const { status } = response;
    const { verdict } = classify ? await judged({ kind: 'response', status }, { response }) : {};
    return { attempt, outcome: toOutcome(response, verdict, policy, now), response };
  } catch {
    // An answer that cannot be read by us is still the page's.
    return { attempt, outcome: { kind: 'response', status: 0 }, response };
  }

  async function judged(outcome: Outcome, landed: { response?: Response; error?: unknown }): Promise<Outcome> {
    const verdict = await classify?.(outcome, attempt, landed);
    return verdict === undefined ? outcome : { ...outcome, verdict };
  }
}

/** Headers are read only where something hangs on them, which spares every good answer the work. */
function toOutcome(response: Response, verdict: Verdict | undefined, policy: RetryPolicy, now: () => number): Outcome {
  const { status, headers } = response;
  const judged = verdict === undefined ? {} : { verdict };
  if (verdict === 'deliver' || (verdict === undefined && !isListed(status, policy))) {
    return { kind: 'response', status, ...judged };
  }
  const header = (name: string) => headers.get(name);
  const date = header('Date');
  return {
    kind: 'response',
    status,
    ...judged,
    time: { retryAfter: header('Retry-After'), date, age: header('Age'), rateLimit: header('RateLimit') },
    fresh: carriesFreshness({ cacheControl: header('Cache-Control'), expires: header('Expires'), date }, now()),
  };
}
