import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { skipReason } from '../../src/policy/eligibility.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { presets } from '../../src/policy/presets.ts';
import { createWorld, NAVIGATION, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { requestFacts } from '../support/request-facts.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

/** Which of these are repeated. */
async function repeated(answers: readonly Answer[], policy: Partial<RetryPolicy>): Promise<Answer[]> {
  const found: Answer[] = [];
  for (const answer of answers) {
    const world = createWorld({ script: [answer, 200], policy });
    await world.serve().catch(() => {});
    if (world.network.sent.length > 1) found.push(answer);
  }
  return found;
}

const ANSWERS: Answer[] = [
  ...[200, 301, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504, 505, 511],
  'reset',
  'hang',
];

test('row 1: one function decides, of answers and of errors alike', async () => {
  const seen: unknown[] = [];
  const world = createWorld({
    script: [200, 'reset', 503],
    policy: { statuses: [] },
    classify: async (outcome, attempt, { response, error }) => {
      seen.push([outcome.kind, attempt, response?.status, error instanceof TypeError]);
      return attempt < 3 ? 'retry' : 'deliver';
    },
  });
  expect((await world.serve()).status).toBe(503);
  expect(seen).toEqual([
    ['response', 1, 200, false],
    ['network-error', 2, undefined, true],
    ['response', 3, 503, false],
  ]);
});

test('row 1: networkOnly repeats only where no answer came', async () => {
  expect(await repeated(ANSWERS, { statuses: presets.networkOnly.statuses ?? [404] })).toEqual(['reset', 'hang']);
});

describe('row 38: 429 502 503 504, lost connections and timeouts', () => {
  const statuses = [429, 502, 503, 504];

  test('and nothing else', async () => {
    // A browser tells nobody whether a certificate, a name or a connection failed: all of them are lost connections.
    expect(await repeated(ANSWERS, { statuses })).toEqual([...statuses, 'reset', 'hang']);
  });

  test('not what was called off', async () => {
    const world = createWorld({ script: [503, 'hang'], policy: { statuses } });
    const controller = new AbortController();
    const request = new Request(URL_OF_ITEMS, { signal: controller.signal });
    const answer = serve({ ...world.call({ request }), signal: controller.signal }, world.engine, () => {});
    await world.time.advance(1_500);
    controller.abort('off');
    expect(await rejection(world.time.until(answer))).toBe('off');
    expect(world.network.times()).toEqual([0, 1_000]);
  });
});

describe('row 43: 408 429 500 502 503 504, the network and timeouts', () => {
  const statuses = [408, 429, 500, 502, 503, 504];

  test('never 400, 401, 403, 404 or any other', async () => {
    expect(await repeated(ANSWERS, { statuses })).toEqual([...statuses, 'reset', 'hang']);
  });

  test('a body that breaks off is the page’s, otherwise here: it has its headers (docs/requests.md, What is not retried)', async () => {
    const body = () => new ReadableStream<Uint8Array>({ pull: (to) => to.error(new TypeError('cut')) });
    const world = createWorld({ script: [{ body }, 200], policy: { statuses } });
    expect(await rejection((await world.serve()).text())).toMatchObject({ message: 'cut' });
    expect(world.network.sent).toHaveLength(1);
  });
});

describe('row 35: what is never hedged', () => {
  // What may be cut off may go on in two attempts at once, if nothing else forbids it.
  const policy = { hedge: { afterMs: 100, max: 3 }, cancelTimedOut: true };

  test('an event stream, which is not even intercepted', () => {
    expect(skipReason(requestFacts({ eventStream: true }), createWorld({ policy }).call().policy)).toBe('event-stream');
  });

  test.each([
    { name: 'a body that streams', init: { method: 'PUT', body: new Blob(['x']).stream(), duplex: 'half' } },
    { name: 'a keyed POST', init: { method: 'POST', body: 'x', headers: { 'Idempotency-Key': '1' } } },
    { name: 'a navigation', init: {}, facts: NAVIGATION },
    { name: 'a long poll', init: {}, facts: { polling: true } },
  ])('$name', async ({ init, facts = {} }) => {
    const world = createWorld({ script: [{ afterMs: 5_000 }], policy });
    await world.serve({ request: new Request(URL_OF_ITEMS, init as RequestInit), facts });
    expect(world.network.sent).toHaveLength(1);
  });
});

describe('row 32: extra attempts beside a slow one', () => {
  test.each([
    { max: 1, sentAt: [0, 100] },
    { max: 2, sentAt: [0, 100, 200] },
    { max: 5, sentAt: [0, 100, 200, 300] },
  ])('at most $max, within the attempts, without any backoff', async ({ max, sentAt }) => {
    const world = createWorld({ script: [{ afterMs: 5_000 }], policy: { hedge: { afterMs: 100, max } } });
    for (let earlier = 0; earlier < 100; earlier += 1)
      world.engine.hedging.began({ origin: 'https://app.test', group: 'data' });
    await world.serve();
    expect(world.network.times()).toEqual(sentAt);
    expect(world.steps.some(({ type }) => type === 'retry-scheduled')).toBe(false);
  });
});

describe('row 34: losers', () => {
  test.each([
    { name: 'one that has no headers yet is called off', cancelTimedOut: true, opened: 0, cancelled: 0 },
    {
      name: 'one that may not be called off is cancelled at its headers',
      cancelTimedOut: false,
      opened: 1,
      cancelled: 1,
    },
  ])('$name', async ({ cancelTimedOut, opened, cancelled }) => {
    const late = watchedBody(Array.from({ length: 20 }, () => 'x'.repeat(10_000)));
    const script: Answer[] = [{ afterMs: 3_000, body: late.open }, 200];
    const world = createWorld({ script, policy: { hedge: { afterMs: 100, max: 1 }, cancelTimedOut } });
    expect(await (await world.serve()).text()).toBe('answer 2');
    await world.time.advance(10_000);
    expect([late.opened(), late.cancelled()]).toEqual([opened, cancelled]);
    // It is cancelled unread.
    expect(late.pulled()).toBe(0);
  });

  test('S12 one that has failed is drained up to 64 KiB and cancelled, and the winner is read to its end', async () => {
    const CHUNK = 1_024;
    const failed = watchedBody(Array.from({ length: 200 }, () => 'x'.repeat(CHUNK)));
    const winner = watchedBody(['a', 'b', 'c'], { ends: true });
    const late = watchedBody(['x']);
    const script: Answer[] = [
      { afterMs: 3_000, body: late.open },
      { status: 503, afterMs: 50, body: failed.open },
      { afterMs: 100, body: winner.open },
    ];
    const policy = { hedge: { afterMs: 100, max: 1 }, attemptTimeoutMs: 1_000, backoff: constant(0) };
    const world = createWorld({ script, policy: { ...policy, throttledBackoff: constant(0) } });
    const answer = await world.serve();
    expect([world.network.times(), answer.status]).toEqual([[0, 100, 150], 200]);
    // The one that fills it, and the one that a copied stream reads ahead.
    expect([failed.cancelled(), failed.pulled() - 65_536]).toEqual([1, 2 * CHUNK]);
    // Past every clock that runs against attempts, and past the end of the loser.
    await world.time.advance(60_000);
    expect([late.opened(), late.cancelled()]).toEqual([1, 1]);
    expect([await answer.text(), winner.cancelled()]).toEqual(['abc', 0]);
  });
});
