import fc from 'fast-check';
import { LEASE_MS, type OutboxEntry, type OutboxFailure, type Sent } from '../../src/policy/outbox-entry.ts';
import { AROUND } from './arbitraries.ts';

const HOUR_MS = 3_600_000;

/** An order that waits, changed by `over`. */
export const entryOf = (over: Partial<OutboxEntry> = {}): OutboxEntry => ({
  id: 'o1',
  outbox: 'outbox',
  order: 'outbox',
  request: {
    url: 'https://app.test/api/orders?x=1',
    method: 'POST',
    headers: [['content-type', 'text/plain']],
    mode: 'cors',
    credentials: 'same-origin',
    redirect: 'follow',
    cache: 'default',
    referrer: 'about:client',
    referrerPolicy: '',
    integrity: '',
  },
  group: 'data',
  repeatable: true,
  bytes: 3,
  queuedAt: AROUND,
  expiresAt: AROUND + 24 * HOUR_MS,
  state: 'waiting',
  sends: 0,
  notBefore: AROUND,
  ...over,
});

const REASONS: readonly OutboxFailure[] = ['refused', 'unauthorized', 'unknown', 'expired', 'damaged'];

const state: fc.Arbitrary<Partial<OutboxEntry>> = fc.oneof(
  fc.record({ state: fc.constant('waiting' as const), asked: fc.boolean() }),
  fc.constant({ state: 'sending' as const, leaseUntil: AROUND + LEASE_MS }),
  fc.record({ state: fc.constant('sent' as const), status: fc.constantFrom(200, 204), endedAt: fc.constant(AROUND) }),
  fc.record({
    state: fc.constant('failed' as const),
    reason: fc.constantFrom(...REASONS),
    endedAt: fc.constant(AROUND),
  }),
);

/** An entry as our own code leaves one. */
export const anyEntry: fc.Arbitrary<OutboxEntry> = fc
  .tuple(
    fc.record(
      {
        id: fc.uuid(),
        order: fc.constantFrom('a', 'b', 'c'),
        repeatable: fc.boolean(),
        sends: fc.nat({ max: 2_000 }),
        notBefore: fc.integer({ min: AROUND - HOUR_MS, max: AROUND + HOUR_MS }),
        owner: fc.constantFrom('ann', 'bob'),
        doneAt: fc.constantFrom('/done', '/done/'),
      },
      { requiredKeys: ['id', 'order', 'repeatable', 'sends', 'notBefore'] },
    ),
    state,
  )
  .map(([some, more]) => entryOf({ ...some, ...more }));

export const anySent: fc.Arbitrary<Sent> = fc.oneof(
  fc.constantFrom('lost' as const, 'unsent' as const),
  fc.record(
    {
      status: fc.oneof(
        fc.integer({ min: 200, max: 599 }),
        fc.constantFrom(0, 200, 204, 401, 403, 408, 409, 425, 429, 503),
      ),
      redirectedTo: fc.constantFrom('/done', '/done/1', '/donee', '/login', 'https://portal.test/'),
      opaque: fc.constant(true),
      unprepared: fc.constant(true),
      retryAfterMs: fc.oneof(fc.nat({ max: 200_000_000 }), fc.constantFrom(0, Number.MAX_SAFE_INTEGER)),
      body: fc.string(),
    },
    { requiredKeys: ['status'] },
  ),
);
