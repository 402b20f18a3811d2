import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { affords, type Bucket, deposit, fullBucket, refill, refund, spend } from '../../src/policy/budget.ts';
import { checkBudgetOptions } from '../../src/policy/check.ts';
import { isInitial } from '../../src/policy/origin-record.ts';
import { reviveRecord } from '../../src/policy/revive-record.ts';
import { createWorld, type WorldOptions } from '../support/engine-world.ts';
import { GUARDS, guardsWith, recordOf } from '../support/records.ts';
import type { Answer } from '../support/scripted-network.ts';

const KEY = { origin: 'https://app.test', group: 'data' };
const WINDOWED = { kind: 'windowed', ratio: 0.1, perSecond: 10, windowMs: 10_000 } as const;
const T0 = Date.UTC(2026, 6, 5, 12);

describe('row 28: a budget with ratio and floor', () => {
  const tokens = (bucket: Bucket, at: number, policy = WINDOWED) => refill(bucket, at, policy).tokens;

  test('0.1 a request and 10 a second, which expire after 10 s', () => {
    let bucket = fullBucket(T0, WINDOWED);
    expect(tokens(bucket, T0)).toBe(100);
    for (let n = 0; n < 50; n++) bucket = deposit(bucket, T0, WINDOWED);
    expect(tokens(bucket, T0)).toBeCloseTo(105);
    bucket = spend(bucket, 1, T0 + 5_000, WINDOWED);
    expect(tokens(bucket, T0 + 5_000)).toBeCloseTo(104);
    expect(tokens(bucket, T0 + 9_999)).toBeCloseTo(104);
    expect(tokens(bucket, T0 + 10_000)).toBeCloseTo(99);
    expect(tokens(bucket, T0 + 15_000)).toBeCloseTo(100);
  });

  test('what is not launched comes back, what succeeds does not', () => {
    const spent = spend(fullBucket(T0, WINDOWED), 1, T0, WINDOWED);
    expect(tokens(refund(spent, { cost: 1, launched: false, reservedAt: T0 }, T0, WINDOWED), T0)).toBe(100);
    expect(tokens(refund(spent, { cost: 1, launched: true, reservedAt: T0 }, T0, WINDOWED), T0)).toBe(99);
  });

  test('what comes back when it no longer counts is no income', () => {
    const spent = spend(fullBucket(T0, WINDOWED), 5, T0, WINDOWED);
    const back = refund(spent, { cost: 5, launched: false, reservedAt: T0 }, T0 + 10_000, WINDOWED);
    expect(tokens(back, T0 + 10_000)).toBe(100);
    const inTime = refund(spent, { cost: 5, launched: false, reservedAt: T0 }, T0 + 9_000, WINDOWED);
    expect([tokens(inTime, T0 + 9_000), tokens(inTime, T0 + 12_000)]).toEqual([100, 100]);
  });

  test('a clock that is set back a little pays nothing', () => {
    const spent = spend(fullBucket(T0, WINDOWED), 30, T0, WINDOWED);
    expect(tokens(spent, T0 - 100)).toBe(70);
  });

  test('property: small, never below zero, and after the window as new', () => {
    const step = fc.record({
      what: fc.constantFrom('deposit' as const, 'spend' as const, 'refund' as const),
      afterMs: fc.oneof(fc.nat({ max: 3_000 }), fc.integer({ min: -20_000, max: 20_000 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        let at = T0;
        let bucket = fullBucket(at, WINDOWED);
        for (const { what, afterMs } of steps) {
          at += afterMs;
          if (what === 'deposit') bucket = deposit(bucket, at, WINDOWED);
          else if (what === 'spend') bucket = spend(bucket, 1, at, WINDOWED);
          else bucket = refund(bucket, { cost: 1, launched: false, reservedAt: at }, at, WINDOWED);
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          expect(bucket.slots?.length).toBeLessThanOrEqual(21);
          expect(structuredClone(bucket)).toEqual(bucket);
        }
        const record = { ...recordOf(0, at, KEY), budget: bucket };
        expect(isInitial(record, at + 20_000, guardsWith(WINDOWED))).toBe(true);
      }),
    );
  });

  test('a record of the other kind, an old or a damaged one is read as far as it goes', () => {
    const revive = (budget: unknown, guards = guardsWith(WINDOWED)) =>
      reviveRecord({ ...recordOf(0, T0, KEY), budget }, T0, guards)?.budget;
    const spent = spend(fullBucket(T0, WINDOWED), 7, T0, WINDOWED);
    expect(revive(spent)?.tokens).toBe(93);
    expect(revive({ tokens: 3, at: T0 })?.tokens).toBe(100);
    expect(
      revive({ ...spent, slots: [[T0, -7], ['x', 1], null, [T0 - 1, Number.NaN], [T0 + 50_000, 9]] })?.tokens,
    ).toBe(93);
    expect(revive(spent, GUARDS)).toEqual({ tokens: 20, at: T0 });
  });

  /** One request after the other, each with its own answers. */
  async function play(calls: readonly (readonly Answer[])[], options: WorldOptions) {
    const script = calls.flat();
    const world = createWorld({ script, ...options });
    const attempts: number[] = [];
    for (const _ of calls) {
      const before = world.network.sent.length;
      await world.serve().catch(() => {});
      attempts.push(world.network.sent.length - before);
    }
    return { world, attempts };
  }

  test('a retry is paid for when it is scheduled; empty: in-flight ones go on, the last result is returned', async () => {
    const budget = { ...WINDOWED, ratio: 0, perSecond: 0.2 };
    const { world, attempts } = await play([[503, 200], [502, 200], [503]], { budget, policy: { attempts: 2 } });
    expect(attempts).toEqual([2, 2, 1]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'budget', status: 503 });
    // A window later there are two again.
    await world.time.advance(10_000);
    expect(world.book.affords(KEY, 2)).toBe(true);
  });

  test('ten requests pay for one retry', async () => {
    const good = Array.from({ length: 10 }, (): Answer[] => [200]);
    const budget = { ...WINDOWED, perSecond: 0 };
    const { attempts } = await play([...good, [503, 200], [503]], { budget, policy: { attempts: 2 } });
    expect(attempts.slice(10)).toEqual([2, 1]);
  });

  test('requests that succeed write nothing by themselves before 10 s', async () => {
    const { world } = await play([[200], [200], [200]], { budget: WINDOWED });
    await world.time.advance(9_000);
    expect(world.store.updates()).toBe(0);
  });
});

describe('row 26: retries are a fraction of the traffic, and layers that are chained do not multiply', () => {
  test('in an outage the attempts are those of the requests, the budget’s, and no more', async () => {
    const world = createWorld({ script: [502], budget: { refillPerSecond: 0 } });
    await world.time.until(Promise.all(Array.from({ length: 500 }, () => world.start())));
    expect(world.network.sent).toHaveLength(520);
  });

  test('three attempts of three attempts are not nine', async () => {
    const world = createWorld({ script: [502], circuit: {}, policy: { attempts: 3, totalMs: 10_000 } });
    const { engine, call } = world;
    // Both layers know one record, as workers and pages of one origin do.
    const inner = (request: Request) => serve(call({ request }), engine, () => {});
    const outer = { ...engine, ports: { ...engine.ports, fetch: inner } };
    await world.time.until(serve(call(), outer, () => {}));
    expect(world.network.sent.length).toBeLessThan(9);
  });
});

describe('somebody’s own three retries around it', () => {
  test.each([
    // One attempt of the request, then halved: 4, 2, 1, 1.
    { name: 'that get what there is while the circuit is open', parking: false, hits: 8 },
    // What is parked alone finds out itself, at 2, 4 and 8 s, whether the server is back.
    { name: 'that are parked while it is', parking: true, hits: 11 },
  ])('$name are $hits hits, where four times four would be sixteen', async ({ parking, hits }) => {
    const world = createWorld({ script: [503], circuit: { parking } });
    for (let tries = 0; tries < 4; tries += 1) {
      await world.serve();
      await world.time.advance(1_000 * 2 ** tries);
    }
    expect(world.network.sent).toHaveLength(hits);
  });
});

describe('what other budgets’ own tests pin down', () => {
  const SMITHY = { capacity: 500, retryCost: 14, throttledCost: 5, successCredit: 1, refillPerSecond: 0 };
  const exact = { baseMs: 50, factor: 2, maxMs: 20_000, kind: 'exponential' } as const;

  test.each<{ id: string; attempts: number; answers: Answer[]; tokens: number[]; delays: number[] }>([
    { id: 'smithy-464', attempts: 3, answers: [500, 500, 200], tokens: [486, 472, 486], delays: [50, 100] },
    { id: 'smithy-465', attempts: 3, answers: [502, 502, 502], tokens: [486, 472, 472], delays: [50, 100] },
    {
      id: 'smithy-468',
      attempts: 5,
      answers: [500, 500, 500, 500, 500],
      tokens: [486, 472, 458, 444, 444],
      delays: [50, 100, 200, 400],
    },
    { id: 'smithy-470', attempts: 3, answers: [429, 200], tokens: [495, 500], delays: [1_000] },
  ])('$id the tokens after each attempt', async ({ id, attempts, answers, tokens, delays }) => {
    const world = createWorld({
      script: answers,
      budget: SMITHY,
      policy: { attempts, backoff: exact, throttledBackoff: { ...exact, baseMs: 1_000 } },
    });
    const left: number[] = [];
    const { record } = world.book;
    Object.assign(world.book, {
      record(...args: Parameters<typeof record>) {
        record(...args);
        if (args[1].kind === 'retry-reserved') left.push(world.book.look(KEY).budget.tokens);
      },
    });
    await world.serve();
    left.push(world.book.look(KEY).budget.tokens);
    // One refund there is for the last retry; here each that was launched in vain stays paid for as well.
    expect(left, id).toEqual(tokens);
    const times = world.network.times();
    expect(times.slice(1).map((at, index) => at - (times[index] ?? 0))).toEqual(delays);
  });

  test('smithy-499 what is not retried is not refused for want of tokens', async () => {
    const world = createWorld({ script: [400], budget: { ...SMITHY, capacity: 0 } });
    expect((await world.serve()).status).toBe(400);
    expect(world.steps.map(({ type }) => type)).toEqual(['attempt']);
  });

  test('smithy-500 no tokens: the reason is the budget', async () => {
    const world = createWorld({ script: [500], budget: { ...SMITHY, capacity: 0 }, policy: { attempts: 3 } });
    await world.serve();
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'budget', attempts: 1 });
  });

  const GRPC = {
    capacity: 10,
    retryCost: 1,
    throttledCost: 1,
    successCredit: 0.1,
    refillPerSecond: 0,
    kind: 'tokens',
  } as const;
  const after = (fails: number, successes = 0): Bucket => {
    let bucket = fullBucket(T0, GRPC);
    for (let n = 0; n < fails; n++) bucket = spend(bucket, 1, T0, GRPC);
    for (let n = 0; n < successes; n++)
      bucket = refund(bucket, { cost: 0.1, launched: false, reservedAt: T0 }, T0, GRPC);
    return bucket;
  };

  test.each([
    { id: 'grpc-402', fails: 4, successes: 0, tokens: 6 },
    { id: 'grpc-403', fails: 20, successes: 0, tokens: 0 },
    { id: 'grpc-404', fails: 0, successes: 50, tokens: 10 },
    { id: 'grpc-405', fails: 5, successes: 1, tokens: 5.1 },
  ])('$id $tokens tokens after $fails spent and $successes earned', ({ fails, successes, tokens }) => {
    const bucket = after(fails, successes);
    expect(bucket.tokens).toBeCloseTo(tokens);
    expect(affords(bucket, 1, T0, GRPC)).toBe(tokens >= 1);
  });

  test('grpc-407 the first attempt always goes', async () => {
    const world = createWorld({ script: [200], budget: { ...GRPC, capacity: 0 } });
    expect((await world.serve()).status).toBe(200);
  });

  test('grpc-410 a ratio is taken as it is (optional there: three digits)', () => {
    expect(() => checkBudgetOptions({ successCredit: 0.5466 }, 'budget')).not.toThrow();
  });

  test('grpc-414 a negative ratio is refused', () => {
    expect(() => checkBudgetOptions({ successCredit: -1 }, 'budget')).toThrow(/successCredit/);
  });

  test('grpc-426 otherwise here: retries are paid for, not failures, and down to the last token', async () => {
    // There a failure costs a token even if nobody retries it, and retries stop at half of the tokens: the calls that got
    // fewer than four attempts are theirs, and so are the two 503s in a row that ended one. Here a retry that is worth its
    // price gets it back, so that a budget measures what was sent in vain, and a first success earns the whole credit.
    const OK = [200];
    const calls: {
      readonly network: Answer[];
      readonly came: readonly [status: number, attempts: number, tokens: number];
    }[] = [
      { network: OK, came: [200, 1, 10] },
      { network: [503, 503, 200], came: [200, 3, 9] },
      { network: [503, 503, 200], came: [200, 3, 8] },
      { network: [503, 503], came: [503, 4, 5] },
      { network: [503], came: [503, 4, 2] },
      { network: OK, came: [200, 1, 2.5] },
      { network: OK, came: [200, 1, 3] },
      { network: OK, came: [200, 1, 3.5] },
      { network: OK, came: [200, 1, 4] },
      { network: OK, came: [200, 1, 4.5] },
      { network: [503, 200], came: [200, 2, 4.5] },
      { network: [503], came: [503, 4, 1.5] },
    ];
    let [call, asked]: [number, number] = [-1, 0];
    const world = createWorld({
      script: () => {
        const { network } = calls[call] ?? { network: [] };
        asked += 1;
        return network[asked - 1] ?? network.at(-1) ?? 200;
      },
      budget: { ...GRPC, successCredit: 0.5 },
      policy: { attempts: 4, backoff: constant(10), throttledBackoff: constant(10) },
    });
    const came: unknown[] = [];
    for (const _ of calls) {
      call += 1;
      asked = 0;
      const { status } = await world.serve();
      came.push([status, asked, world.book.look(KEY).budget.tokens]);
    }
    expect(came).toEqual(calls.map(({ came }) => came));
  });
});
