import { type Backoff, MAX_DELAY_MS } from './backoff.js';
import { BUDGET_DEFAULTS, type TokenBudget } from './budget.js';
import { RetryLayerError } from './errors.js';
import { MAX_KEPT_ALIVE_MS, type RetryOptions } from './policy.js';

/** Checks one value found at `path`; throws a {@link RetryLayerError} that names both and the remedy. */
export type Check = (value: unknown, path: string) => void;

/**
 * Throws unless `value` is a plain object whose every key is known, whose every value passes its check, and that has
 * all of `required`.
 */
/* @__NO_SIDE_EFFECTS__ */
export const object =
  (
    checks: Readonly<Record<string, Check>>,
    required: readonly string[] = [],
    /** Where an option belongs that is not one here. */
    belongs: (key: string) => string | undefined = () => undefined,
  ): Check =>
  (value, path) => {
    if (!isPlain(value)) refuse(value, path, 'must be an object', `it may have ${Object.keys(checks).join(', ')}`);
    for (const [key, inner] of Object.entries(value)) {
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (!check) throw unknownOption(within(path, key), Object.keys(checks), belongs(key));
      if (inner !== undefined) check(inner, within(path, key));
    }
    const absent = required.find((key) => (value as Record<string, unknown>)[key] === undefined);
    if (absent !== undefined) refuse(undefined, within(path, absent), 'must be given');
  };

/** `''` is the options themselves. */
const within = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** Made by `{}` or by nothing at all: whatever inherits options, or is something else besides, is refused. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    (prototype === Object.prototype && Object.prototype.toString.call(value) === '[object Object]')
  );
}

export const flag: Check = (value, path) => {
  if (typeof value !== 'boolean') refuse(value, path, 'must be true or false');
};

export const func: Check = (value, path) => {
  if (typeof value !== 'function') refuse(value, path, 'must be a function', 'or left out');
};

export const text: Check = (value, path) => {
  if (typeof value !== 'string' || value === '') refuse(value, path, 'must be a text that is not empty');
};

/** A number in [min, max]; `remedy` says what to do instead. */
/* @__NO_SIDE_EFFECTS__ */
export const number =
  (min: number, max: number, { whole = false, remedy = '' } = {}): Check =>
  (value, path) => {
    const fits = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
    if (fits) return;
    const kind = whole ? 'a whole number' : 'a number';
    const range = max === Number.MAX_VALUE ? `of at least ${min}` : `from ${min} to ${max}`;
    refuse(value, path, `must be ${kind} ${range}`, remedy);
  };

/** A duration in milliseconds. */
/* @__NO_SIDE_EFFECTS__ */
export const duration = (min = 0, max = MAX_DELAY_MS, remedy = ''): Check => number(min, max, { remedy });

/* @__NO_SIDE_EFFECTS__ */
export const oneOf =
  (...choices: readonly string[]): Check =>
  (value, path) => {
    if (!choices.includes(value as string)) {
      refuse(value, path, `must be one of ${choices.map((choice) => `'${choice}'`).join(', ')}`);
    }
  };

/* @__NO_SIDE_EFFECTS__ */
export const arrayOf =
  (item: Check, { min = 0 } = {}): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < min) {
      refuse(value, path, `must be a list${min > 0 ? ' that is not empty' : ''}`);
    }
    for (const [index, inner] of (value as unknown[]).entries()) item(inner, `${path}[${index}]`);
  };

