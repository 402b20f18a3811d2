import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CIRCUIT_DEFAULTS, type Circuit, CLOSED } from '../../src/policy/circuit.ts';
import { NO_HOLD } from '../../src/policy/hold.ts';
import {
  abandoned,
  failed,
  freeAt,
  hastened,
  headsOf,
  isExpired,
  isOver,
  isPending,
  LEASE_MS,
  leased,
  type OutboxEntry,
  queued,
  type Sent,
  settled,
} from '../../src/policy/outbox-entry.ts';
import { AROUND, chance } from '../support/arbitraries.ts';
import { anyEntry, anySent, entryOf } from '../support/outbox-entries.ts';
import { GUARDS, recordOf } from '../support/records.ts';

const NOW = AROUND + 60_000;
const DAY_MS = 86_400_000;
const sending = (over: Partial<OutboxEntry> = {}) => entryOf({ state: 'sending', sends: 1, leaseUntil: NOW, ...over });
/** Chance 1: the whole of a wait. */
const outcome = (sent: Sent, over: Partial<OutboxEntry> = {}) => settled(sending(over), sent, NOW, () => 1);

test('a lease is two minutes, and counts as a sending', () => {
  expect(LEASE_MS).toBe(120_000);
  expect(leased(entryOf({ sends: 2 }), NOW)).toEqual(
    entryOf({ state: 'sending', sends: 3, leaseUntil: NOW + 120_000 }),
  );
});

describe('after it was sent', () => {
  test.each([200, 201, 204, 299])('%i is delivery', (status) => {
    expect(outcome({ status, body: 'taken' })).toEqual(
      // Its headers may be secrets.
      entryOf({
        state: 'sent',
        sends: 1,
        status,
        answer: 'taken',
        endedAt: NOW,
        request: { ...entryOf({}).request, headers: [] },
      }),
    );
  });

  test('an answer without a body has none', () => {
    expect(outcome({ status: 200 })).not.toHaveProperty('answer');
  });

  test.each([
    { redirectedTo: '/login', doneAt: undefined },
    { redirectedTo: '/login', doneAt: '/orders' },
    { redirectedTo: '/orders-login', doneAt: '/orders' },
    { redirectedTo: 'https://portal.test/orders', doneAt: '/orders' },
  ])('B098 a 200 from $redirectedTo is none where $doneAt would be', ({ redirectedTo, doneAt }) => {
    const over = doneAt === undefined ? {} : { doneAt };
    expect(outcome({ status: 200, redirectedTo }, over)).toMatchObject({ state: 'waiting', status: 200 });
    // Its server may have seen it before somebody on the way answered.
    expect(outcome({ status: 200, redirectedTo }, { ...over, repeatable: false })).toMatchObject({
      state: 'failed',
      reason: 'unknown',
    });
  });

  test.each([
    { redirectedTo: '/orders', doneAt: '/orders' },
    { redirectedTo: '/orders/7', doneAt: '/orders' },
    { redirectedTo: '/orders/7', doneAt: '/orders/' },
  ])('a 200 from $redirectedTo is delivery below $doneAt', ({ redirectedTo, doneAt }) => {
    expect(outcome({ status: 200, redirectedTo }, { doneAt }).state).toBe('sent');
  });

  test('what cannot be read is delivery: its server has answered', () => {
    expect(outcome({ status: 0, opaque: true }, { repeatable: false })).toMatchObject({ state: 'sent', status: 0 });
  });

  test.each([400, 402, 404, 405, 410, 411, 413, 422, 424, 426, 428, 430, 451, 499])(
    'B100 %i is refused, with the answer to show why',
    (status) => {
      expect(outcome({ status, body: 'no' })).toEqual(
        entryOf({ state: 'failed', sends: 1, status, answer: 'no', reason: 'refused', endedAt: NOW }),
      );
      expect(outcome({ status }, { repeatable: false })).toMatchObject({ reason: 'refused' });
    },
  );

  test.each([401, 403])('B101 %i is set aside, and kept if nobody could say now who is there', (status) => {
    expect(outcome({ status })).toMatchObject({ state: 'failed', reason: 'unauthorized', status });
    expect(outcome({ status, unprepared: true }, { repeatable: false })).toMatchObject({ state: 'waiting', status });
  });

  test.each([0, 300, 304, 399, 408, 425, 429, 500, 502, 503, 504, 599])('%i keeps it', (status) => {
    expect(outcome({ status })).toEqual(
      entryOf({ state: 'waiting', sends: 1, status, notBefore: NOW + 2_000, asked: false }),
    );
  });

  test.each([425, 429, 503])('%i keeps also what must not be sent twice: it was not even begun', (status) => {
    expect(outcome({ status }, { repeatable: false })).toMatchObject({ state: 'waiting' });
  });

  test.each([0, 304, 408, 500, 502, 504])('%i sets aside what must not be sent twice', (status) => {
    expect(outcome({ status }, { repeatable: false })).toMatchObject({ state: 'failed', reason: 'unknown', status });
  });

  test('409 is about another request with the same key, five times at most, however often it was sent', () => {
    expect(outcome({ status: 409 }, { sends: 40 })).toMatchObject({ state: 'waiting', conflicts: 1 });
    expect(outcome({ status: 409, retryAfterMs: 3_600_000 }, { conflicts: 4 })).toMatchObject({
      state: 'waiting',
      conflicts: 5,
      notBefore: NOW + 3_600_000,
    });
    expect(outcome({ status: 409 }, { conflicts: 5 })).toMatchObject({ state: 'failed', reason: 'refused' });
    expect(outcome({ status: 409 }, { repeatable: false })).toMatchObject({ state: 'failed', reason: 'refused' });
    expect(outcome({ status: 503 })).not.toHaveProperty('conflicts');
  });

  test('without an answer it is kept if it may be sent again, and else nobody knows', () => {
    expect(outcome('lost')).toEqual(entryOf({ state: 'waiting', sends: 1, notBefore: NOW + 2_000, asked: false }));
    expect(outcome('lost', { repeatable: false })).toEqual(
      entryOf({ state: 'failed', sends: 1, repeatable: false, reason: 'unknown', endedAt: NOW }),
    );
  });

  test('what was not sent at all is kept, whatever it is', () => {
    expect(outcome('unsent', { repeatable: false })).toMatchObject({ state: 'waiting', notBefore: NOW + 2_000 });
  });
});

