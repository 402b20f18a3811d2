import { describe, expect, test } from 'vitest';
import { type CallOptions, inOurWords, toOverride } from '../../src/page/call-options.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';

describe('what a call may ask for', () => {
  test.each<{ options: CallOptions; override: object }>([
    { options: false, override: { off: true } },
    { options: {}, override: {} },
    { options: { retries: 0 }, override: { attempts: 1 } },
    { options: { attempts: 3, totalMs: 5_000, attemptTimeoutMs: 1_000, hedge: false }, override: { attempts: 3 } },
    { options: { retryNonIdempotent: true }, override: { retryNonIdempotent: true } },
  ])('$options', ({ options, override }) => {
    expect(toOverride(options)).toMatchObject(override);
  });

  test('the names of Fetch Retry; what it has besides is passed over', () => {
    const theirs = { maxAttempts: 2, maxAge: 9_000, retryNonIdempotent: false, initialDelay: 5 };
    expect(toOverride(inOurWords(theirs))).toEqual({ attempts: 3, totalMs: 9_000, retryNonIdempotent: false });
  });

  test.each<{ options: unknown; message: string }>([
    { options: { attempts: 0 }, message: 'retry.attempts must be a whole number from 1 to 10000, got 0; to switch' },
    { options: { attempts: 1.5 }, message: 'retry.attempts must be a whole number' },
    { options: { retries: -1 }, message: 'retry.retries must be a whole number from 0' },
    { options: { totalMs: 240_001 }, message: 'retry.totalMs must be a number from 1 to 240000, got 240001' },
    { options: { totalMs: Number.NaN }, message: 'retry.totalMs must be a number' },
    { options: { attemptTimeoutMs: '5' }, message: 'retry.attemptTimeoutMs must be a number' },
    { options: { hedge: { afterMs: 1 } }, message: 'retry.hedge must be false; hedges are set up by a route' },
    { options: { retryNonIdempotent: 1 }, message: 'retry.retryNonIdempotent must be true or false' },
    { options: { statuses: [404] }, message: 'retry.statuses is not an option of a call; there are attempts' },
    { options: { toString: 1 }, message: 'retry.toString is not an option' },
    { options: true, message: 'retry must be false or an object, got true' },
    { options: null, message: 'retry must be false or an object, got null' },
  ])('$options is refused', ({ options, message }) => {
    const refused = () => toOverride(options as CallOptions);
    expect(refused).toThrow(RetryLayerError);
    expect(refused).toThrow(message);
  });
});