/** An HTTP method, in capitals as the standard has them (Fetch: `patch` is not `PATCH`). */
export const method: Check = (value, path) => {
  if (typeof value !== 'string' || !/^[A-Z0-9!#$%&'*+.^_`|~-]+$/.test(value)) {
    refuse(value, path, 'must be a method in capitals, such as GET');
  }
};

/** Refuses a value; never returns. */
export function refuse(value: unknown, path: string, must: string, remedy = ''): never {
  const then = remedy === '' ? '' : `; ${remedy}`;
  const name = path || 'options';
  throw new RetryLayerError('bad-option', `${name} ${must}, got ${show(value)}${then}`, name);
}

const status = number(100, 599, { whole: true });

const statusRuleObject = object(
  {
    status,
    only: oneOf('get', 'safe-method', 'idempotency-key', 'retry-after'),
    retries: number(0, 10_000, { whole: true }),
  },
  ['status'],
);

const statusRule: Check = (value, path) => {
  if (typeof value === 'number') status(value, path);
  else if (isPlain(value)) statusRuleObject(value, path);
  else refuse(value, path, 'must be a number such as 503, or an object with `status`');
};

const replayedMethod: Check = (value, path) => {
  method(value, path);
  if (value === 'POST' || value === 'PATCH') {
    refuse(value, path, 'must be idempotent', 'to repeat POST and PATCH without a key, set `retryNonIdempotent: true`');
  }
};

const FACTOR = number(1, 1_000);
const order = oneOf('before-cap', 'after-cap');
// Each kind is its own shape; `of` recurs, so the table is read when a value is checked, not when it is made.
const BACKOFF_FIELDS: Readonly<Record<Backoff['kind'], Readonly<Record<string, Check>>>> = {
  constant: { delayMs: duration() },
  linear: { stepMs: duration(), maxMs: duration() },
  exponential: { baseMs: duration(), factor: FACTOR, maxMs: duration() },
  list: { delaysMs: arrayOf(duration(), { min: 1 }) },
  'full-jitter': { of: (value, path) => backoff(value, path) },
  'equal-jitter': { of: (value, path) => backoff(value, path) },
  'decorrelated-jitter': { of: (value, path) => backoff(value, path) },
  'additive-jitter': { of: (value, path) => backoff(value, path), upToMs: duration(), order },
  'proportional-jitter': { of: (value, path) => backoff(value, path), ratio: number(0, 1), order },
};

const backoff: Check = (value, path) => {
  const kind = isPlain(value) && Object.hasOwn(value, 'kind') ? (value as { kind: unknown }).kind : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(BACKOFF_FIELDS, kind)) {
    refuse(value, path, 'must be a backoff', 'make one with constant(), linear(), exponential() or list()');
  }
  // Nobody wraps that often; something that wraps itself never ends.
  if (path.split('.of').length > MAX_WRAPPERS + 1) refuse(value, path, `must have at most ${MAX_WRAPPERS} jitters`);
  const fields = BACKOFF_FIELDS[kind as Backoff['kind']];
  object({ kind: text, ...fields }, Object.keys(fields))(value, path);
};

const MAX_WRAPPERS = 10;

/* @__NO_SIDE_EFFECTS__ */
function retriedOr(check: Check): Check {
  return (value, path) => (value === 'retried' ? undefined : check(value, path));
}

const hedge = object(
  {
    afterMs: (value, path) => (value === 'p95' ? undefined : duration(1, MAX_DELAY_MS, "or 'p95'")(value, path)),
    max: number(1, 10, { whole: true }),
  },
  ['afterMs'],
);

const holdBody = object({ maxBytes: number(0, Number.MAX_VALUE) });

const origin: Check = (value, path) => {
  if (typeof value !== 'string' || !/^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/.test(value)) {
    refuse(value, path, 'must be an origin in small letters, without a path', "such as 'https://mirror.example'");
  }
};

const OFF = 'to switch retries off, use `retry: false`, or `defaults: false`';
const TOTAL_MS = duration(1, MAX_KEPT_ALIVE_MS, 'browsers stop a worker that waits longer');
const RETRIES = number(0, 9_999, { whole: true, remedy: OFF });

const RETRY_OPTIONS: Readonly<Record<string, Check>> = {
  attempts: number(1, 10_000, { whole: true, remedy: OFF }),
  retries: RETRIES,
  maxAttempts: RETRIES,
  methods: arrayOf(replayedMethod),
  retryNonIdempotent: flag,
  statuses: arrayOf(statusRule),
  backoff,
  throttledBackoff: backoff,
  initialDelay: duration(),
  backoffFactor: FACTOR,
  retryAfter: object({
    mode: oneOf('extend', 'replace', 'ignore'),
    statuses: retriedOr(arrayOf(status)),
    maxMs: duration(),
    overMax: oneOf('give-up', 'truncate'),
  }),
  attemptTimeoutMs: duration(1),
  cancelTimedOut: flag,
  totalMs: TOTAL_MS,
  maxAge: TOTAL_MS,
  hardTotal: flag,
  hedge: (value, path) => (value === false ? undefined : hedge(value, path)),
  mirrors: arrayOf(origin),
  mirrorStatuses: retriedOr(arrayOf(status)),
  mirrorCredentials: flag,
  retryAttemptHeader: flag,
  maxReplayBytes: number(0, Number.MAX_VALUE),
  holdScope: oneOf('auto', 'path', 'group'),
  circuit: oneOf('suppress', 'reject'),
  mediaRanges: flag,
  resume: flag,
  holdBody: (value, path) => (typeof value === 'boolean' ? undefined : holdBody(value, path)),
};
const BESIDE = ['match', 'classify', 'classifyBody', 'raceNetwork', 'name'];
const retryOptions = object(RETRY_OPTIONS, [], (key) =>
  BESIDE.includes(key) ? 'beside `retry`, to a route' : undefined,
);

