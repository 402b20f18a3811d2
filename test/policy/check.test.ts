import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  additiveJitter,
  type Backoff,
  constant,
  delayMs,
  equalJitter,
  exponential,
  fullJitter,
  linear,
  list,
  proportionalJitter,
} from '../../src/policy/backoff.ts';
import { BUDGET_DEFAULTS } from '../../src/policy/budget.ts';
import {
  arrayOf,
  type Check,
  checkBudgetOptions,
  checkRetryOptions,
  duration,
  flag,
  func,
  isRetryOption,
  method,
  number,
  object,
  oneOf,
  text,
} from '../../src/policy/check.ts';
import { decide } from '../../src/policy/decide.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { DEFAULTS, NAVIGATION_DEFAULTS, resolvePolicy } from '../../src/policy/policy.ts';
import { anyBackoff, chance, durationMs } from '../support/arbitraries.ts';
import { requestFacts } from '../support/request-facts.ts';

/** What the check throws; anything but its own error is the test's failure. */
function refusal(check: () => void): RetryLayerError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof RetryLayerError) return error;
    throw error;
  }
}

const refused = (options: unknown) => refusal(() => checkRetryOptions(options, 'retry'));

describe('a bad option is refused by name, with its value and what to do', () => {
  const wholeAttempts = 'must be a whole number from 1 to 10000';
  const milliseconds = 'must be a number from 0 to 2147483647';
  const off = 'to switch retries off, use `retry: false`, or `defaults: false`';
  test.each<{ options: unknown; option: string; got: string; remedy: string }>([
    { options: undefined, option: 'retry', got: 'undefined', remedy: 'must be an object' },
    { options: 'reject', option: 'retry', got: "'reject'", remedy: 'it may have attempts, retries' },
    { options: { hedge: true }, option: 'retry.hedge', got: 'true', remedy: 'it may have afterMs, max' },
    { options: { hedge: {} }, option: 'retry.hedge.afterMs', got: 'undefined', remedy: 'must be given' },
    { options: { hedge: { afterMs: 0 } }, option: 'retry.hedge.afterMs', got: '0', remedy: "or 'p95'" },
    { options: { hedge: { afterMs: 'p99' } }, option: 'retry.hedge.afterMs', got: "'p99'", remedy: "or 'p95'" },
    { options: { hedge: { afterMs: 1, max: 0 } }, option: 'retry.hedge.max', got: '0', remedy: 'from 1 to 10' },
    { options: { mirrors: 'https://b.test' }, option: 'retry.mirrors', got: "'https://b.test'", remedy: 'a list' },
    ...['b.test', 'https://b.test/', 'https://B.test', 'https://b.test/x', 'ftp://b.test', 'https://u@b.test', ''].map(
      (mirror) => ({
        options: { mirrors: ['https://a.test:8443', mirror] },
        option: 'retry.mirrors[1]',
        got: `'${mirror}'`,
        remedy: "such as 'https://mirror.example'",
      }),
    ),
    { options: { mirrorStatuses: 503 }, option: 'retry.mirrorStatuses', got: '503', remedy: 'a list' },
    { options: { mirrorCredentials: 1 }, option: 'retry.mirrorCredentials', got: '1', remedy: 'true or false' },
    { options: { hardTotal: 1 }, option: 'retry.hardTotal', got: '1', remedy: 'true or false' },
    { options: { cancelTimedOut: 'yes' }, option: 'retry.cancelTimedOut', got: "'yes'", remedy: 'true or false' },
    { options: { retryAttemptHeader: 1 }, option: 'retry.retryAttemptHeader', got: '1', remedy: 'true or false' },
    { options: null, option: 'retry', got: 'null', remedy: 'must be an object' },
    { options: true, option: 'retry', got: 'true', remedy: 'must be an object' },
    { options: 3, option: 'retry', got: '3', remedy: 'must be an object' },
    { options: 'api', option: 'retry', got: "'api'", remedy: 'must be an object' },
    { options: [], option: 'retry', got: 'a list', remedy: 'must be an object' },
    { options: () => {}, option: 'retry', got: 'a function', remedy: 'must be an object' },
    { options: { attempts: 0 }, option: 'retry.attempts', got: '0', remedy: off },
    { options: { attempts: 0 }, option: 'retry.attempts', got: '0', remedy: wholeAttempts },
    { options: { attempts: -1 }, option: 'retry.attempts', got: '-1', remedy: off },
    { options: { attempts: 2.5 }, option: 'retry.attempts', got: '2.5', remedy: wholeAttempts },
    { options: { attempts: 10_001 }, option: 'retry.attempts', got: '10001', remedy: wholeAttempts },
    { options: { attempts: Number.NaN }, option: 'retry.attempts', got: 'NaN', remedy: wholeAttempts },
    {
      options: { attempts: Number.POSITIVE_INFINITY },
      option: 'retry.attempts',
      got: 'Infinity',
      remedy: wholeAttempts,
    },
    { options: { attempts: '3' }, option: 'retry.attempts', got: "'3'", remedy: wholeAttempts },
    { options: { attempts: null }, option: 'retry.attempts', got: 'null', remedy: wholeAttempts },
    { options: { attempts: true }, option: 'retry.attempts', got: 'true', remedy: wholeAttempts },
    { options: { attempts: [3] }, option: 'retry.attempts', got: 'a list', remedy: wholeAttempts },
    { options: { attempts: { valueOf: () => 3 } }, option: 'retry.attempts', got: 'an object', remedy: wholeAttempts },
    { options: { attempts: Symbol('3') }, option: 'retry.attempts', got: 'Symbol(3)', remedy: wholeAttempts },
    { options: { retries: -1 }, option: 'retry.retries', got: '-1', remedy: off },
    { options: { retries: 1.5 }, option: 'retry.retries', got: '1.5', remedy: 'a whole number from 0 to 9999' },
    { options: { retries: 10_000 }, option: 'retry.retries', got: '10000', remedy: 'a whole number from 0 to 9999' },
    { options: { retries: Number.NaN }, option: 'retry.retries', got: 'NaN', remedy: 'a whole number from 0 to 9999' },
    { options: { attempts: 3, retries: 3 }, option: 'retry.retries', got: '3', remedy: 'one less than attempts (3)' },
    { options: { attempts: 3, retries: 3 }, option: 'retry.retries', got: '3', remedy: 'give one of the two' },
    { options: { methods: 'GET' }, option: 'retry.methods', got: "'GET'", remedy: 'must be a list' },
    { options: { methods: ['get'] }, option: 'retry.methods[0]', got: "'get'", remedy: 'in capitals, such as GET' },
    { options: { methods: ['GET', 5] }, option: 'retry.methods[1]', got: '5', remedy: 'in capitals, such as GET' },
    { options: { methods: [''] }, option: 'retry.methods[0]', got: "''", remedy: 'in capitals, such as GET' },
    { options: { methods: ['GET '] }, option: 'retry.methods[0]', got: "'GET '", remedy: 'in capitals, such as GET' },
    { options: { methods: ['POST'] }, option: 'retry.methods[0]', got: "'POST'", remedy: '`retryNonIdempotent: true`' },
    {
      options: { methods: ['PATCH'] },
      option: 'retry.methods[0]',
      got: "'PATCH'",
      remedy: '`retryNonIdempotent: true`',
    },
    { options: { retryNonIdempotent: 1 }, option: 'retry.retryNonIdempotent', got: '1', remedy: 'true or false' },
    { options: { retryNonIdempotent: 'no' }, option: 'retry.retryNonIdempotent', got: "'no'", remedy: 'true or false' },
    { options: { resume: 1 }, option: 'retry.resume', got: '1', remedy: 'true or false' },
    { options: { holdBody: 1_000 }, option: 'retry.holdBody', got: '1000', remedy: 'it may have maxBytes' },
    { options: { holdBody: { maxBytes: -1 } }, option: 'retry.holdBody.maxBytes', got: '-1', remedy: 'of at least 0' },
    { options: { mediaRanges: null }, option: 'retry.mediaRanges', got: 'null', remedy: 'true or false' },
    { options: { statuses: 503 }, option: 'retry.statuses', got: '503', remedy: 'must be a list' },
    { options: { statuses: new Set([503]) }, option: 'retry.statuses', got: 'an object', remedy: 'must be a list' },
    {
      options: { statuses: { 0: 503, length: 1 } },
      option: 'retry.statuses',
      got: 'an object',
      remedy: 'must be a list',
    },
    { options: { statuses: [99] }, option: 'retry.statuses[0]', got: '99', remedy: 'a whole number from 100 to 599' },
    { options: { statuses: [600] }, option: 'retry.statuses[0]', got: '600', remedy: 'a whole number from 100 to 599' },
    { options: { statuses: [0] }, option: 'retry.statuses[0]', got: '0', remedy: 'a whole number from 100 to 599' },
    { options: { statuses: [503.5] }, option: 'retry.statuses[0]', got: '503.5', remedy: 'a whole number' },
    { options: { statuses: [503, Number.NaN] }, option: 'retry.statuses[1]', got: 'NaN', remedy: 'a whole number' },
    { options: { statuses: ['503'] }, option: 'retry.statuses[0]', got: "'503'", remedy: 'number' },
    { options: { statuses: [null] }, option: 'retry.statuses[0]', got: 'null', remedy: 'number' },
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    { options: { statuses: [, 503] }, option: 'retry.statuses[0]', got: 'undefined', remedy: 'must be' },
    {
      options: { statuses: [{ status: 20 }] },
      option: 'retry.statuses[0].status',
      got: '20',
      remedy: 'from 100 to 599',
    },
    { options: { statuses: [{}] }, option: 'retry.statuses[0].status', got: 'undefined', remedy: 'must be' },
    {
      options: { statuses: [{ only: 'safe-method' }] },
      option: 'retry.statuses[0].status',
      got: 'undefined',
      remedy: 'must be',
    },
    {
      options: { statuses: [{ status: 500, only: 'GET' }] },
      option: 'retry.statuses[0].only',
      got: "'GET'",
      remedy: "'safe-method', 'idempotency-key', 'retry-after'",
    },
    {
      options: { statuses: [{ status: 500, retries: -1 }] },
      option: 'retry.statuses[0].retries',
      got: '-1',
      remedy: 'a whole number from 0 to 10000',
    },
    { options: { retryAfter: true }, option: 'retry.retryAfter', got: 'true', remedy: 'must be an object' },
    { options: { retryAfter: null }, option: 'retry.retryAfter', got: 'null', remedy: 'must be an object' },
    {
      options: { retryAfter: { mode: 'honour' } },
      option: 'retry.retryAfter.mode',
      got: "'honour'",
      remedy: "'extend', 'replace', 'ignore'",
    },
    {
      options: { retryAfter: { mode: ['extend'] } },
      option: 'retry.retryAfter.mode',
      got: 'a list',
      remedy: "'extend', 'replace', 'ignore'",
    },
    {
      options: { retryAfter: { overMax: 'clamp' } },
      option: 'retry.retryAfter.overMax',
      got: "'clamp'",
      remedy: "'give-up', 'truncate'",
    },
    { options: { retryAfter: { maxMs: -1 } }, option: 'retry.retryAfter.maxMs', got: '-1', remedy: milliseconds },
    {
      options: { retryAfter: { maxMs: 2 ** 31 } },
      option: 'retry.retryAfter.maxMs',
      got: '2147483648',
      remedy: milliseconds,
    },
    { options: { retryAfter: { maxMs: '5' } }, option: 'retry.retryAfter.maxMs', got: "'5'", remedy: milliseconds },
    {
      options: { retryAfter: { maxMs: Number.NaN } },
      option: 'retry.retryAfter.maxMs',
      got: 'NaN',
      remedy: milliseconds,
    },
    {
      options: { retryAfter: { statuses: 'all' } },
      option: 'retry.retryAfter.statuses',
      got: "'all'",
      remedy: 'must be',
    },
    {
      options: { retryAfter: { statuses: [5] } },
      option: 'retry.retryAfter.statuses[0]',
      got: '5',
      remedy: 'from 100 to 599',
    },
    { options: { attemptTimeoutMs: 0 }, option: 'retry.attemptTimeoutMs', got: '0', remedy: 'from 1 to 2147483647' },
    {
      options: { attemptTimeoutMs: 2 ** 31 },
      option: 'retry.attemptTimeoutMs',
      got: '2147483648',
      remedy: 'from 1 to 2147483647',
    },
    { options: { totalMs: 0 }, option: 'retry.totalMs', got: '0', remedy: 'from 1 to 240000' },
    {
      options: { totalMs: 240_001 },
      option: 'retry.totalMs',
      got: '240001',
      remedy: 'browsers stop a worker that waits longer',
    },
    { options: { maxReplayBytes: -1 }, option: 'retry.maxReplayBytes', got: '-1', remedy: 'a number of at least 0' },
    {
      options: { maxReplayBytes: Number.POSITIVE_INFINITY },
      option: 'retry.maxReplayBytes',
      got: 'Infinity',
      remedy: 'a number of at least 0',
    },
    {
      options: { backoff: null },
      option: 'retry.backoff',
      got: 'null',
      remedy: 'constant(), linear(), exponential() or list()',
    },
    {
      options: { backoff: 500 },
      option: 'retry.backoff',
      got: '500',
      remedy: 'constant(), linear(), exponential() or list()',
    },
    {
      options: { backoff: () => 500 },
      option: 'retry.backoff',
      got: 'a function',
      remedy: 'constant(), linear(), exponential() or list()',
    },
    {
      options: { backoff: {} },
      option: 'retry.backoff',
      got: 'an object',
      remedy: 'constant(), linear(), exponential() or list()',
    },
    {
      options: { backoff: { kind: 'toString' } },
      option: 'retry.backoff',
      got: 'an object',
      remedy: 'must be a backoff',
    },
    {
      options: { backoff: { kind: '__proto__' } },
      option: 'retry.backoff',
      got: 'an object',
      remedy: 'must be a backoff',
    },
    {
      options: { throttledBackoff: 'none' },
      option: 'retry.throttledBackoff',
      got: "'none'",
      remedy: 'must be a backoff',
    },
    { options: { maxAttempts: -1 }, option: 'retry.maxAttempts', got: '-1', remedy: off },
    { options: { maxAttempts: 1.5 }, option: 'retry.maxAttempts', got: '1.5', remedy: 'a whole number from 0 to 9999' },
    { options: { initialDelay: -1 }, option: 'retry.initialDelay', got: '-1', remedy: milliseconds },
    { options: { backoffFactor: 0.5 }, option: 'retry.backoffFactor', got: '0.5', remedy: 'a number from 1 to 1000' },
    { options: { maxAge: 0 }, option: 'retry.maxAge', got: '0', remedy: 'from 1 to 240000' },
    { options: { maxAge: 300_000 }, option: 'retry.maxAge', got: '300000', remedy: 'browsers stop a worker' },
    {
      options: { attempts: 3, maxAttempts: 3 },
      option: 'retry.maxAttempts',
      got: '3',
      remedy: 'one less than attempts (3)',
    },
    {
      options: { retries: 2, maxAttempts: 3 },
      option: 'retry.maxAttempts',
      got: '3',
      remedy: 'the same as retries (2)',
    },
    {
      options: { attempts: 3, retries: 2, maxAttempts: 1 },
      option: 'retry.maxAttempts',
      got: '1',
      remedy: 'give one of the two',
    },
    { options: { totalMs: 5, maxAge: 6 }, option: 'retry.maxAge', got: '6', remedy: 'the same as totalMs (5)' },
    {
      options: { backoff: constant(5), initialDelay: 5 },
      option: 'retry.initialDelay',
      got: '5',
      remedy: 'must not stand beside backoff',
    },
    {
      options: { backoff: constant(5), backoffFactor: 2 },
      option: 'retry.backoffFactor',
      got: '2',
      remedy: 'give one of the two',
    },
    {
      options: { statuses: [{ status: 500, only: 'post' }] },
      option: 'retry.statuses[0].only',
      got: "'post'",
      remedy: "'get', 'safe-method'",
    },
  ])('$option: $got ($remedy)', ({ options, option, got, remedy }) => {
    const error = refused(options);
    expect(error).toMatchObject({ name: 'RetryLayerError', code: 'bad-option', option });
    expect(error?.message.startsWith(`${option} `)).toBe(true);
    expect(error?.message).toContain(`got ${got}`);
    expect(error?.message).toContain(remedy);
  });

  const backoffs: { backoff: unknown; option: string; got: string }[] = [
    { backoff: { kind: 'constant' }, option: 'delayMs', got: 'undefined' },
    { backoff: { kind: 'constant', delayMs: -1 }, option: 'delayMs', got: '-1' },
    { backoff: { kind: 'constant', delayMs: Number.NaN }, option: 'delayMs', got: 'NaN' },
    { backoff: { kind: 'constant', delayMs: '5' }, option: 'delayMs', got: "'5'" },
    { backoff: { kind: 'constant', delayMs: 5n }, option: 'delayMs', got: '5' },
    { backoff: { kind: 'constant', delayMs: 2 ** 31 }, option: 'delayMs', got: '2147483648' },
    { backoff: { kind: 'linear', maxMs: 5 }, option: 'stepMs', got: 'undefined' },
    { backoff: { kind: 'linear', stepMs: 5 }, option: 'maxMs', got: 'undefined' },
    { backoff: { kind: 'linear', stepMs: 5, maxMs: Number.POSITIVE_INFINITY }, option: 'maxMs', got: 'Infinity' },
    { backoff: { kind: 'exponential', factor: 2, maxMs: 5 }, option: 'baseMs', got: 'undefined' },
    { backoff: { kind: 'exponential', baseMs: 5, maxMs: 5 }, option: 'factor', got: 'undefined' },
    { backoff: { kind: 'exponential', baseMs: 5, factor: 0.5, maxMs: 5 }, option: 'factor', got: '0.5' },
    { backoff: { kind: 'exponential', baseMs: 5, factor: -2, maxMs: 5 }, option: 'factor', got: '-2' },
    { backoff: { kind: 'exponential', baseMs: 5, factor: 1_001, maxMs: 5 }, option: 'factor', got: '1001' },
    { backoff: { kind: 'list', delaysMs: [] }, option: 'delaysMs', got: 'a list' },
    { backoff: { kind: 'list', delaysMs: 5 }, option: 'delaysMs', got: '5' },
    { backoff: { kind: 'list', delaysMs: [1, Number.NaN] }, option: 'delaysMs[1]', got: 'NaN' },
    { backoff: { kind: 'full-jitter' }, option: 'of', got: 'undefined' },
    { backoff: { kind: 'full-jitter', of: 5 }, option: 'of', got: '5' },
    { backoff: { kind: 'equal-jitter', of: { kind: 'constant', delayMs: -1 } }, option: 'of.delayMs', got: '-1' },
    { backoff: { kind: 'decorrelated-jitter', of: null }, option: 'of', got: 'null' },
    { backoff: additiveJitter(constant(1), -1), option: 'upToMs', got: '-1' },
    { backoff: additiveJitter(constant(1), Number.NaN), option: 'upToMs', got: 'NaN' },
    { backoff: { ...additiveJitter(constant(1), 1), order: 'before' }, option: 'order', got: "'before'" },
    { backoff: { ...additiveJitter(constant(1), 1), order: undefined }, option: 'order', got: 'undefined' },
    { backoff: proportionalJitter(constant(1), 1.1), option: 'ratio', got: '1.1' },
    { backoff: proportionalJitter(constant(1), -0.1), option: 'ratio', got: '-0.1' },
    { backoff: proportionalJitter(fullJitter(constant(Number.NaN)), 0.1), option: 'of.of.delayMs', got: 'NaN' },
  ];
  test.each(backoffs)('backoff.$option: $got', ({ backoff, option, got }) => {
    for (const name of ['backoff', 'throttledBackoff']) {
      const error = refused({ [name]: backoff });
      expect(error).toMatchObject({ code: 'bad-option', option: `retry.${name}.${option}` });
      expect(error?.message).toMatch(new RegExp(`^retry\\.${name}\\.`));
      expect(error?.message).toContain(`got ${got}`);
      expect(error?.message).toContain('must be');
    }
  });

  test('a number that is a BigInt is not told to be what was asked for', () => {
    // "must be a whole number from 1 to 10000, got 3" helps nobody.
    expect(refused({ attempts: 3n })?.message).toMatch(/3n|BigInt|bigint/);
  });

  test('the path is the one it was called with', () => {
    expect(refusal(() => checkRetryOptions({ attempts: 0 }, 'routes[1].retry'))?.option).toBe(
      'routes[1].retry.attempts',
    );
  });
});

