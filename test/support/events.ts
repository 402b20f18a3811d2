import fc from 'fast-check';
import type { LayerEvent } from '../../src/protocol/index.ts';

/** What all events of one request have; it began at 1 000. */
export const about = {
  id: 'r1',
  at: 2_000,
  method: 'GET',
  url: 'https://app.test/a',
  group: 'data',
  elapsedMs: 1_000,
} as const;
export const notice = { at: 2_000, origin: 'https://app.test', group: 'data' } as const;
export const entry = { at: 2_000, id: 'e1', outbox: 'orders', method: 'POST', url: 'https://app.test/orders' } as const;

/** Any event of a few requests, entries and origins; instants are put in order by whoever uses it. */
export const anyEvent: fc.Arbitrary<LayerEvent> = (() => {
  const at = fc.integer({ min: 0, max: 100_000 });
  const request = fc.record({
    id: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
    at,
    method: fc.constantFrom('GET', 'PUT'),
    url: fc.constantFrom('https://app.test/a', 'https://b.test/b', 'no url'),
    group: fc.constantFrom('data', 'asset'),
    elapsedMs: fc.integer({ min: 0, max: 30_000 }),
  });
  const origin = fc.record({
    at,
    origin: fc.constantFrom('https://app.test', 'https://b.test'),
    group: fc.constant('data'),
  });
  const item = fc.record({
    at,
    id: fc.constantFrom('e1', 'e2', ''),
    outbox: fc.constant('orders'),
    method: fc.constant('POST'),
    url: fc.constant('https://app.test/orders'),
  });
  const attempt = fc.integer({ min: 1, max: 4 });
  const cause = fc.constantFrom('offline', 'hold', 'circuit');
  const state = fc.constantFrom('closed', 'open', 'half-open');
  const withType = <T extends object>(
    type: string,
    of: fc.Arbitrary<T>,
    more: Record<string, fc.Arbitrary<unknown>> = {},
  ) => fc.tuple(of, fc.record(more)).map(([a, b]) => ({ type, ...a, ...b }) as unknown as LayerEvent);
  return fc.oneof(
    withType('retry-scheduled', request, {
      attempt,
      delayMs: fc.integer({ min: 0, max: 10_000 }),
      cause: fc.constantFrom('status', 'network-error', 'timeout'),
      by: fc.constantFrom('backoff', 'retry-after', 'rate-limit'),
    }),
    withType('waiting', request, { cause }),
    withType('released', request, { cause }),
    withType('hedge-launched', request, { attempt }),
    withType('resumed', request),
    withType('recovered', request, { attempts: attempt, status: fc.constant(200) }),
    withType('gave-up', request, { attempts: fc.nat(4), reason: fc.constantFrom('attempts', 'budget') }),
    withType('budget-exhausted', origin),
    withType('hold-started', origin, { until: at }),
    withType('hold-ended', origin),
    withType('circuit-changed', origin, { from: state, to: state }),
    withType('queued', item),
    withType('queue-sent', item, { status: fc.constant(200), sends: attempt }),
    withType('queue-failed', item, { reason: fc.constantFrom('refused', 'expired'), sends: attempt }),
  );
})();
