import { isSafe, type RequestFacts } from './eligibility.js';
import type { RetryPolicy, StatusRule } from './policy.js';
import { parseRetryAfter, type TimeHeaders } from './retry-after.js';

/** What one attempt came to, as plain data: loggable, comparable, structured-cloneable. */
export type Outcome = (
  | {
      readonly kind: 'response';
      /** 0 for opaque answers and opaque redirects. */
      readonly status: number;
      /** Absent where nothing hangs on it: answers of statuses that are not retried. */
      readonly time?: TimeHeaders;
      /** The browser's cache may serve this very answer again. */
      readonly fresh?: boolean;
    }
  | { readonly kind: 'network-error' }
  | { readonly kind: 'timeout'; readonly afterMs: number }
) & {
  /** What the user's own function says of it, if it says anything. */
  readonly verdict?: Verdict;
};

/** `retry`: as if its status were listed; `deliver`: final. */
export type Verdict = 'retry' | 'deliver';

/** What a failed attempt failed by; events carry it. */
export type Cause = 'status' | 'network-error' | 'timeout';

export const causeOf = (outcome: Outcome): Cause => (outcome.kind === 'response' ? 'status' : outcome.kind);

/**
 * How many retries this outcome allows at most: 0 when it is final, `Infinity` when only the policy's own limit counts.
 * Opaque answers and opaque redirects have status 0, which no list holds: only their rejections retry.
 */
export function retriesAllowed(outcome: Outcome, request: RequestFacts, policy: RetryPolicy): number {
  if (outcome.verdict !== undefined) return outcome.verdict === 'retry' ? Number.POSITIVE_INFINITY : 0;
  switch (outcome.kind) {
    case 'timeout':
      return Number.POSITIVE_INFINITY;
    case 'network-error':
      // What it refuses once (another body than its `integrity`, a redirect) it will refuse for ever.
      return request.choosy ? 1 : Number.POSITIVE_INFINITY;
    case 'response':
      // As nearly every answer is.
      if (!isListed(outcome.status, policy)) return 0;
      // Of several rules for a status each allows what it allows.
      return Math.max(
        0,
        ...rulesFor(outcome.status, policy)
          .filter((rule) => ruleHolds(rule, outcome, request))
          .map(retriesOf),
      );
  }
}

/** 425 (Too Early) asks for one repetition without early data, not for time (RFC 8470 §5.2). */
export const retriesAtOnce = (outcome: Outcome): boolean => outcome.kind === 'response' && outcome.status === 425;

/** 429 and 503 say that the server is short of capacity: their backoff starts higher. */
export const isThrottled = (outcome: Outcome): boolean =>
  outcome.kind === 'response' && (outcome.status === 429 || outcome.status === 503);

/** May an answer of this status be retried at all? */
export const isListed = (status: number, { statuses }: RetryPolicy): boolean =>
  statuses.some((rule) => statusOf(rule) === status);

const rulesFor = (status: number, { statuses }: RetryPolicy): readonly StatusRule[] =>
  statuses.filter((rule) => statusOf(rule) === status);

const statusOf = (rule: StatusRule): number => (typeof rule === 'number' ? rule : rule.status);

function ruleHolds(rule: StatusRule, outcome: Outcome & { kind: 'response' }, request: RequestFacts): boolean {
  if (typeof rule === 'number' || rule.only === undefined) return true;
  switch (rule.only) {
    case 'get':
      return request.method === 'GET';
    case 'safe-method':
      return isSafe(request.method);
    case 'idempotency-key':
      return request.keyed;
    case 'retry-after':
      // Only whether it is one, so that the instant it is read at does not matter.
      return parseRetryAfter(outcome.time?.retryAfter, 0) !== undefined;
  }
}

const retriesOf = (rule: StatusRule): number =>
  typeof rule === 'number' ? Number.POSITIVE_INFINITY : (rule.retries ?? Number.POSITIVE_INFINITY);