describe('an unknown option is refused by name, with those there are', () => {
  test.each<{ options: object; option: string; known: string }>([
    { options: { attemps: 3 }, option: 'retry.attemps', known: 'attempts' },
    { options: { timeout: 3 }, option: 'retry.timeout', known: 'attemptTimeoutMs' },
    { options: { attemps: undefined }, option: 'retry.attemps', known: 'attempts' },
    { options: { toString: 3 }, option: 'retry.toString', known: 'attempts' },
    { options: { constructor: 3 }, option: 'retry.constructor', known: 'attempts' },
    { options: JSON.parse('{"__proto__": {"attempts": 0}}'), option: 'retry.__proto__', known: 'attempts' },
    { options: { retryAfter: { max: 3 } }, option: 'retry.retryAfter.max', known: 'maxMs' },
    { options: { statuses: [{ status: 503, when: 'x' }] }, option: 'retry.statuses[0].when', known: 'only' },
    { options: { backoff: { ...constant(5), maxMs: 5 } }, option: 'retry.backoff.maxMs', known: 'delayMs' },
    {
      options: { backoff: { kind: 'full-jitter', of: { kind: 'constant', delayMs: 5, of: 1 } } },
      option: 'retry.backoff.of.of',
      known: 'delayMs',
    },
    {
      options: { backoff: JSON.parse('{"kind": "constant", "delayMs": 5, "__proto__": 5}') },
      option: 'retry.backoff.__proto__',
      known: 'delayMs',
    },
  ])('$option', ({ options, option, known }) => {
    const error = refused(options);
    expect(error).toMatchObject({ name: 'RetryLayerError', code: 'unknown-option', option });
    expect(error?.message).toContain(option);
    expect(error?.message).toContain(known);
  });
});

