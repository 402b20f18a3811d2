import type { Expected } from './row.ts';

/** What is decided otherwise: the rule that is followed instead, and all that comes of the row by it. */
export interface Otherwise {
  readonly why: string;
  readonly then: Expected & Required<Pick<Expected, 'attempts' | 'status' | 'delays_ms'>>;
}

const DEADLINE = 'at the deadline, too, the page gets the last real answer if there was one (docs/requests.md)';
const LIMITS =
  'of the headers about limits only RateLimit in the syntax of its draft is read (src/policy/rate-limit.ts)';
const REPEATED =
  'a body is repeated byte for byte up to maxReplayBytes, whatever the page made it of (docs/requests.md, What is not retried)';
const ZERO_IS_NOW = 'a Retry-After of 0 means now (src/README.md, Decisions)';

/** Answered by its second attempt, after a wait of `ms`. */
const retriedAfter = (ms: number | readonly [number, number]) => ({ attempts: 2, status: 200, delays_ms: [ms] });

/**
 * What our layer decides otherwise on purpose, by the id of the row. A row of these that passes is an error, and so is
 * one of which anything else comes than is written here.
 */
export const OTHERWISE: Readonly<Record<string, Otherwise>> = {
  'ky-014': {
    why: 'of two rows that contradict each other the table follows ky-026: a 413 needs a Retry-After that is one, as by default here',
    then: { attempts: 1, status: 413, delays_ms: [], body: 'answer 1', hook_calls: 0 },
  },
  'ky-023': {
    why: 'a date in the past only means that waiting is no longer asked for: the backoff applies (src/README.md, Decisions)',
    then: retriedAfter(13),
  },
  'ky-061': {
    why: DEADLINE,
    then: { attempts: 1, status: 500, delays_ms: [], body: 'answer 1', elapsed_ms: 0, hook_calls: 0 },
  },
  'ky-062': {
    why: DEADLINE,
    then: { attempts: 4, status: 500, delays_ms: [0, 0, 0], body: 'answer 4', elapsed_ms: 800, hook_calls: 3 },
  },
  'ky-081': { why: LIMITS, then: retriedAfter(7) },
  'ky-082': { why: LIMITS, then: retriedAfter(7) },
  'ky-083': { why: LIMITS, then: retriedAfter(7) },
  'undici-113': {
    why: 'a Retry-After may ask for more than the cap of the backoff; it has a maximum of its own, retryAfter.maxMs (docs/options.md)',
    then: retriedAfter(60_000),
  },
  'undici-126': { why: REPEATED, then: { ...retriedAfter(500), body: 'answer 2', body_each: 'same' } },
  'go-retryablehttp-167': {
    why: 'giving up hands over the last real answer, never an error of ours in its place (docs/requests.md)',
    then: { attempts: 3, status: 500, delays_ms: [10, 10], body: 'answer 3', error: null, hook_calls: 2 },
  },
  'nurago-212': { why: ZERO_IS_NOW, then: retriedAfter(0) },
  'nurago-228': { why: REPEATED, then: { ...retriedAfter([100, 150]), body: 'answer 2', body_each: 'same' } },
  'httpc-272': { why: ZERO_IS_NOW, then: retriedAfter(0) },
  'smithy-457': {
    why: 'a Retry-After is seconds or one of the three dates of RFC 9110, and anything else is none (src/policy/retry-after.ts)',
    then: retriedAfter(7),
  },
};

function allOf(why: string, ids: string): Record<string, string> {
  return Object.fromEntries(ids.split(' ').map((id) => [id, why]));
}

