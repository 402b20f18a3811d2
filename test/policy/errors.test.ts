import { expect, test } from 'vitest';
import { RetryLayerError } from '../../src/policy/errors.ts';

test('is an Error that programs tell by its name and code and people by its message', () => {
  const error = new RetryLayerError('bad-option', 'attempts must be at least 1, got 0', 'retry.attempts');
  expect(error).toBeInstanceOf(Error);
  expect(error.name).toBe('RetryLayerError');
  expect(error.code).toBe('bad-option');
  expect(error.option).toBe('retry.attempts');
  expect(String(error)).toBe('RetryLayerError: attempts must be at least 1, got 0');
});

test('an error that is about no option names none', () => {
  expect(new RetryLayerError('already-listening', 'listen() was called twice').option).toBeUndefined();
});