describe('hostile shapes', () => {
  test('an object without a prototype is as good as any', () => {
    const options = Object.assign(Object.create(null), {
      attempts: 2,
      backoff: Object.assign(Object.create(null), { kind: 'constant', delayMs: 7 }),
      retryAfter: Object.assign(Object.create(null), { maxMs: 1 }),
    });
    expect(refused(options)).toBeUndefined();
    const policy = resolvePolicy(options, DEFAULTS);
    expect(policy).toMatchObject({ attempts: 2, retryAfter: { maxMs: 1, mode: 'extend' } });
    expect(delayMs(policy.backoff, 1, () => 0)).toBe(7);
  });

  test('a bad option of an object without a prototype is refused as any', () => {
    const options = Object.assign(Object.create(null), { attempts: Object.create(null) });
    expect(refused(options)).toMatchObject({ code: 'bad-option', option: 'retry.attempts' });
  });

  test.each([
    { name: 'Math', options: Math },
    {
      name: 'arguments',
      options: (function (..._: unknown[]) {
        // biome-ignore lint/complexity/noArguments: it is what somebody may pass on by mistake
        return arguments;
      })(),
    },
    { name: 'what calls itself something', options: { [Symbol.toStringTag]: 'Options' } },
  ])('what only looks plain is refused: $name', ({ options }) => {
    expect(refused(options)?.message).toMatch(/^retry must be an object/);
  });

  test.each([
    { options: { backoff: { kind: ['constant'], delayMs: 5 } }, option: 'retry.backoff' },
    { options: { mirrors: [['https://b.test']] }, option: 'retry.mirrors[0]' },
    { options: { circuit: ['reject'] }, option: 'retry.circuit' },
  ])('a list of one text is no text: $option', ({ options, option }) => {
    expect(refused(options)).toMatchObject({ code: 'bad-option', option });
  });

  test('where there is nothing to do instead, nothing is said of it', () => {
    expect(refused({ backoff: constant(-5) })?.message).toBe(
      'retry.backoff.delayMs must be a number from 0 to 2147483647, got -5',
    );
    expect(refusal(() => number(0, 1)(5, 'x'))?.message).toBe('x must be a number from 0 to 1, got 5');
    expect(refused({ hedge: { afterMs: 1, max: 0 } })?.message).toBe(
      'retry.hedge.max must be a whole number from 1 to 10, got 0',
    );
  });

  // structuredClone drops what is inherited: such a policy means something else on the other side, or nothing at all.
  test.each<{ name: string; inherited: object }>([
    { name: 'attempts', inherited: { attempts: Number.NaN } },
    { name: 'retries', inherited: { retries: -5 } },
    { name: 'retryAfter', inherited: { retryAfter: { maxMs: Number.NaN, mode: 'nonsense' } } },
    { name: 'backoff', inherited: { backoff: constant(Number.NaN) } },
  ])('inherited $name are refused or have no effect', ({ inherited }) => {
    const options = Object.create(inherited);
    if (refused(options)) return;
    expect(resolvePolicy(options, DEFAULTS)).toEqual(DEFAULTS);
  });

  test.each<{ name: string; backoff: object }>([
    { name: 'all fields', backoff: Object.create({ kind: 'constant', delayMs: Number.NaN }) },
    { name: 'the number', backoff: Object.assign(Object.create({ delayMs: Number.NaN }), { kind: 'constant' }) },
    { name: 'the wrapped one', backoff: Object.assign(Object.create({ of: constant(-5) }), { kind: 'full-jitter' }) },
    { name: 'the kind', backoff: Object.assign(Object.create({ kind: 'constant' }), { delayMs: 5 }) },
  ])('a backoff that inherits $name is refused', ({ backoff }) => {
    expect(refused({ backoff })?.code).toBe('bad-option');
  });

  class Options {
    attempts = 3;
  }
  test.each<{ name: string; value: unknown }>([
    { name: 'a Map', value: new Map([['attempts', 3]]) },
    { name: 'a Set', value: new Set(['attempts']) },
    { name: 'a Date', value: new Date(0) },
    { name: 'a RegExp', value: /attempts/ },
    { name: 'a Promise', value: Promise.resolve({ attempts: 3 }) },
    { name: 'a boxed number', value: Object(3) },
    { name: 'an Error', value: new Error('attempts') },
    { name: 'an ArrayBuffer', value: new ArrayBuffer(8) },
  ])('$name is no object of options', ({ value }) => {
    expect(refused(value)).toMatchObject({ code: 'bad-option', option: 'retry' });
    expect(refused({ retryAfter: value })).toMatchObject({ code: 'bad-option', option: 'retry.retryAfter' });
  });

  test('something that is an object of another kind is not told to be an object', () => {
    // "must be an object, got an object" helps nobody.
    expect(refused(new Map())?.message).not.toMatch(/must be an object, got an object$/);
  });

  test("an instance of somebody's own class is taken for its own fields or refused, never half", () => {
    const options = new Options();
    if (refused(options)) return;
    expect(resolvePolicy(options, DEFAULTS)).toEqual({ ...DEFAULTS, attempts: 3 });
  });

  test('a getter that gives a bad value is refused as that value', () => {
    const options = {
      get attempts() {
        return Number.NaN;
      },
    };
    expect(refused(options)).toMatchObject({ code: 'bad-option', option: 'retry.attempts' });
  });

  test('a getter that throws is not swallowed', () => {
    const options = {
      get attempts(): number {
        throw new Error('from the getter');
      },
    };
    expect(() => checkRetryOptions(options, 'retry')).toThrow();
  });

  test('a backoff that wraps itself is refused, not followed for ever', () => {
    const loop: Record<string, unknown> = { kind: 'full-jitter' };
    loop.of = loop;
    expect(refused({ backoff: loop })?.code).toBe('bad-option');
  });

  test('as many layers of jitter as the message allows are accepted, one more is not', () => {
    const nested = (levels: number): Backoff => (levels === 0 ? constant(1_000) : equalJitter(nested(levels - 1)));
    const most = Number(/at most (\d+) jitters/.exec(refused({ backoff: nested(1_000) })?.message ?? '')?.[1]);
    expect(refused({ backoff: nested(most) })).toBeUndefined();
    expect(refused({ backoff: nested(most + 1) })).toMatchObject({ code: 'bad-option' });
  });

  test('a backoff nested 100 000 deep is refused or evaluated, without running out of stack', () => {
    let deep: Backoff = constant(1_000);
    for (let level = 0; level < 100_000; level++) deep = equalJitter(deep);
    if (refused({ backoff: deep })) return;
    expect(delayMs(deep, 1, () => 0.5)).toBeGreaterThanOrEqual(0);
  });

  test('a list of 200 000 waits is refused or evaluated, without running out of stack', () => {
    const long = list(Array.from({ length: 200_000 }, () => 5));
    if (refused({ backoff: long })) return;
    expect(delayMs(long, 1, () => 0)).toBe(5);
  });

  test('nothing that is refused leaves a trace on Object.prototype', () => {
    refused(JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('good options', () => {
  test.each<{ name: string; options: object }>([
    { name: 'none', options: {} },
    { name: 'the defaults', options: DEFAULTS },
    { name: 'the defaults of navigations', options: NAVIGATION_DEFAULTS },
    { name: 'all undefined', options: Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, undefined])) },
    {
      name: 'the least of everything',
      options: { attempts: 1, methods: [], statuses: [], attemptTimeoutMs: 1, totalMs: 1, maxReplayBytes: 0 },
    },
    {
      name: 'the most of everything',
      options: { attempts: 10_000, retries: 9_999, attemptTimeoutMs: 2 ** 31 - 1, totalMs: 50_000 },
    },
    { name: 'no retries', options: { retries: 0 } },
    { name: 'attempts and retries that agree', options: { attempts: 4, retries: 3 } },
    { name: 'three numbers that agree', options: { attempts: 4, retries: 3, maxAttempts: 3 } },
    { name: 'two deadlines that agree', options: { totalMs: 9, maxAge: 9 } },
    {
      name: 'the names of Fetch Retry',
      options: { maxAttempts: 3, initialDelay: 500, backoffFactor: 1.5, maxAge: 20_000, retryNonIdempotent: true },
    },
    { name: 'no backoff beside initialDelay', options: { backoff: undefined, initialDelay: 5, backoffFactor: 2 } },
    { name: 'initialDelay, but not after 429 and 503', options: { initialDelay: 5, throttledBackoff: constant(5) } },
    { name: 'a status for GET only', options: { statuses: [{ status: 404, only: 'get' }] } },
    { name: 'a method of its own', options: { methods: ['GET', 'PROPFIND', 'M-SEARCH'] } },
    {
      name: 'statuses',
      options: { statuses: [100, 599, { status: 500 }, { status: 409, only: 'idempotency-key', retries: 0 }] },
    },
    { name: 'statuses of Retry-After', options: { retryAfter: { statuses: [429, 503] } } },
    { name: 'no statuses of Retry-After', options: { retryAfter: { statuses: [] } } },
    { name: 'retried statuses of Retry-After', options: { retryAfter: { statuses: 'retried' } } },
    { name: 'a cap of 24 h', options: { retryAfter: { maxMs: 86_400_000 } } },
    { name: 'a constant', options: { backoff: constant(0) } },
    { name: 'linear', options: { backoff: linear({ stepMs: 5 }) } },
    { name: 'exponential', options: { backoff: exponential({ baseMs: 5, factor: 1 }) } },
    { name: 'a list', options: { backoff: list([0]) } },
  ])('$name', ({ options }) => {
    expect(refused(options)).toBeUndefined();
  });

  test('property: every backoff of the builders is accepted', () => {
    fc.assert(
      fc.property(anyBackoff, (backoff) => {
        expect(refused({ backoff, throttledBackoff: backoff })).toBeUndefined();
      }),
    );
  });
});

describe('the budget', () => {
  const check = (options: unknown) => refusal(() => checkBudgetOptions(options, 'budget'));

  test.each(['capacity', 'retryCost', 'throttledCost', 'successCredit', 'refillPerSecond'])('%s', (name) => {
    expect(check({ [name]: 0 })).toBeUndefined();
    const room = { capacity: Number.MAX_VALUE };
    expect(check({ ...room, [name]: 1.5 })).toBeUndefined();
    expect(check({ ...room, [name]: Number.MAX_VALUE })).toBeUndefined();
    for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, 5n, [5], {}]) {
      const error = check({ [name]: bad });
      expect(error).toMatchObject({ code: 'bad-option', option: `budget.${name}` });
      expect(error?.message).toContain('must be a number of at least 0, got ');
    }
  });

  test.each([
    { options: { capacity: 0.5 }, option: 'retryCost' },
    { options: { retryCost: 21 }, option: 'retryCost' },
    { options: { capacity: 5, throttledCost: 6 }, option: 'throttledCost' },
  ])('$options: a retry that nothing could ever pay for', ({ options, option }) => {
    expect(check(options)).toMatchObject({ code: 'bad-option', option: `budget.${option}` });
    expect(check({ ...options, capacity: 0 })).toBeUndefined();
  });

  test('windowed: all of it, and nothing of the other', () => {
    const windowed = { kind: 'windowed', ratio: 0.1, perSecond: 10, windowMs: 10_000 };
    expect(check(windowed)).toBeUndefined();
    expect(check({ ...windowed, ratio: 0, perSecond: 0 })).toBeUndefined();
    for (const name of ['ratio', 'perSecond', 'windowMs']) {
      expect(check({ ...windowed, [name]: undefined })).toMatchObject({ option: `budget.${name}` });
      expect(check({ ...windowed, [name]: -1 })).toMatchObject({ option: `budget.${name}` });
    }
    expect(check({ ...windowed, windowMs: 0 })).toMatchObject({ option: 'budget.windowMs' });
    expect(check({ ...windowed, capacity: 5 })).toMatchObject({ code: 'unknown-option', option: 'budget.capacity' });
    expect(check({ kind: 'sliding' })).toMatchObject({ code: 'bad-option', option: 'budget.kind' });
  });

  test('its defaults are good, others are unknown', () => {
    expect(check(BUDGET_DEFAULTS)).toBeUndefined();
    expect(check({})).toBeUndefined();
    expect(check({ size: 5 })).toMatchObject({ code: 'unknown-option', option: 'budget.size' });
    expect(check({ size: 5 })?.message).toContain('capacity');
    expect(check(null)).toMatchObject({ code: 'bad-option', option: 'budget' });
  });
});

