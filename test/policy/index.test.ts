import { expect, test } from 'vitest';
import * as policy from '../../src/policy/index.ts';

test('the pure core has what it promises and nothing else', () => {
  expect(Object.keys(policy).sort()).toEqual([
    'BUDGET_DEFAULTS',
    'CIRCUIT_DEFAULTS',
    'DEFAULTS',
    'MAX_DELAY_MS',
    'NAVIGATION_DEFAULTS',
    'RetryLayerError',
    'additiveJitter',
    'affords',
    'checkRetryOptions',
    'constant',
    'credit',
    'decide',
    'decorrelatedJitter',
    'delayMs',
    'deposit',
    'equalJitter',
    'exponential',
    'fullBucket',
    'fullJitter',
    'linear',
    'list',
    'parseHttpDate',
    'parseRetryAfter',
    'presets',
    'proportionalJitter',
    'rateLimitWaitMs',
    'refill',
    'refund',
    'resolveBudget',
    'resolvePolicy',
    'skipReason',
    'spend',
  ]);
});
