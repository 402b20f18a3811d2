import { describe, expect, test, vi } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { createWorld, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { watchedBody } from '../support/scripted-network.ts';

const put = (body: BodyInit, more: RequestInit = {}) =>
  new Request(URL_OF_ITEMS, { method: 'PUT', body, duplex: 'half', ...more } as RequestInit);
const textOf = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

test('row 5: no connection is held through a wait, and what decides has seen the body before', async () => {
  const log: string[] = [];
  const body = watchedBody(['busy'], { onCancel: () => log.push(`released at ${world.time.elapsed()}`) });
  const world = createWorld({
    script: [{ status: 503, body: body.open }, 200],
    classify: async (_, attempt, { response }) => {
      if (attempt === 1) log.push(`decided at ${world.time.elapsed()}, used: ${response?.bodyUsed}`);
      return undefined;
    },
  });
  await world.serve();
  expect(log).toEqual(['decided at 0, used: false', 'released at 100']);
  expect(world.network.times()).toEqual([0, 1_000]);
});

describe('row 6: a body that cannot be sent again ends the series', () => {
  test.each(['answer', 'error'])('the first %s is what the page gets', async (what) => {
    const world = createWorld({ script: [what === 'answer' ? 503 : 'reset', 200] });
    const work = world.serve({ request: put('four'), policy: { maxReplayBytes: 3 } });
    const [first] = [what === 'answer' ? await work : await rejection(work)];
    const [sent] = world.network.sent;
    expect(first).toBe(sent?.response ?? sent?.error);
    // Neither empty nor cut short, and not again.
    expect(world.network.sent.map((one) => textOf(one.body))).toEqual(['four']);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable', attempts: 1 });
  });
});

test('row 7: the body of a replay is opened just before its attempt; a wait that is called off opens none', async () => {
  const request = put('body');
  const clone = vi.spyOn(request, 'clone');
  const world = createWorld({ script: [503, 200] });
  const controller = new AbortController();
  const call = { ...world.call({ request, facts: { hasBody: true } }), signal: controller.signal };
  const answer = serve(call, world.engine, () => {});
  answer.catch(() => {});
  await world.time.advance(999);
  const inTheWait = clone.mock.calls.length;
  controller.abort('over');
  await rejection(world.time.until(answer));
  // One is the attempt’s, one is counted while it is under way.
  expect([inTheWait, clone.mock.calls.length, world.network.sent.length]).toEqual([2, 2, 1]);

  const other = put('body');
  const clones = vi.spyOn(other, 'clone');
  const goesOn = createWorld({ script: [503, 200] });
  const second = goesOn.start({ request: other, facts: { hasBody: true } });
  await goesOn.time.advance(999);
  expect(clones).toHaveBeenCalledTimes(2);
  await goesOn.time.until(second);
  expect(clones).toHaveBeenCalledTimes(3);
});

describe('row 20: the caller’s request', () => {
  test('is not changed by what its retries carry', async () => {
    const request = put('body', { headers: { 'X-A': '1' } });
    const before = [...request.headers];
    const world = createWorld({ script: [503, 503, 200], policy: { retryAttemptHeader: true } });
    await world.serve({ request });
    expect(world.network.sent).toHaveLength(3);
    expect([...request.headers]).toEqual(before);
    expect([request.method, request.url]).toEqual(['PUT', URL_OF_ITEMS]);
  });

  test('a body is read once, however many attempts there are', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(to) {
          pulled += 1;
          to.enqueue(new TextEncoder().encode('body'));
          to.close();
        },
      },
      { highWaterMark: 0 },
    );
    const world = createWorld({ script: [503, 503, 503, 200] });
    await world.serve({ request: put(body) });
    expect(world.network.sent.map((sent) => textOf(sent.body))).toEqual(['body', 'body', 'body', 'body']);
    expect(pulled).toBe(1);
  });
});
