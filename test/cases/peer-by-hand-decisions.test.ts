import { describe, expect, test } from 'vitest';
import type { Classifier } from '../../src/engine/classify.ts';
import { serve } from '../../src/engine/serve.ts';
import { constant, exponential } from '../../src/policy/backoff.ts';
import { checkRetryOptions } from '../../src/policy/check.ts';
import { skipReason } from '../../src/policy/eligibility.ts';
import type { RetryOptions, RetryPolicy } from '../../src/policy/policy.ts';
import { createWorld, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { requestFacts } from '../support/request-facts.ts';
import type { Answer } from '../support/scripted-network.ts';

const gaps = (times: readonly number[]) => times.slice(1).map((at, index) => at - (times[index] ?? 0));
const refuses = (options: RetryOptions) => {
  try {
    checkRetryOptions(options, 'retry');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('eligibility', () => {
  test('got-097 a delay of one’s own makes no status a retried one', async () => {
    const world = createWorld({ script: [500], policy: { attempts: 6, statuses: [429], backoff: constant(1) } });
    expect((await world.serve()).status).toBe(500);
    expect(world.network.sent).toHaveLength(1);
  });

  test('got-099 no error is retried where the user says so', async () => {
    const classify: Classifier = async ({ kind }) => (kind === 'network-error' ? 'deliver' : undefined);
    const world = createWorld({ script: ['reset', 200], classify });
    await rejection(world.serve());
    expect(world.network.sent).toHaveLength(1);
  });

  test('got-100 POST where the user says so', async () => {
    const world = createWorld({ script: ['reset'], policy: { attempts: 3, retryNonIdempotent: true } });
    const call = world.call({ request: new Request(URL_OF_ITEMS, { method: 'POST' }) });
    expect(skipReason(call.facts, call.policy)).toBeUndefined();
    expect(await rejection(world.serve(call))).toBe(world.network.sent[2]?.error);
    expect(world.network.sent).toHaveLength(3);
  });

  test('go-retryablehttp-177 another scheme is left alone', () => {
    expect(skipReason(requestFacts({ protocol: 'ftp:' }), createWorld().call().policy)).toBe('protocol');
  });

  test('nurago-236 sixteen at once, each lost once', async () => {
    const seen = new Map<string, number>();
    const script = ({ url }: Request): Answer => {
      seen.set(url, (seen.get(url) ?? 0) + 1);
      return seen.get(url) === 1 ? 'reset' : 200;
    };
    const world = createWorld({ script, policy: { attempts: 3, backoff: constant(1) } });
    const urls = Array.from({ length: 16 }, (_, n) => `${URL_OF_ITEMS}?n=${n}`);
    const answers = await world.time.until(Promise.all(urls.map((url) => world.start({ request: new Request(url) }))));
    expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
    expect([...seen.values()]).toEqual(urls.map(() => 2));
  });

  test('httpc-280 what was called off is not retried, and is held against nobody', async () => {
    const world = createWorld({ script: ['hang'], circuit: { failures: 1 } });
    const controller = new AbortController();
    const { signal } = controller;
    const call = world.call({ request: new Request(URL_OF_ITEMS, { signal }) });
    const answer = serve({ ...call, signal }, world.engine, () => {});
    await world.time.advance(100);
    controller.abort();
    expect(await rejection(world.time.until(answer))).toMatchObject({ name: 'AbortError' });
    expect([world.network.sent.length, world.time.elapsed()]).toEqual([1, 100]);
    expect(world.book.look({ origin: 'https://app.test', group: 'data' }).circuit.failures).toBe(0);
  });

  test('cockatiel-337 an error that the user does not list ends it', async () => {
    const classify: Classifier = async (_, attempt) => (attempt === 2 ? 'deliver' : undefined);
    const world = createWorld({ script: ['reset'], policy: { attempts: 6 }, classify });
    expect(await rejection(world.serve())).toBe(world.network.sent[1]?.error);
    expect(world.network.sent).toHaveLength(2);
  });

  test.each([
    { id: 'smithy-488', status: 500, waits: 100 },
    // Theirs is transient; here it is a server short of capacity, as a 429 is.
    { id: 'smithy-490', status: 503, waits: 500 },
    { id: 'smithy-492', status: 429, waits: 500 },
    { id: 'smithy-493', status: 501 },
    { id: 'smithy-495', status: 511 },
  ])('$id $status waits $waits', async ({ status, waits }) => {
    const policy = { backoff: constant(100), throttledBackoff: constant(500) };
    const world = createWorld({ script: [status, 200], policy });
    await world.serve();
    expect(gaps(world.network.times())).toEqual(waits === undefined ? [] : [waits]);
  });
});

describe('giving up', () => {
  test('got-098 a delay of one’s own does not go on for ever', async () => {
    const world = createWorld({ script: [500], policy: { attempts: 3, backoff: constant(1) } });
    expect((await world.serve()).status).toBe(500);
    expect(world.network.times()).toEqual([0, 1, 2]);
  });

  test.each(['got-101', 'grpc-427'])('%s an answer that has begun is final, whatever comes of its body', async () => {
    const body = () => new ReadableStream<Uint8Array>({ pull: (to) => to.error(new TypeError('lost')) });
    const world = createWorld({ script: [{ status: 200, body }, 503] });
    const response = await world.serve();
    expect(response.status).toBe(200);
    await rejection(response.text());
    await world.time.advance(60_000);
    expect(world.network.sent).toHaveLength(1);
  });

  test('cockatiel-335 an answer that never suits is handed over in the end', async () => {
    const world = createWorld({ script: [200], policy: { attempts: 6 }, classify: async () => 'retry' });
    expect(await (await world.serve()).text()).toBe('answer 6');
    expect(world.network.sent).toHaveLength(6);
  });

  test('grpc-380 one attempt is no mistake: a route may be left alone so', () => {
    expect(refuses({ attempts: 1 })).toBeUndefined();
  });

  test('grpc-381 no attempt is one', () => {
    expect(refuses({ attempts: 0 })).toMatch(/retry\.attempts must be a whole number from 1/);
  });

  test.each([
    // There a client has a limit of its own beside the policy’s. Here what has just failed halves the next one’s attempts.
    { id: 'grpc-383', attempts: 10, theirs: 5, then: 5 },
    { id: 'grpc-434', attempts: 9, theirs: 7, then: 5 },
    { id: 'grpc-436', attempts: 8, theirs: 5, then: 4 },
    { id: 'grpc-443', attempts: 10, theirs: 5, then: 5 },
    { id: 'grpc-437', attempts: 3, theirs: 3, then: 2 },
  ])(
    '$id $attempts attempts are $attempts (theirs $theirs), and $then of the request after it',
    async ({ attempts, then }) => {
      const policy = { attempts, backoff: constant(1), throttledBackoff: constant(1) };
      // Not opened by attempts, only by requests that fail.
      const world = createWorld({ script: [503], policy, circuit: { window: 1_000 } });
      expect((await world.serve()).status).toBe(503);
      expect(world.network.sent).toHaveLength(attempts);
      await world.time.advance(1_000);
      expect((await world.serve()).status).toBe(503);
      expect(world.network.sent).toHaveLength(attempts + then);
      expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'circuit', attempts: then });
    },
  );

  test('grpc-444 the seventh of ten succeeds', async () => {
    const policy = { attempts: 10, backoff: constant(1), throttledBackoff: constant(1) };
    const world = createWorld({ script: [429, 429, 429, 429, 429, 429, 200], policy });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(7);
  });

  test('grpc-418 what never left the device is not counted', async () => {
    let online = false;
    const world = createWorld({ script: ['reset', 503], isOnline: () => online });
    const answer = world.start();
    await world.time.advance(100);
    online = true;
    expect((await world.time.until(answer)).status).toBe(503);
    expect(world.network.sent).toHaveLength(5);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', attempts: 4 });
  });
});

describe('options', () => {
  test.each<{ id: string; options: RetryOptions; refused: boolean }>([
    { id: 'grpc-386 no first wait is at once', options: { backoff: exponential({ baseMs: 0 }) }, refused: false },
    {
      id: 'grpc-387 a cap of nothing is at once, too',
      options: { backoff: exponential({ baseMs: 5, maxMs: 0 }) },
      refused: false,
    },
    {
      id: 'grpc-388 a factor of nothing',
      options: { backoff: exponential({ baseMs: 5, factor: 0 }) },
      refused: true,
    },
    { id: 'grpc-390 no statuses leave the network', options: { statuses: [] }, refused: false },
  ])('$id: refused $refused', ({ options, refused }) => {
    expect(refuses(options) !== undefined).toBe(refused);
  });

  test.each<{ id: string; policy: Partial<RetryPolicy>; script: Answer[]; sentAt: number[] }>([
    { id: 'grpc-386', policy: { backoff: exponential({ baseMs: 0 }) }, script: [502, 502, 200], sentAt: [0, 0, 0] },
    { id: 'grpc-387', policy: { backoff: exponential({ baseMs: 5, maxMs: 0 }) }, script: [502, 200], sentAt: [0, 0] },
    { id: 'grpc-390', policy: { statuses: [] }, script: ['reset', 503, 200], sentAt: [0, 500] },
  ])('$id and means it', async ({ policy, script, sentAt }) => {
    const world = createWorld({ script, policy });
    await world.serve();
    expect(world.network.times()).toEqual(sentAt);
  });
});