describe('what is to be kept', () => {
  test('goes at once if it was never sent', () => {
    const entry = entryOf({ notBefore: NOW });
    expect(queued(entry, NOW, () => 1)).toBe(entry);
  });

  test.each([
    { sends: 1, waitMs: 2_000 },
    { sends: 4, waitMs: 16_000 },
  ])('waits $waitMs ms after $sends attempts', ({ sends, waitMs }) => {
    const entry = entryOf({ sends, notBefore: NOW });
    expect(queued(entry, NOW, () => 1)).toEqual({ ...entry, notBefore: NOW + waitMs, asked: false });
  });
});

describe('a wait', () => {
  test.each([
    { sends: 1, least: 1_000, most: 2_000 },
    { sends: 2, least: 2_000, most: 4_000 },
    { sends: 8, least: 128_000, most: 256_000 },
    { sends: 9, least: 150_000, most: 300_000 },
    { sends: 5_000, least: 150_000, most: 300_000 },
  ])('after $sends: $least to $most ms', ({ sends, least, most }) => {
    expect(settled(sending({ sends }), 'lost', NOW, () => 0).notBefore).toBe(NOW + least);
    expect(settled(sending({ sends }), 'lost', NOW, () => 1).notBefore).toBe(NOW + most);
  });

  test.each([
    { retryAfterMs: 0, waitMs: 2_000, asked: false },
    { retryAfterMs: 2_000, waitMs: 2_000, asked: false },
    { retryAfterMs: 2_001, waitMs: 2_001, asked: true },
    { retryAfterMs: 3_600_000, waitMs: 3_600_000, asked: true },
    { retryAfterMs: DAY_MS + 1, waitMs: DAY_MS, asked: true },
  ])('of a server that asks for $retryAfterMs ms: $waitMs', ({ retryAfterMs, waitMs, asked }) => {
    expect(outcome({ status: 503, retryAfterMs })).toMatchObject({ notBefore: NOW + waitMs, asked });
  });
});

