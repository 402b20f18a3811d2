import { RetryLayerError } from '../policy/errors.js';
import type { CallOverride } from '../policy/override.js';
import type { Override } from '../protocol/index.js';

/**
 * What one call asks for, otherwise than its route says: `false` leaves it alone, `hedge: false` hedges nothing. What is
 * absent is inherited.
 */
export type CallOptions = false | (CallOverride & { readonly retries?: number });

/** What the Fetch Retry proposal has for one call; `maxAttempts` counts retries. Its waits are those of the route here. */
export interface FetchRetryOptions {
  readonly maxAttempts?: number;
  readonly maxAge?: number;
  readonly retryNonIdempotent?: boolean;
}

/** In our words. What else it has is passed over, as the proposal is by browsers that do not know it. */
export const inOurWords = ({ maxAttempts, maxAge, retryNonIdempotent }: FetchRetryOptions): CallOptions => ({
  ...(maxAttempts === undefined ? {} : { retries: maxAttempts }),
  ...(maxAge === undefined ? {} : { totalMs: maxAge }),
  ...(retryNonIdempotent === undefined ? {} : { retryNonIdempotent }),
});

const show = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

type Rule = readonly [mustBe: string, holds: (value: unknown) => boolean];

const from = (min: number, max: number, isWhole = false): Rule => [
  `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`,
  (value) => typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value)),
];

// Of its own: what checks a worker's options is larger than all of the page's side.
const RULES: Readonly<Record<string, Rule>> = {
  attempts: from(1, 10_000, true),
  retries: from(0, 9_999, true),
  attemptTimeoutMs: from(1, 2_147_483_647),
  totalMs: from(1, 240_000),
  hedge: ['false; hedges are set up by a route', (value) => value === false],
  retryNonIdempotent: ['true or false', (value) => typeof value === 'boolean'],
};

/**
 * @throws {@link RetryLayerError} that names the option, the value and the remedy
 */
export function toOverride(options: CallOptions): Override {
  if (options === false) return { off: true };
  if (typeof options !== 'object' || options === null) {
    throw new RetryLayerError('bad-option', `retry must be false or an object, got ${show(options)}`, 'retry');
  }
  for (const [key, value] of Object.entries(options)) {
    const name = `retry.${key}`;
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    if (rule === undefined) {
      const known = Object.keys(RULES).join(', ');
      throw new RetryLayerError('unknown-option', `${name} is not an option of a call; there are ${known}`, name);
    }
    const [mustBe, holds] = rule;
    if (value === undefined || holds(value)) continue;
    const off = key === 'attempts' ? '; to switch retries off, use `retry: false`' : '';
    throw new RetryLayerError('bad-option', `${name} must be ${mustBe}, got ${show(value)}${off}`, name);
  }
  const { retries, ...asked } = options;
  if (retries !== undefined && asked.attempts !== undefined && asked.attempts !== retries + 1) {
    const both = `retry.retries must be one less than attempts (${asked.attempts}), got ${retries}; give one of the two`;
    throw new RetryLayerError('bad-option', both, 'retry.retries');
  }
  return { ...asked, ...(retries === undefined ? {} : { attempts: retries + 1 }) };
}
