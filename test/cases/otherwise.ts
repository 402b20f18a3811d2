/**
 * What our layer decides otherwise on purpose: id of the row → the rule it follows instead. A row of these that passes
 * is an error.
 */
export const OTHERWISE: Readonly<Record<string, string>> = {
  'ky-014':
    'of two rows that contradict each other the table follows ky-026: a 413 needs a Retry-After that is one, as by default here',
  'ky-023':
    'a date in the past only means that waiting is no longer asked for: the backoff applies (src/README.md, Decisions)',
  'ky-061': 'at the deadline, too, the page gets the last real answer if there was one (README.md)',
  'ky-062': 'at the deadline, too, the page gets the last real answer if there was one (README.md)',
  'ky-081': 'of the headers about limits only RateLimit in the syntax of its draft is read (src/policy/rate-limit.ts)',
  'ky-082': 'of the headers about limits only RateLimit in the syntax of its draft is read (src/policy/rate-limit.ts)',
  'ky-083': 'of the headers about limits only RateLimit in the syntax of its draft is read (src/policy/rate-limit.ts)',
  'undici-113':
    'a Retry-After may ask for more than the cap of the backoff; it has a maximum of its own, retryAfter.maxMs (README.md)',
  'undici-126':
    'a body is repeated byte for byte up to maxReplayBytes, whatever the page made it of (README.md, What is not retried)',
  'go-retryablehttp-167': 'giving up hands over the last real answer, never an error of ours in its place (README.md)',
  'nurago-212': 'a Retry-After of 0 means now (src/README.md, Decisions)',
  'nurago-228':
    'a body is repeated byte for byte up to maxReplayBytes, whatever the page made it of (README.md, What is not retried)',
  'httpc-272': 'a Retry-After of 0 means now (src/README.md, Decisions)',
  'smithy-457':
    'a Retry-After is seconds or one of the three dates of RFC 9110, and anything else is none (src/policy/retry-after.ts)',
};

function allOf(why: string, ids: string): Record<string, string> {
  return Object.fromEntries(ids.split(' ').map((id) => [id, why]));
}

/** The same of the rows that a program cannot play; what is done instead is shown by a test of the row's name, where it can be. */
export const OTHERWISE_BY_HAND: Readonly<Record<string, string>> = {
  'go-retryablehttp-175':
    'a worker cannot tell a TLS failure from a lost connection, so it is retried as well (README.md)',
  ...allOf(
    'a timeout starts the next attempt, or ends a request with hardTotal; the last attempt is waited for (README.md)',
    'cockatiel-343 cockatiel-344',
  ),
  ...allOf(
    'a circuit has a probe, a permit and an end in time, and no state of its own to be set from outside (src/policy/circuit.ts)',
    'cockatiel-296 cockatiel-300 cockatiel-312 cockatiel-313 cockatiel-314 cockatiel-316 cockatiel-317 cockatiel-319 cockatiel-320',
  ),
  ...allOf(
    'a budget pays to its last token; there is no threshold at half of it (README.md, Defaults)',
    'grpc-407 grpc-410 grpc-426',
  ),
  'smithy-490': 'a 503 says that the server is short of capacity, as a 429 does: throttledBackoff (README.md)',
  'ky-070': 'a function of the user’s that rejects or throws harms no request: the rules decide (README.md, classify)',
  'ky-074': 'what classify says is not waited for, so it must not be async (README.md, classify)',
  'go-retryablehttp-173':
    'a function of the user’s that rejects or throws harms no request: the rules decide (README.md, classify)',
  'go-retryablehttp-184': 'no hook changes a retry; retryAttemptHeader tells its number (README.md)',
  'go-retryablehttp-185': 'no hook changes a retry; retryAttemptHeader tells its number (README.md)',
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
  'grpc-383': 'attempts are what the request’s own policy says; there is no second limit (README.md, Defaults)',
  'grpc-386': 'a first wait of nothing means at once (src/policy/check.ts)',
  'grpc-387': 'a cap of nothing means at once (src/policy/check.ts)',
  'grpc-390': 'no statuses means that only what got no answer is retried, as in presets.networkOnly (README.md)',
  'grpc-392': 'a hedge waits for 1 ms at least (src/policy/check.ts)',
  'grpc-398': 'a Retry-After that is negative is malformed, and malformed is absent (src/policy/retry-after.ts)',
  'grpc-415': 'the backoff follows the number of the attempt, whoever named the wait before (src/policy/decide.ts)',
  'grpc-429': 'a Retry-After that is negative is malformed, and malformed is absent (src/policy/retry-after.ts)',
  'grpc-434': 'attempts are what the request’s own policy says; there is no second limit (README.md, Defaults)',
  'grpc-436': 'attempts are what the request’s own policy says; there is no second limit (README.md, Defaults)',
  'grpc-443': 'attempts are what the request’s own policy says; there is no second limit (README.md, Defaults)',
  'nurago-226': 'giving up hands over the last real answer, never an error of ours in its place (README.md)',
  'nurago-230': 'a server’s own time is spread upwards by a quarter at most, not by 50 ms (src/policy/policy.ts)',
};

const RESUME = 'waits for resuming: so far a body that breaks off is left to the page';

/** Rows that ask for what there is not yet: id of the row → what it waits for. */
export const NOT_YET: Readonly<Record<string, string>> = {
  ...allOf(
    RESUME,
    'undici-114 undici-115 undici-117 undici-118 undici-120 undici-121 undici-122 undici-123 undici-124',
  ),
};

/** The same of the faults that were reported of others, and of the rows of `rows.md`, `row 56` and so on. */
export const FAULTS_NOT_YET: Readonly<Record<string, string>> = {
  ...allOf(RESUME, 'B134 B135 B136 B138 B142 B143 B144 B146'),
};
export const ROWS_NOT_YET: Readonly<Record<string, string>> = {};

/** What is decided otherwise of reported faults. */
export const FAULTS_OTHERWISE: Readonly<Record<string, string>> = {
  B035: 'no hook changes a retry, so there is none that could be ignored (README.md)',
};

/** Cases of which a part is shown, and what is not: it waits for something, or the engine is known to do it differently. */
export const PARTLY: Readonly<Record<string, string>> = {
  'row 22': 'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (README.md)',
  'row 39': 'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (README.md)',
  'row 45': 'a time that a server names is spread upwards, so the wait may be a quarter more than its cap (README.md)',
  'row 27': 'waits are plain data: a list or a jitter around another, no function (src/policy/backoff.ts)',
  'row 46': 'waits are plain data: a list or a jitter around another, no function (src/policy/backoff.ts)',
  'row 38': 'a worker cannot tell a certificate that is refused from a lost connection (README.md)',
  'row 41': 'a hedge tells its number, not how many are in flight; a retry tells its delay, not the header (README.md)',
  'row 43': 'a body that breaks off is the page’s; TLS failures look like lost connections (README.md)',
  'row 56': 'there is no offline page yet',
  'row 48': 'more than ten attempts are made where the policy itself says more',
  'row 51': 'the waits of `download` are capped at 10 s, as all of the defaults are',
  B043: 'with all defaults the connection of the attempt under way stays open (tests that fail show it)',
};
