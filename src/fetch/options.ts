import type { Classify } from '../engine/index.js';
import {
  checkBudgetOptions,
  checkCircuitOptions,
  duration,
  flag,
  func,
  isRetryOption,
  object,
  refuse,
} from '../policy/check.js';
import {
  type BudgetOptions,
  type CircuitPolicy,
  checkRetryOptions,
  RetryLayerError,
  type RetryOptions,
} from '../policy/index.js';
import type { LayerEvent } from '../protocol/index.js';

/** What a retrying fetch can be told besides its policy. All of it is optional. */
export interface RetryFetchOptions {
  /** Decides about an attempt before the rules do: 'retry', 'deliver', or undefined for the rules. */
  readonly classify?: Classify;
  /** Gives `classify` a copy of bodies that are at most 64 KiB, as far as their length is declared. @defaultValue false */
  readonly classifyBody?: boolean;
  /** Told every event. What it throws is reported and harms nothing. */
  readonly onEvent?: (event: LayerEvent) => void;
  /** The retry budget of each origin and group. @defaultValue 20 tokens */
  readonly budget?: BudgetOptions;
  /** When the circuit of an origin and group opens, and for how long. @defaultValue after 2 failed requests, for 2 s */
  readonly circuit?: Partial<CircuitPolicy>;
  /** Sends each attempt; gets a `Request`. @defaultValue the global `fetch` as it is when the retrying one is made */
  readonly fetch?: typeof fetch;
}

/** What one call may say besides what every `fetch` may. */
export interface RetryRequestInit extends RequestInit {
  /** Otherwise than the policy says; `false`: not retried at all. */
  readonly retry?: RetryOptions | false;
  /** The same by the name that Fetch Retry has for it (WICG). */
  readonly retryOptions?: RetryOptions;
}

const FETCH_OPTIONS = {
  classify: func,
  classifyBody: flag,
  onEvent: func,
  budget: checkBudgetOptions,
  circuit: checkCircuitOptions,
  fetch: func,
};
const fetchOptions = object(FETCH_OPTIONS, [], (key) =>
  isRetryOption(key) ? 'into the policy, before them' : undefined,
);

/** Throws a {@link RetryLayerError} that names the option, the value and the remedy. */
export function checkRetryFetch(policy: unknown, options: unknown): void {
  const astray = Object.keys(Object(policy)).find((key) => Object.hasOwn(FETCH_OPTIONS, key) && !isRetryOption(key));
  if (astray !== undefined) {
    const message = `policy.${astray} is not an option; it belongs into the options, after the policy`;
    throw new RetryLayerError('unknown-option', message, `policy.${astray}`);
  }
  checkRetryOptions(policy, 'policy');
  fetchOptions(options, 'options');
  if ((options as RetryFetchOptions).fetch === undefined && typeof globalThis.fetch !== 'function') {
    refuse(undefined, 'options.fetch', 'must be given where there is no global fetch');
  }
}

/** What a call asks for; throws the same error, before anything is sent. */
export function askedByCall({ retry, retryOptions }: RetryRequestInit): RetryOptions | false {
  if (retry !== undefined && retryOptions !== undefined) {
    refuse(retryOptions, 'retryOptions', 'must not stand beside retry', 'give one of the two');
  }
  if (retry === false) return false;
  const [asked, path] = retry === undefined ? [retryOptions, 'retryOptions'] : [retry, 'retry'];
  if (asked === undefined) return {};
  const known = retry === undefined ? withoutTheirs(asked) : asked;
  const said = typeof known === 'object' && known !== null ? withoutZeros(known) : known;
  checkRetryOptions(said, path);
  return said;
}

/** What the proposal has and we do not is passed over, as it is by browsers that do not know it. */
function withoutTheirs(options: RetryOptions): RetryOptions {
  const { retryAfterUnload, retryOnlyIfServerUnreached, ...ours } = Object(options) as Record<string, unknown>;
  return typeof options === 'object' ? ours : options;
}

/** Where zero is no value, it says that the policy's holds: whoever fills in a form need not leave fields out. */
const INHERITED_AT_ZERO: readonly string[] = ['attempts', 'attemptTimeoutMs', 'totalMs', 'maxAge', 'backoffFactor'];

const withoutZeros = (asked: RetryOptions): RetryOptions => {
  const zeros = INHERITED_AT_ZERO.filter((name) => (asked as Record<string, unknown>)[name] === 0);
  return zeros.length === 0
    ? asked
    : Object.fromEntries(Object.entries(asked).filter(([name]) => !zeros.includes(name)));
};

/** How a task is repeated. A whole {@link RetryOptions} will do; what is about answers says nothing here. */
export type TaskPolicy = Pick<
  RetryOptions,
  | 'attempts'
  | 'retries'
  | 'maxAttempts'
  | 'backoff'
  | 'initialDelay'
  | 'backoffFactor'
  | 'attemptTimeoutMs'
  | 'totalMs'
  | 'maxAge'
>;

export interface TaskOptions {
  /** Ends the attempt that is under way, and any wait, at once; its reason is then thrown. */
  readonly signal?: AbortSignal;
  /** Is this error worth another attempt? `attempt` is the one that failed, 1-based. @defaultValue each but an `AbortError` */
  readonly shouldRetry?: (error: unknown, attempt: number) => boolean;
}

const isSignal = (value: unknown, path: string): void => {
  if (typeof (value as AbortSignal | null)?.addEventListener !== 'function') {
    refuse(value, path, 'must be an AbortSignal');
  }
};
const taskOptions = object({ signal: isSignal, shouldRetry: func });
/** No worker has to be kept alive, so nothing limits how long a task may be tried. */
const taskTimes = object({
  attemptTimeoutMs: duration(),
  totalMs: duration(1),
  maxAge: duration(1),
});

/** Throws a {@link RetryLayerError} that names the option, the value and the remedy. */
export function checkTask(task: unknown, policy: unknown, options: unknown): void {
  func(task, 'task');
  const { attemptTimeoutMs, totalMs, maxAge, ...rest } =
    typeof policy === 'object' && policy !== null ? (policy as TaskPolicy) : {};
  checkRetryOptions(policy === Object(policy) && !Array.isArray(policy) ? rest : policy, 'policy');
  taskTimes({ attemptTimeoutMs, totalMs, maxAge }, 'policy');
  if (totalMs !== undefined && maxAge !== undefined && totalMs !== maxAge) {
    refuse(maxAge, 'policy.maxAge', `must be the same as totalMs (${totalMs})`, 'give one of the two');
  }
  taskOptions(options, 'options');
}
