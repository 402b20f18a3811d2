import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { retriesAllowed } from '../../src/policy/outcome.ts';
import { createWorld, EXACT, NAVIGATION, URL_OF_ITEMS, type World } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

/** What may become of one attempt. */
interface Fate {
  readonly status: number;
  readonly lost: boolean;
  readonly afterMs: number;
  readonly body: 'small' | 'large' | 'endless';
  readonly retryAfter: string | undefined;
}

const fate: fc.Arbitrary<Fate> = fc.record({
  status: fc.constantFrom(200, 404, 425, 429, 502, 503, 503, 503),
  lost: fc.boolean(),
  afterMs: fc.constantFrom(0, 0, 1, 300, 9_999, 10_000, 10_300, 12_000, 15_000, 40_000),
  body: fc.constantFrom('small', 'large', 'endless'),
  retryAfter: fc.constantFrom(undefined, undefined, '0', '2', '10', '99', 'soon'),
});

const run = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 5 }),
  kind: fc.constantFrom('GET', 'GET', 'GET', 'PUT', 'navigation', 'download'),
  attempts: fc.integer({ min: 1, max: 5 }),
  totalMs: fc.constantFrom(1_000, 11_000, 25_000, 50_000),
  backoffMs: fc.constantFrom(0, 500, 4_000),
  capacity: fc.constantFrom(0, 1, 2, 20),
  offlineMs: fc.constantFrom(undefined, undefined, [0, 3_000], [200, 60_000], [10_100, 13_000]),
});
type Run = typeof run extends fc.Arbitrary<infer R> ? R : never;

const LARGE = 'x'.repeat(70_000);
const BODY_OF_REQUEST = 'the body';

/** An attempt as the network saw it. */
interface Seen {
  readonly fate: Fate;
  readonly startedAt: number;
  readonly landsAt: number;
  endless: 'open' | 'cancelled' | undefined;
}

async function play({ fates, kind, attempts, totalMs, backoffMs, capacity, offlineMs }: Run) {
  const seen: Seen[] = [];
  const script = (_request: Request, earlier: number): Answer => {
    const fate = fates[Math.min(earlier, fates.length - 1)];
    if (fate === undefined) throw new Error('there is at least one');
    const startedAt = world.time.elapsed();
    const one: Seen = { fate, startedAt, landsAt: startedAt + fate.afterMs, endless: undefined };
    seen.push(one);
    if (fate.lost) return { reset: true, afterMs: fate.afterMs };
    const endless = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          one.endless = 'open';
          controller.enqueue(new TextEncoder().encode('x'));
        },
        cancel() {
          one.endless = 'cancelled';
        },
      });
    return {
      status: fate.status,
      afterMs: fate.afterMs,
      headers: {
        'X-Attempt': String(earlier + 1),
        'Content-Type': kind === 'navigation' ? 'text/html' : 'text/csv',
        ...(fate.retryAfter ? { 'Retry-After': fate.retryAfter } : {}),
      },
      body: fate.body === 'endless' ? endless : fate.body === 'large' ? LARGE : 'small',
    };
  };
  const isOnline = () => {
    const now = world.time.elapsed();
    return offlineMs === undefined || now < (offlineMs[0] ?? 0) || now >= (offlineMs[1] ?? 0);
  };
  const world: World = createWorld({
    script,
    isOnline,
    policy: { attempts, totalMs, backoff: constant(backoffMs), throttledBackoff: constant(backoffMs) },
    budget: { capacity, refillPerSecond: 0 },
  });
  const request = new Request(URL_OF_ITEMS, kind === 'PUT' ? { method: 'PUT', body: BODY_OF_REQUEST } : {});
  const outcome = await world
    .serve({ request, facts: kind === 'navigation' || kind === 'download' ? NAVIGATION : {} })
    .then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    );
  return { world, seen, outcome, endedAt: world.time.elapsed() };
}

