import { describe, expect, test } from 'vitest';
import { type Classified, type Classify, MAX_CLASSIFIED_BYTES } from '../../src/engine/classify.ts';
import { rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { judged } from '../support/judged-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

const statusOf = (outcome: Classified) => (outcome.kind === 'response' ? outcome.status : undefined);

describe('row 37 and row 1: three answers', () => {
  test('retry: a 409 with a marker header', async () => {
    const world = judged(
      (outcome) => (outcome.kind === 'response' && outcome.headers.get('X-Retry') === 'yes' ? 'retry' : undefined),
      { script: [{ status: 409, headers: { 'X-Retry': 'yes' } }, 409] },
    );
    expect((await world.serve()).status).toBe(409);
    expect(world.network.sent).toHaveLength(2);
    expect(world.seen.map(({ outcome, attempt }) => [statusOf(outcome), attempt])).toEqual([
      [409, 1],
      [409, 2],
    ]);
  });

  test('deliver: a 500 marked permanent', async () => {
    const world = judged((outcome) => (statusOf(outcome) === 500 ? 'deliver' : undefined), { script: [500] });
    expect((await world.serve()).status).toBe(500);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  });

  test('undefined: the rules', async () => {
    const world = judged(() => undefined, { script: [503, 404] });
    expect((await world.serve()).status).toBe(404);
    expect(world.network.sent).toHaveLength(2);
  });

  test('row 15: a network error that no retry can mend', async () => {
    const world = judged(({ kind }) => (kind === 'network-error' ? 'deliver' : undefined), { script: ['reset'] });
    expect(await rejection(world.serve())).toBe(world.network.sent[0]?.error);
    expect(world.network.sent).toHaveLength(1);
    expect(world.seen[0]?.outcome).toEqual({ kind: 'network-error', error: world.network.sent[0]?.error });
  });

  test('a timeout: what is in flight is waited for', async () => {
    const world = judged(({ kind }) => (kind === 'timeout' ? 'deliver' : undefined), {
      script: [{ status: 200, afterMs: 20_000 }],
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.seen[0]).toEqual({ outcome: { kind: 'timeout', afterMs: 10_000 }, attempt: 1 });
  });

  test('what is retried listens to its Retry-After, even a 200', async () => {
    const world = judged((_, attempt) => (attempt === 1 ? 'retry' : undefined), {
      script: [{ status: 200, headers: { 'Retry-After': '3' } }, 200],
    });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect(world.network.times()).toEqual([0, 3_000]);
  });

  test('it cannot exceed the attempts', async () => {
    const world = judged(() => 'retry', { script: [200], policy: { attempts: 3 } });
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(3);
  });
});

describe('whatever it does, no answer is lost', () => {
  test.each<{ name: string; classify: () => unknown; problem: unknown }>([
    {
      name: 'throws',
      classify: () => {
        throw new Error('mine');
      },
      problem: new Error('mine'),
    },
    { name: 'is async', classify: async () => 'retry', problem: expect.stringContaining('neither') },
    { name: 'says true', classify: () => true, problem: expect.stringContaining('true') },
    { name: 'says null', classify: () => null, problem: expect.stringContaining('null') },
  ])('$name: the rules decide', async ({ classify, problem }) => {
    const world = judged(classify as Classify, { script: [503, 200] });
    expect(await (await world.serve()).text()).toBe('answer 2');
    expect(world.network.sent).toHaveLength(2);
    expect(world.problemsOfClassify).toEqual([problem, problem]);
  });

  test('B055 the body of the last answer can still be read', async () => {
    const answer: Answer = { status: 503, body: '{"wait":1}', headers: { 'Content-Length': '10' } };
    const read: unknown[] = [];
    const world = judged(
      (outcome) => {
        if (outcome.kind === 'response') read.push(JSON.parse(outcome.body ?? 'null'));
        return undefined;
      },
      { script: [answer], policy: { attempts: 2 }, body: true },
    );
    expect(await (await world.serve()).text()).toBe('{"wait":1}');
    expect(read).toEqual([{ wait: 1 }, { wait: 1 }]);
  });
});

describe('classifyBody', () => {
  const ask = async (answer: Answer, body = true) => {
    const world = judged(() => 'deliver', { script: [answer], body });
    const response = await world.serve();
    const [first] = world.seen;
    return { world, response, seen: first?.outcome.kind === 'response' ? first.outcome.body : undefined };
  };
  const text = (bytes: number) => 'é'.repeat(bytes / 2);
  const said = (body: string, length = new TextEncoder().encode(body).length): Answer => ({
    body,
    headers: { 'Content-Length': String(length) },
  });

  test('row 5: a copy of a small body, and the page has its own', async () => {
    const { response, seen } = await ask(said(text(1_000)));
    expect(seen).toBe(text(1_000));
    expect(await response.text()).toBe(text(1_000));
  });

  test('B058 none unless it is asked for: then nothing is cloned', async () => {
    const body = watchedBody(['x', 'y'], { ends: true });
    const { world, response, seen } = await ask({ body: body.open, headers: { 'Content-Length': '2' } }, false);
    expect(seen).toBeUndefined();
    expect(response).toBe(world.network.sent[0]?.response);
    expect(body.pulled()).toBe(0);
  });

  test('up to 64 KiB', async () => {
    expect((await ask(said(text(MAX_CLASSIFIED_BYTES)))).seen).toHaveLength(MAX_CLASSIFIED_BYTES / 2);
    expect((await ask(said(text(MAX_CLASSIFIED_BYTES + 2)))).seen).toBeUndefined();
  });

  test('none where the length is not declared, or no number', async () => {
    expect((await ask({ body: 'x' })).seen).toBeUndefined();
    expect((await ask({ body: 'x', headers: { 'Content-Length': 'few' } })).seen).toBeUndefined();
  });

  test('none of a body that is larger than it said, and the page gets all of it', async () => {
    const { response, seen } = await ask(said(text(MAX_CLASSIFIED_BYTES + 2), 10));
    expect(seen).toBeUndefined();
    expect(await response.text()).toBe(text(MAX_CLASSIFIED_BYTES + 2));
  });

  test('a body that does not come is not waited for', async () => {
    const body = watchedBody(['x']);
    const { world, response, seen } = await ask({ body: body.open, headers: { 'Content-Length': '2' } });
    expect(seen).toBeUndefined();
    expect(response.status).toBe(200);
    expect(world.time.elapsed()).toBe(1_000);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('a body that breaks off', async () => {
    const body = () => new ReadableStream<Uint8Array>({ pull: (to) => to.error(new TypeError('cut')) });
    const { world, response, seen } = await ask({ body, headers: { 'Content-Length': '2' } });
    expect(seen).toBeUndefined();
    expect(world.problemsOfClassify).toEqual([]);
    await expect(response.text()).rejects.toThrow('cut');
  });

  test('an answer whose body is being read has come: it is neither overtaken nor cut off', async () => {
    const body = watchedBody(['x']);
    const slow: Answer = { status: 200, afterMs: 900, body: body.open, headers: { 'Content-Length': '2' } };
    const limits = { attemptTimeoutMs: 1_000, cancelTimedOut: true, hedge: { afterMs: 950, max: 1 } };
    for (const method of ['GET', 'PUT']) {
      const world = judged(() => undefined, { script: [slow], body: true, policy: limits });
      await world.serve({ request: new Request(URL_OF_ITEMS, { method }) });
      expect([method, world.network.sent.length, world.time.elapsed()]).toEqual([method, 1, 1_900]);
    }
  });

  test('nor is it thrown away at a hard deadline', async () => {
    const body = watchedBody(['x']);
    const script: Answer[] = [{ status: 200, afterMs: 900, body: body.open, headers: { 'Content-Length': '2' } }];
    const world = judged(() => undefined, { script, body: true, policy: { hardTotal: true, totalMs: 1_000 } });
    expect((await world.serve()).status).toBe(200);
  });

  test('an overtaken answer that is being read is waited for before the next is sent', async () => {
    const script: Answer[] = [
      {
        status: 503,
        afterMs: 1_400,
        headers: { 'Retry-After': '5', 'Content-Length': '2' },
        body: watchedBody(['x']).open,
      },
      200,
    ];
    const world = judged(() => undefined, { script, body: true, policy: { attemptTimeoutMs: 1_000 } });
    await world.serve();
    expect(world.network.times()[1]).toBeGreaterThanOrEqual(6_400);
  });

  test('a 204 has none', async () => {
    expect((await ask({ status: 204, headers: { 'Content-Length': '0' } })).seen).toBeUndefined();
  });
});

test('row 46: it is not asked about what may not be repeated', async () => {
  // Such a request is not intercepted; where it is sent through the engine all the same, its body decides.
  const request = new Request(URL_OF_ITEMS, { method: 'POST', body: 'order' });
  const world = judged(() => 'retry', { script: [200], policy: { maxReplayBytes: 2 } });
  expect((await world.serve({ request })).status).toBe(200);
  expect(world.network.sent).toHaveLength(1);
});