describe('the user wants it now', () => {
  test('what waits for a time of our own waits no longer', () => {
    const entry = entryOf({ notBefore: NOW + 5_000, asked: false });
    expect(hastened(entry, NOW)).toEqual({ ...entry, notBefore: NOW });
    expect(hastened(entryOf({ notBefore: NOW - 5_000 }), NOW).notBefore).toBe(NOW - 5_000);
  });

  test('what its server asked for stays', () => {
    const entry = entryOf({ notBefore: NOW + 5_000, asked: true });
    expect(hastened(entry, NOW)).toBe(entry);
  });

  test('what has failed gets all of its time once more', () => {
    const entry = entryOf({
      state: 'failed',
      reason: 'expired',
      endedAt: NOW - 1,
      status: 503,
      asked: true,
      sends: 4,
      conflicts: 5,
    });
    expect(hastened(entry, NOW)).toEqual(
      entryOf({ notBefore: NOW, asked: false, queuedAt: NOW, expiresAt: NOW + DAY_MS, status: 503, sends: 4 }),
    );
  });

  test.each(['sending', 'sent'] as const)('what is %s stays as it is', (state) => {
    const entry = entryOf({ state, notBefore: NOW + 1 });
    expect(hastened(entry, NOW)).toBe(entry);
  });
});

test('whose sender is gone is sent again, or nobody knows; nothing happens to any other', () => {
  expect(abandoned(sending(), NOW)).toEqual(entryOf({ sends: 1, notBefore: NOW }));
  expect(abandoned(sending({ repeatable: false }), NOW)).toEqual(
    entryOf({ sends: 1, repeatable: false, state: 'failed', reason: 'unknown', endedAt: NOW }),
  );
  for (const state of ['waiting', 'sent', 'failed'] as const) {
    const entry = entryOf({ state });
    expect(abandoned(entry, NOW)).toBe(entry);
  }
});

test('a failure has its reason and its time', () => {
  expect(failed(entryOf(), 'damaged', NOW)).toEqual(entryOf({ state: 'failed', reason: 'damaged', endedAt: NOW }));
});

test.each([
  { state: 'waiting', pending: true, over: false, expired: true },
  { state: 'sending', pending: true, over: false, expired: false },
  { state: 'sent', pending: false, over: true, expired: false },
  { state: 'failed', pending: false, over: true, expired: false },
] as const)('$state: pending $pending, over $over, expired $expired', ({ state, pending, over, expired }) => {
  const entry = entryOf({ state, endedAt: NOW });
  expect(isPending(entry)).toBe(pending);
  expect([isOver(entry, NOW + DAY_MS), isOver(entry, NOW + DAY_MS - 1)]).toEqual([over, false]);
  expect([isExpired(entry, entry.expiresAt), isExpired(entry, entry.expiresAt - 1)]).toEqual([expired, false]);
  // Of an older version, which knew no end.
  expect(isOver(entryOf({ state }), NOW)).toBe(over);
});

describe('the first of each order', () => {
  const named = (id: string, order: string, over: Partial<OutboxEntry> = {}) => entryOf({ id, order, ...over });
  const ids = (entries: OutboxEntry[], owner?: string) => headsOf(entries, owner).map(({ id }) => id);

  test('B104 is the one that came first and is still to be delivered', () => {
    const all = [
      named('1', 'a', { state: 'sent' }),
      named('2', 'a', { state: 'failed' }),
      named('3', 'a', { notBefore: NOW + 1e6 }),
      named('4', 'a'),
      named('5', 'b', { state: 'sending' }),
      named('6', 'b'),
    ];
    expect(ids(all)).toEqual(['3', '5']);
    expect(ids([])).toEqual([]);
  });

  test('is of the owner who is there', () => {
    const all = [named('1', 'a', { owner: 'ann' }), named('2', 'a', { owner: 'bob' }), named('3', 'a')];
    expect([ids(all), ids(all, 'ann'), ids(all, 'bob'), ids(all, 'eve')]).toEqual([['3'], ['1'], ['2'], []]);
  });

  test('property: nothing goes before what came earlier in its order', () => {
    fc.assert(
      fc.property(fc.array(anyEntry), fc.option(fc.constantFrom('ann', 'bob'), { nil: undefined }), (all, owner) => {
        const heads = headsOf(all, owner);
        for (const head of heads) {
          expect(isPending(head) && head.owner === owner).toBe(true);
          const earlier = all.slice(0, all.indexOf(head));
          expect(earlier.filter((one) => one.order === head.order && one.owner === owner && isPending(one))).toEqual(
            [],
          );
        }
        const orders = all.filter((one) => one.owner === owner && isPending(one)).map(({ order }) => order);
        expect(new Set(heads.map(({ order }) => order))).toEqual(new Set(orders));
        expect(heads).toHaveLength(new Set(orders).size);
      }),
    );
  });
});