/** The same of the rows that a program cannot play; what is done instead is shown by a test of the row's name, where it can be. */
export const OTHERWISE_BY_HAND: Readonly<Record<string, string>> = {
  'go-retryablehttp-175':
    'a worker cannot tell a TLS failure from a lost connection, so it is retried as well (docs/requests.md)',
  ...allOf(
    'a timeout starts the next attempt, or ends a request with hardTotal; the last attempt is waited for (docs/options.md)',
    'cockatiel-343 cockatiel-344',
  ),
  ...allOf(
    'a circuit has a probe, a permit and an end in time, and no state of its own to be set from outside (src/policy/circuit.ts)',
    'cockatiel-296 cockatiel-300 cockatiel-312 cockatiel-313 cockatiel-314 cockatiel-316 cockatiel-317 cockatiel-319 cockatiel-320',
  ),
  ...allOf(
    'a budget pays to its last token; there is no threshold at half of it (docs/options.md, The budget)',
    'grpc-407 grpc-410 grpc-426',
  ),
  'smithy-490': 'a 503 says that the server is short of capacity, as a 429 does: throttledBackoff (docs/options.md)',
  'ky-070':
    'a function of the user’s that rejects or throws harms no request: the rules decide (docs/options.md, classify)',
  'ky-074': 'what classify says is not waited for, so it must not be async (docs/options.md, classify)',
  'go-retryablehttp-173':
    'a function of the user’s that rejects or throws harms no request: the rules decide (docs/options.md, classify)',
  'go-retryablehttp-184':
    'a retry is the same request, which no hook changes (docs/options.md, classify); retryAttemptHeader tells its number',
  'go-retryablehttp-185':
    'a retry is the same request, which no hook changes (docs/options.md, classify); retryAttemptHeader tells its number',
  'got-092': 'waits are plain data, no function (src/policy/backoff.ts)',
  'cockatiel-347':
    'how many requests of a host run at once is the browser’s to limit: the layer has no queue of its own',
  'cockatiel-348':
    'how many requests of a host run at once is the browser’s to limit: the layer has no queue of its own',
  'cockatiel-349':
    'how many requests of a host run at once is the browser’s to limit: the layer has no queue of its own',
  'workbox-351': 'routes may share an outbox: its name is what they have in common (src/policy/outbox.ts)',
  'workbox-361':
    'entries are only put at the end and taken in their order: nobody shifts, pops or dates them (src/outbox/outbox-store.ts)',
  'workbox-362':
    'entries are only put at the end and taken in their order: nobody shifts, pops or dates them (src/outbox/outbox-store.ts)',
  'workbox-372': 'an entry is a request, and what belongs to it is in its headers (src/policy/outbox-entry.ts)',
  'workbox-373': 'entries are only put at the end: nothing goes before what came earlier (src/outbox/outbox-store.ts)',
  'grpc-380': 'one attempt is a policy: it leaves requests alone (src/policy/eligibility.ts)',
  ...allOf(
    'no fixed number limits the attempts that a policy names; while requests keep failing the circuit divides them, by attemptsDivisor (docs/options.md)',
    'grpc-383 grpc-434 grpc-436 grpc-443',
  ),
  'grpc-386': 'a first wait of nothing means at once (src/policy/check.ts)',
  'grpc-387': 'a cap of nothing means at once (src/policy/check.ts)',
  'grpc-390': 'no statuses means that only what got no answer is retried, as in presets.networkOnly (docs/options.md)',
  'grpc-392': 'a hedge waits for 1 ms at least (src/policy/check.ts)',
  'grpc-398': 'a Retry-After that is negative is malformed, and malformed is absent (src/policy/retry-after.ts)',
  'grpc-415': 'the backoff follows the number of the attempt, whoever named the wait before (src/policy/decide.ts)',
  'grpc-429': 'a Retry-After that is negative is malformed, and malformed is absent (src/policy/retry-after.ts)',
  'nurago-226': 'giving up hands over the last real answer, never an error of ours in its place (docs/requests.md)',
  'undici-117':
    'a range of the page’s own is the page’s: its answer is neither completed nor continued (docs/options.md, A body that breaks off)',
  'undici-118':
    'that the whole may be of unknown length is shown; a range of the page’s own is left alone (docs/options.md, A body that breaks off)',
  'undici-120':
    'a weak ETag may stand for other bytes, so such a body breaks off (docs/options.md, A body that breaks off)',
  'undici-121':
    'a weak ETag may stand for other bytes, so such a body breaks off (docs/options.md, A body that breaks off)',
  'nurago-230': 'a server’s own time is spread upwards by a quarter at most, not by 50 ms (src/policy/policy.ts)',
};

/** What is decided otherwise of reported faults. */
export const FAULTS_OTHERWISE: Readonly<Record<string, string>> = {
  B043:
    'nothing is sent again; but a first attempt is the page’s own request, which only a signal of ours could end, and that ' +
    'would rebuild it without its sec-ch-ua headers: with all defaults its connection is closed when headers come, and at ' +
    'once where the policy has it rebuilt, as with cancelTimedOut (docs/options.md)',
  B035: 'a retry is the same request, which no hook changes, so there is none that could be ignored (docs/options.md, classify)',
};

/** Cases of which a part is shown, and what is not. */
export const PARTLY: Readonly<Record<string, string>> = {
  'row 22':
    'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (docs/troubleshooting.md)',
  'row 39':
    'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (docs/troubleshooting.md)',
  'row 45':
    'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (docs/troubleshooting.md)',
  'row 27': 'waits are plain data: a list or a jitter around another, no function (src/policy/backoff.ts)',
  'row 46': 'waits are plain data: a list or a jitter around another, no function (src/policy/backoff.ts)',
  'row 38': 'a worker cannot tell a certificate that is refused from a lost connection (docs/requests.md)',
  'row 41':
    'a hedge tells its number, not how many are in flight; a retry tells its delay, not the header (docs/events.md)',
  'row 43':
    'a body that breaks off is the page’s unless it is resumed or held; TLS failures look like lost connections (docs/requests.md)',
  'undici-114': 'shown of an answer that says that it has ranges; one that does not breaks off (docs/options.md)',
  'undici-115': 'shown of an answer that says that it has ranges; one that does not breaks off (docs/options.md)',
  'undici-122': 'without a validator nothing more is asked for; shown with one as well',
  'undici-123': 'without a validator nothing more is asked for; shown with one',
  'undici-124': 'without a validator nothing more is asked for; shown with one',
  'row 48': 'more than ten attempts are made where the policy itself says more',
  'row 51': 'the waits of `download` are capped at 10 s, as all of the defaults are',
  'cockatiel-305':
    'that a circuit is half-open is told by the event of its opening (openUntil) and by `from` of the next, by none of its own',
};
