/**
 * What our layer decides otherwise on purpose: id of the row → the rule it follows instead. A row of these that passes
 * is an error.
 */
export const OTHERWISE: Readonly<Record<string, string>> = {
  'ky-014':
    'a 413 is retried only with a Retry-After, and one that is malformed is none (src/policy/policy.ts, statuses)',
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