describe('the checks by themselves', () => {
  test.each<{ name: string; check: Check; good: unknown[]; bad: unknown[] }>([
    { name: 'flag', check: flag, good: [true, false], bad: [0, 1, '', 'true', null, undefined, Object(true)] },
    { name: 'func', check: func, good: [() => {}, class {}], bad: [null, 'f', {}, undefined] },
    { name: 'text', check: text, good: ['a', ' '], bad: ['', 5, null, undefined, Object('a'), ['a']] },
    {
      name: 'number',
      check: number(-1, 2),
      good: [-1, 0, 1.5, 2],
      bad: [-1.01, 2.01, Number.NaN, Number.NEGATIVE_INFINITY, '1', 1n, null, Object(1), [1]],
    },
    { name: 'whole number', check: number(0, 9, { whole: true }), good: [0, 9], bad: [0.5, 10, -1, '5'] },
    { name: 'duration', check: duration(), good: [0, 0.5, 2_147_483_647], bad: [-1, 2_147_483_648, Number.NaN] },
    { name: 'duration in a range', check: duration(5, 6), good: [5, 6], bad: [4, 7] },
    { name: 'one of', check: oneOf('a', 'b'), good: ['a', 'b'], bad: ['c', '', 'A', ['a'], null, Object('a')] },
    {
      name: 'list',
      check: arrayOf(flag),
      good: [[], [true], [true, false]],
      bad: [[1], 'ab', null, {}, new Set(), [true, 0]],
    },
    { name: 'list that is not empty', check: arrayOf(flag, { min: 1 }), good: [[true]], bad: [[], [1]] },
    {
      name: 'method',
      check: method,
      good: ['GET', 'POST', 'M-SEARCH', '1'],
      bad: ['get', 'Get', 'GET ', 'G T', 'GET\n', '', 5, 'G(T'],
    },
    {
      name: 'object',
      check: object({ a: flag }),
      good: [{}, { a: true }, { a: undefined }],
      bad: [{ a: 1 }, { b: 1 }, null, [], 'a'],
    },
  ])('$name', ({ check, good, bad }) => {
    for (const value of good) expect(refusal(() => check(value, 'option'))).toBeUndefined();
    for (const value of bad) expect(refusal(() => check(value, 'option'))?.option).toMatch(/^option/);
  });

  test.each([
    { check: arrayOf(flag, { min: 1 }), value: [], message: 'option must be a list that is not empty, got a list' },
    { check: arrayOf(flag), value: 5, message: 'option must be a list, got 5' },
    { check: func, value: 'f', message: "option must be a function, got 'f'; or left out" },
    { check: text, value: '', message: "option must be a text that is not empty, got ''" },
    { check: duration(1, 5, 'wait less'), value: 6, message: 'option must be a number from 1 to 5, got 6; wait less' },
    { check: number(1, 5), value: 6, message: 'option must be a number from 1 to 5, got 6' },
  ])('says: $message', ({ check, value, message }) => {
    expect(refusal(() => check(value, 'option'))?.message).toBe(message);
  });
});