describe('an origin may be sent what nobody waits for', () => {
  const at = (hold: typeof NO_HOLD, circuit: Partial<Circuit>, path = '/api') =>
    freeAt({ ...recordOf(20, NOW), hold, circuit: { ...CLOSED, ...circuit } }, path, NOW, GUARDS);

  test('at once, if nothing is known', () => expect(at(NO_HOLD, {})).toBe(0));
  test('after a hold of it, or of the path', () => {
    expect(at({ until: NOW + 5, paths: {} }, {})).toBe(NOW + 5);
    expect(at({ until: 0, paths: { '/api': { until: NOW + 7, at: NOW } } }, {})).toBe(NOW + 7);
    expect(at({ until: 0, paths: { '/api': { until: NOW + 7, at: NOW } } }, {}, '/other')).toBe(0);
  });
  test('once its open circuit may be probed, and after the hold as well', () => {
    expect(at(NO_HOLD, { openUntil: NOW + 9 })).toBe(NOW + 9);
    expect(at({ until: NOW + 20, paths: {} }, { openUntil: NOW + 9 })).toBe(NOW + 20);
    expect(at({ until: NOW + 5, paths: {} }, { openUntil: NOW + 9 })).toBe(NOW + 9);
  });
  test('while it is half-open, unless another probe is under way', () => {
    expect(at(NO_HOLD, { openUntil: NOW })).toBe(0);
    expect(at(NO_HOLD, { openUntil: NOW - 5, probes: [NOW + CIRCUIT_DEFAULTS.probeMs] })).toBe(NOW + 10_000);
  });
});

describe('property: whatever comes of it', () => {
  const { id: _, ...others } = entryOf();
  const steps = fc.oneof(
    fc.tuple(anySent, chance).map(
      ([sent, random]) =>
        (entry: OutboxEntry) =>
          settled(entry, sent, NOW, () => random),
    ),
    fc.constantFrom(
      (entry: OutboxEntry) => leased(entry, NOW),
      (entry: OutboxEntry) => abandoned(entry, NOW),
      (entry: OutboxEntry) => hastened(entry, NOW),
      (entry: OutboxEntry) => failed(entry, 'expired', NOW),
    ),
  );

  test('an entry stays what it is, and is in one of its states', () => {
    fc.assert(
      fc.property(anyEntry, fc.array(steps, { maxLength: 10 }), (before, all) => {
        const last = all.reduce((entry, step) => step(entry), before);
        // Once it is delivered it needs no headers.
        expect({ ...last.request, headers: [] }).toEqual({ ...before.request, headers: [] });
        const same = ['id', 'order', 'outbox', 'owner', 'repeatable', 'bytes', 'group', 'doneAt'] as const;
        for (const field of same) expect(last[field]).toEqual(before[field]);
        expect(['waiting', 'sending', 'sent', 'failed']).toContain(last.state);
        expect(last.expiresAt - last.queuedAt).toBe(others.expiresAt - others.queuedAt);
        expect(Number.isFinite(last.notBefore)).toBe(true);
        // Whoever has failed says why; nothing else does.
        if (last.state === 'failed') expect(last.reason).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test('sent is only what its server has taken, and nothing is sent twice that must not be', () => {
    fc.assert(
      fc.property(anyEntry, anySent, chance, (before, sent, random) => {
        const entry = leased(before, NOW);
        const next = settled(entry, sent, NOW, () => random);
        expect(next).not.toHaveProperty('leaseUntil');
        const answer = typeof sent === 'string' ? undefined : sent;
        const { status = -1, redirectedTo, opaque, unprepared, retryAfterMs = 0 } = answer ?? {};
        const good = status >= 200 && status <= 299;
        const there =
          redirectedTo === undefined ||
          (entry.doneAt !== undefined && (redirectedTo === '/done/1' || redirectedTo === entry.doneAt));
        expect(next.state === 'sent').toBe(opaque === true || (good && there));
        if (next.state === 'waiting') {
          const notBegun = sent === 'unsent' || [425, 429, 503].includes(status) || unprepared === true;
          expect(entry.repeatable || notBegun).toBe(true);
          const waitMs = next.notBefore - NOW;
          const asks = [401, 403].includes(status) ? 0 : Math.min(retryAfterMs, DAY_MS);
          expect(waitMs).toBeGreaterThanOrEqual(Math.max(1_000, asks));
          expect(waitMs).toBeLessThanOrEqual(Math.max(300_000, asks));
        } else expect(next.endedAt).toBe(NOW);
      }),
      { numRuns: 2_000 },
    );
  });
});