test('whatever the network does, the page gets the best of it, and nothing is left behind', async () => {
  await fc.assert(
    fc.asyncProperty(run, async (given) => {
      const { world, seen, outcome, endedAt } = await play(given);
      const { attempts, totalMs, kind, capacity, offlineMs } = given;
      const facts = world.call({ request: new Request(URL_OF_ITEMS, kind === 'PUT' ? { method: 'PUT' } : {}) }).facts;
      const isFinal = ({ fate }: Seen) =>
        !fate.lost && retriesAllowed({ kind: 'response', status: fate.status }, facts, EXACT) === 0;
      const delivered = 'response' in outcome ? Number(outcome.response.headers.get('X-Attempt')) : undefined;

      // The answer is the network's; a good one wins; an error is thrown only where there was no answer.
      if ('response' in outcome) {
        const winner = seen[(delivered ?? 0) - 1];
        expect(winner?.fate.status).toBe(outcome.response.status);
        expect(winner?.landsAt).toBeLessThanOrEqual(endedAt);
        expect(outcome.response.bodyUsed).toBe(false);
        // A body that was not waited for breaks off: never is a part of it taken for the whole. An error page ends there.
        const text = await world.time.until(outcome.response.text()).catch(() => undefined);
        const whole = { small: 'small', large: LARGE, endless: undefined }[winner?.fate.body ?? 'small'];
        if (winner?.fate.body === 'small' || (winner && isFinal(winner) && whole)) expect(text).toBe(whole);
        else if (kind === 'navigation') expect(text ?? '').toMatch(/^x*$/);
        else expect([whole, undefined]).toContain(text);
      } else {
        expect(world.network.given()).toContain(outcome.error);
        expect(seen.filter(({ fate, landsAt }) => !fate.lost && landsAt <= endedAt)).toEqual([]);
      }
      const good = seen.filter((one) => isFinal(one) && one.landsAt <= endedAt);
      if (good.length > 0) expect(good.map((one) => seen.indexOf(one) + 1)).toContain(delivered);

      // Nothing is sent more often, earlier, later or more at once than it may be.
      if (offlineMs === undefined) expect(seen.length).toBeLessThanOrEqual(attempts);
      for (const [index, one] of seen.entries()) {
        const before = seen.slice(0, index);
        const nothingToGive = before.every(({ fate }) => !fate.lost && fate.body !== 'small');
        if (index > 0 && !nothingToGive) expect(one.startedAt).toBeLessThan(totalMs);
        for (const earlier of before) {
          if (kind !== 'GET') expect(one.startedAt).toBeGreaterThanOrEqual(earlier.landsAt);
          // Never earlier than the server said.
          const saidMs = /^\d+$/.test(earlier.fate.retryAfter ?? '') ? Number(earlier.fate.retryAfter) * 1_000 : 0;
          const said = !earlier.fate.lost && !isFinal(earlier) && earlier.landsAt < one.startedAt;
          if (said) expect(one.startedAt).toBeGreaterThanOrEqual(earlier.landsAt + saidMs);
        }
      }
      if (kind === 'PUT') {
        const bodies = world.network.sent.map(({ body }) => new TextDecoder().decode(body));
        expect(bodies).toEqual(seen.map(() => BODY_OF_REQUEST));
      }

      // Every retry is paid for, and one that succeeded has its price back.
      if (offlineMs === undefined) {
        const won = delivered !== undefined && delivered > 1 && good.length > 0;
        const spent = seen.length - 1 - (won ? 1 : 0);
        expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, capacity - spent)).toBe(true);
        expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, capacity - spent + 0.5)).toBe(false);
      }

      // Nothing is left: no timer, no byte, no connection, no second last word.
      expect(world.faults).toEqual([]);
      expect(world.sleeper.pending()).toBe(0);
      expect(world.engine.ledger.keptBytes).toBe(0);
      await world.time.advance(120_000);
      const open = seen.filter(({ endless }) => endless === 'open').map((one) => seen.indexOf(one) + 1);
      expect(open.filter((attempt) => attempt !== delivered)).toEqual([]);
      const ends = world.steps.filter(({ type }) => type === 'gave-up' || type === 'recovered');
      expect(ends.length).toBeLessThanOrEqual(1);
      expect(world.steps.filter(({ type }) => type === 'attempt')).toHaveLength(seen.length);
    }),
    { numRuns: Number(process.env.FATES ?? 500) },
  );
}, 60_000);