describe('properties', () => {
  const hostileNumber = fc.constantFrom<unknown>(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    -0,
    '5',
    '',
    null,
    undefined,
    5n,
    2 ** 31,
    Number.MAX_VALUE,
    5e-324,
  );
  const anyNumber = fc.oneof({ weight: 4, arbitrary: durationMs }, { weight: 1, arbitrary: hostileNumber });
  /** A good backoff, with one of its numbers or its parts sometimes exchanged for something else. */
  const anyShape: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 4, arbitrary: anyBackoff },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          anyBackoff,
          fc.constantFrom('delayMs', 'maxMs', 'baseMs', 'factor', 'of', 'upToMs', 'order', 'ratio'),
          anyNumber,
        )
        .map(([backoff, field, value]) => (field in backoff ? { ...backoff, [field]: value } : backoff)),
    },
    { weight: 1, arbitrary: anyBackoff.map((backoff) => Object.create(backoff)) },
    { weight: 1, arbitrary: fc.anything() },
  );
  const anyOptions = fc.record(
    {
      attempts: fc.oneof(fc.integer({ min: 1, max: 10_000 }), hostileNumber),
      methods: fc.array(fc.constantFrom('GET', 'PUT', 'PURGE')),
      statuses: fc.array(fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constant({ status: 503, retries: 2 }))),
      backoff: anyShape,
      throttledBackoff: anyShape,
      retryAfter: fc.record(
        {
          mode: fc.constantFrom('extend', 'replace', 'ignore'),
          maxMs: anyNumber,
          overMax: fc.constantFrom('give-up', 'truncate'),
        },
        { requiredKeys: [] },
      ),
      attemptTimeoutMs: anyNumber,
      totalMs: fc.oneof(fc.integer({ min: 1, max: 50_000 }), hostileNumber),
      maxReplayBytes: anyNumber,
    },
    { requiredKeys: [] },
  );

  test('options that pass are plain data and give whole waits within [0, 2147483647], whatever happens', () => {
    let passed = 0;
    fc.assert(
      fc.property(
        anyOptions,
        chance,
        fc.constantFrom(1, 2, 31, 32, 1_025, 10_000),
        fc.constantFrom(null, '0', '5', '9'.repeat(30), 'soon'),
        (options, random, retry, retryAfter) => {
          if (refused(options)) return;
          passed++;
          const policy = resolvePolicy(options as Parameters<typeof resolvePolicy>[0], DEFAULTS);
          const clone = structuredClone(policy);
          expect(clone).toEqual(policy);
          for (const backoff of [policy.backoff, policy.throttledBackoff, clone.backoff, clone.throttledBackoff]) {
            const waits = delayMs(backoff, retry, () => random, 5);
            expect(waits >= 0 && waits <= 2_147_483_647).toBe(true);
          }
          const decision = decide({
            outcome: { kind: 'response', status: 503, time: { retryAfter, date: null, age: null } },
            request: requestFacts(),
            policy,
            attempt: 1,
            now: 0,
            deadline: Number.MAX_SAFE_INTEGER,
            replayable: true,
            online: true,
            affordable: true,
            previousDelayMs: undefined,
            random: () => random,
          });
          // `now` is 0 and the deadline out of reach: only what the server asks for can be too much.
          if (decision.do !== 'retry')
            expect(decision).toMatchObject({ reason: expect.stringMatching(/^(attempts|retry-after|final-status)$/) });
          else expect(decision.delayMs >= 0 && decision.delayMs <= 2_147_483_647).toBe(true);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(passed).toBeGreaterThan(200);
  });

  test('whatever is given, it passes or is refused with one error that names a path', () => {
    const given = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
      fc.dictionary(
        fc.constantFrom(
          'attempts',
          'retries',
          'methods',
          'statuses',
          'backoff',
          'retryAfter',
          'totalMs',
          'x',
          '__proto__',
        ),
        fc.anything({ withBigInt: true, withNullPrototype: true }),
      ),
    );
    let refusals = 0;
    fc.assert(
      fc.property(given, (options) => {
        const error = refused(options);
        if (!error) return;
        refusals++;
        expect(error.option).toMatch(/^retry/);
        expect(error.message).toContain(error.option);
        expect(['bad-option', 'unknown-option']).toContain(error.code);
      }),
      { numRuns: 3_000 },
    );
    expect(refusals).toBeGreaterThan(1_000);
  });
});

