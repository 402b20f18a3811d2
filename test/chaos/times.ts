/** Times of the run's worker: a fifth of the defaults or less, so that a thousand requests take a minute. */
export const ATTEMPTS = 4;
export const TOTAL_MS = 5_000;
export const ATTEMPT_TIMEOUT_MS = 700;
export const MAX_RETRY_AFTER_MS = 1_500;