/** Is this the name of an option that says how to retry? */
export const isRetryOption = (key: string): boolean => Object.hasOwn(RETRY_OPTIONS, key);

/** Throws a {@link RetryLayerError} unless `value` is a {@link RetryOptions}. */
export function checkRetryOptions(value: unknown, path: string): asserts value is RetryOptions {
  retryOptions(value, path);
  const { attempts, retries, maxAttempts, totalMs, maxAge, backoff, initialDelay, backoffFactor } =
    value as RetryOptions;
  const agree = (name: string, given?: number, as = '', wanted?: number, other = wanted): void => {
    if (given === undefined || wanted === undefined || given === wanted) return;
    refuse(given, `${path}.${name}`, `must be ${as} (${other})`, 'give one of the two');
  };
  const retriesOf = attempts === undefined ? undefined : attempts - 1;
  agree('retries', retries, 'one less than attempts', retriesOf, attempts);
  agree('maxAttempts', maxAttempts, 'one less than attempts', retriesOf, attempts);
  agree('maxAttempts', maxAttempts, 'the same as retries', retries);
  agree('maxAge', maxAge, 'the same as totalMs', totalMs);
  if (backoff === undefined) return;
  for (const [name, given] of Object.entries({ initialDelay, backoffFactor })) {
    if (given !== undefined) refuse(given, `${path}.${name}`, 'must not stand beside backoff', 'give one of the two');
  }
}

/** Throws a {@link RetryLayerError} unless `value` is a {@link BudgetOptions}. */
export const checkBudgetOptions: Check = (value, path) => {
  if (isPlain(value) && (value as { kind?: unknown }).kind === 'windowed') {
    windowedBudget(value, path);
    return;
  }
  tokenBudget(value, path);
  const { capacity, retryCost, throttledCost } = { ...BUDGET_DEFAULTS, ...(value as Partial<TokenBudget>) };
  for (const [name, cost] of Object.entries({ retryCost, throttledCost })) {
    if (cost > capacity && capacity > 0) {
      refuse(
        cost,
        `${path}.${name}`,
        `must not be more than capacity (${capacity})`,
        'no retry could ever be paid for',
      );
    }
  }
};

const windowedBudget = object(
  { kind: text, ratio: number(0, Number.MAX_VALUE), perSecond: number(0, Number.MAX_VALUE), windowMs: duration(1) },
  ['ratio', 'perSecond', 'windowMs'],
);

const tokenBudget = object({
  kind: oneOf('tokens', 'windowed'),
  capacity: number(0, Number.MAX_VALUE),
  retryCost: number(0, Number.MAX_VALUE),
  throttledCost: number(0, Number.MAX_VALUE),
  successCredit: number(0, Number.MAX_VALUE),
  refillPerSecond: number(0, Number.MAX_VALUE),
});

/** Throws a {@link RetryLayerError} unless `value` is a partial {@link CircuitPolicy}. */
export const checkCircuitOptions: Check = object({
  failures: number(1, Number.MAX_VALUE),
  window: number(1, 1_000, { whole: true }),
  failureRatio: number(0.01, 1),
  openMs: duration(1),
  openFactor: number(1, 1_000),
  maxOpenMs: duration(1),
  resetMs: duration(),
  probeMs: duration(1),
  probes: number(1, 1_000, { whole: true }),
  parking: flag,
  sameFailureMs: duration(),
  attemptsDivisor: number(1, 1_000),
});

function unknownOption(path: string, known: readonly string[], place: string | undefined): RetryLayerError {
  const remedy = place === undefined ? `there are ${known.join(', ')}` : `it belongs ${place}`;
  return new RetryLayerError('unknown-option', `${path} is not an option; ${remedy}`, path);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return 'a RegExp';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : isPlain(value) ? 'an object' : 'an object that is not plain';
  return typeof value === 'bigint' ? `${value}n` : String(value);
}