describe('what messages say', () => {
  const messageOf = (options: unknown, path = 'retry') => refusal(() => checkRetryOptions(options, path))?.message;
  test.each<{ options: unknown; message: string }>([
    { options: { match: 1 }, message: 'retry.match is not an option; it belongs beside `retry`, to a route' },
    { options: { classify: 1 }, message: 'retry.classify is not an option; it belongs beside `retry`, to a route' },
    {
      options: { classifyBody: 1 },
      message: 'retry.classifyBody is not an option; it belongs beside `retry`, to a route',
    },
    {
      options: { raceNetwork: 1 },
      message: 'retry.raceNetwork is not an option; it belongs beside `retry`, to a route',
    },
    { options: { name: 1 }, message: 'retry.name is not an option; it belongs beside `retry`, to a route' },
    { options: { hedge: { after: 1 } }, message: 'retry.hedge.after is not an option; there are afterMs, max' },
    {
      options: { hardTotal: new Map() },
      message: 'retry.hardTotal must be true or false, got an object that is not plain',
    },
    { options: { hardTotal: /x/ }, message: 'retry.hardTotal must be true or false, got a RegExp' },
    { options: { hardTotal: [] }, message: 'retry.hardTotal must be true or false, got a list' },
    { options: { hardTotal: {} }, message: 'retry.hardTotal must be true or false, got an object' },
    { options: { hardTotal: () => 1 }, message: 'retry.hardTotal must be true or false, got a function' },
    { options: { hardTotal: 5n }, message: 'retry.hardTotal must be true or false, got 5n' },
    { options: { hardTotal: 'x' }, message: "retry.hardTotal must be true or false, got 'x'" },
    { options: { hardTotal: null }, message: 'retry.hardTotal must be true or false, got null' },
    { options: { hardTotal: Symbol('x') }, message: 'retry.hardTotal must be true or false, got Symbol(x)' },
  ])('$message', ({ options, message }) => expect(messageOf(options)).toBe(message));

  test('the options themselves have no path', () => {
    expect(messageOf(5, '')).toMatch(/^options must be an object, got 5; it may have attempts, /);
    const top = object({ a: flag });
    expect(refusal(() => top({ b: 1 }, ''))?.message).toBe('b is not an option; there are a');
    expect(refusal(() => top({ a: 1 }, ''))?.option).toBe('a');
  });

  test.each([
    { hedge: { afterMs: 'p95' } },
    { hedge: { afterMs: 1, max: 10 } },
    { hedge: false },
    { hedge: undefined },
  ])('%j is good', (options) => expect(refused(options)).toBeUndefined());
});

test('every option of a policy is one that says how to retry, and nothing that is inherited', () => {
  const others = ['retries', 'maxAttempts', 'initialDelay', 'backoffFactor', 'maxAge'];
  for (const name of [...Object.keys(DEFAULTS), ...others]) expect(isRetryOption(name)).toBe(true);
  for (const name of ['match', 'toString', '__proto__', '']) expect(isRetryOption(name)).toBe(false);
});

describe('what is refused with a remedy', () => {
  const wrong = (value: string) =>
    `retry.mirrors[0] must be an origin in small letters, without a path, got '${value}'; such as 'https://mirror.example'`;
  test.each([
    'xhttps://a.test',
    'https://a.test:123456',
    'https://a.test:',
    'https://[::1',
    'https://[::g]',
    'https://',
  ])('the mirror %s', (value) => expect(refused({ mirrors: [value] })?.message).toBe(wrong(value)));

  test.each(['http://a.test', 'https://a.test', 'https://[::1]', 'http://[::1]:8080', 'http://127.0.0.1:81'])(
    'and not %s',
    (value) => expect(refused({ mirrors: [value] })).toBeUndefined(),
  );

  test('POST and PATCH', () => {
    expect(refused({ methods: ['POST'] })?.message).toBe(
      "retry.methods[0] must be idempotent, got 'POST'; to repeat POST and PATCH without a key, set `retryNonIdempotent: true`",
    );
  });

  test('a cost above the capacity', () => {
    expect(refusal(() => checkBudgetOptions({ retryCost: 21 }, 'budget'))?.message).toBe(
      'budget.retryCost must not be more than capacity (20), got 21; no retry could ever be paid for',
    );
  });

  test('two words for one thing', () => {
    expect(refused({ attempts: 4, retries: 4 })?.message).toBe(
      'retry.retries must be one less than attempts (4), got 4; give one of the two',
    );
  });
});

test('a check asks for nothing that it was not told to', () => {
  expect(refusal(() => number(0, 1)(0.5, 'x'))).toBeUndefined();
  expect(refusal(() => object({ a: flag })({}, 'x'))).toBeUndefined();
});
