import { describe, expect, test, vi } from 'vitest';
import { MAX_KEPT_BYTES } from '../../src/engine/body.ts';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { createWorld, rejection } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const URL = 'https://app.test/api/items/1';
const put = (body: BodyInit) => new Request(URL, { method: 'PUT', body, duplex: 'half' } as RequestInit);
const bytesOf = async (body: BodyInit) => new Uint8Array(await new Response(body).arrayBuffer());
const MIB = 1_048_576;
/** A matcher would compare them one by one and take seconds. */
const same = (one: Uint8Array | undefined, other: Uint8Array) => one !== undefined && Buffer.compare(one, other) === 0;

describe('a body is sent byte for byte each time', () => {
  const every = Uint8Array.from({ length: 256_000 }, (_, index) => index % 256);
  test.each<{ name: string; body: () => BodyInit }>([
    { name: 'B025 JSON', body: () => JSON.stringify({ text: 'x'.repeat(280) }) },
    { name: 'B029 multibyte text', body: () => 'größer als 😀 – ein Byte je Zeichen' },
    { name: 'empty text', body: () => '' },
    { name: 'a Blob', body: () => new Blob([every, 'é', every]) },
    { name: 'bytes', body: () => every },
    { name: 'form fields', body: () => new URLSearchParams({ a: 'é&=', b: '' }) },
    {
      name: 'a stream in parts',
      body: () =>
        new ReadableStream<Uint8Array>({
          start(controller) {
            for (let part = 0; part < 10; part += 1) controller.enqueue(every.slice(part * 100, part * 1_000));
            controller.close();
          },
        }),
    },
  ])('$name', async ({ body }) => {
    const world = createWorld({ script: [503, 'reset', 502, 200] });
    const request = put(body());
    const type = request.headers.get('Content-Type');
    expect((await world.serve({ request })).status).toBe(200);
    const expected = await bytesOf(body());
    expect(world.network.sent).toHaveLength(4);
    for (const sent of world.network.sent) {
      expect(same(sent.body, expected)).toBe(true);
      expect(sent.request.headers.get('Content-Type')).toBe(type);
    }
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('B030 B031 a form with a file, its boundary included', async () => {
    const form = new FormData();
    form.set('text', 'é');
    form.set('file', new File([every], 'every-byte.bin'));
    const request = put(form);
    const world = createWorld({ script: [503, 200] });
    await world.serve({ request });
    const [first, second] = world.network.sent;
    expect(same(second?.body, first?.body ?? new Uint8Array())).toBe(true);
    const boundary = /boundary=(.*)$/.exec(request.headers.get('Content-Type') ?? '')?.[1];
    for (const sent of world.network.sent) {
      expect(sent.request.headers.get('Content-Type')).toContain(boundary);
      expect(new TextDecoder().decode(sent.body)).toContain(boundary);
      const parsed = await new Response(sent.body as Uint8Array<ArrayBuffer>, {
        headers: { 'Content-Type': sent.request.headers.get('Content-Type') ?? '' },
      }).formData();
      expect(parsed.get('text')).toBe('é');
      expect(same(new Uint8Array(await (parsed.get('file') as File).arrayBuffer()), every)).toBe(true);
    }
  });
});

describe('a body that is too large', () => {
  test.each([
    { bytes: MIB, attempts: 2 },
    { bytes: MIB + 1, attempts: 1 },
    { bytes: 5 * MIB, attempts: 1 },
  ])('row 40: of $bytes bytes: $attempts attempt(s), whole', async ({ bytes, attempts }) => {
    const world = createWorld({ script: [503, 200] });
    const response = await world.serve({ request: put(new Uint8Array(bytes)) });
    expect(world.network.sent).toHaveLength(attempts);
    for (const sent of world.network.sent) expect(sent.body).toHaveLength(bytes);
    expect(response.status).toBe(attempts === 2 ? 200 : 503);
    if (attempts === 1) {
      expect(response).toBe(world.network.sent[0]?.response);
      expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable', attempts: 1, status: 503 });
    }
    expect(world.engine.ledger.keptBytes).toBe(0);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('S18 the limit is the policy’s', async () => {
    for (const [maxReplayBytes, attempts] of [
      [4, 2],
      [3, 1],
      [0, 1],
    ] as const) {
      const world = createWorld({ script: [503, 200] });
      await world.serve({ request: put('four'), policy: { maxReplayBytes } });
      expect(world.network.sent).toHaveLength(attempts);
    }
  });

  test('its success is delivered without a word', async () => {
    const world = createWorld({ script: [200] });
    expect((await world.serve({ request: put(new Uint8Array(3 * MIB)) })).status).toBe(200);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
    expect(world.time.elapsed()).toBe(0);
  });

  test('its network error is thrown as it is', async () => {
    const world = createWorld({ script: ['reset'] });
    expect(await rejection(world.serve({ request: put(new Uint8Array(3 * MIB)) }))).toBe(world.network.sent[0]?.error);
    expect(world.network.sent).toHaveLength(1);
  });

  test.each([
    { when: 'before it is counted', afterMs: 10, clones: 1 },
    { when: 'later', afterMs: 50, clones: 2 },
  ])('a body that was answered $when has been copied $clones time(s)', async ({ afterMs, clones }) => {
    const request = put('body');
    const clone = vi.spyOn(request, 'clone');
    const world = createWorld({ script: [{ status: 200, afterMs }] });
    await world.serve({ request });
    expect(clone).toHaveBeenCalledTimes(clones);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('our copy is dropped while the attempt is still on its way', async () => {
    const request = put(new Uint8Array(3 * MIB));
    const world = createWorld({ script: [{ status: 200, afterMs: 5_000 }] });
    const answer = world.start({ request });
    await world.time.advance(100);
    expect(world.engine.ledger.keptBytes).toBe(0);
    expect(request.bodyUsed).toBe(true);
    await world.time.until(answer);
    expect(world.network.sent[0]?.body).toHaveLength(3 * MIB);
  });

  test('row 40: a large upload is counted without being read ahead of the network', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(65_536));
          if (pulled === 100) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    // A network that takes nothing: only our count reads.
    const world = createWorld({ script: ['hang'] });
    const engine = { ...world.engine, ports: { ...world.ports, fetch: () => new Promise<Response>(() => {}) } };
    void serve(world.call({ request: put(body) }), engine, () => {});
    await world.time.advance(50);
    // 16 fit, one does not, and each of two copies reads one ahead.
    expect(pulled).toBeLessThanOrEqual(19);
    expect(engine.ledger.keptBytes).toBe(0);
  });
});

describe('8 MiB are kept in all', () => {
  test('what does not fit any more is sent once', async () => {
    const world = createWorld({ script: (_request, earlier) => (earlier < 9 ? { status: 503, afterMs: 100 } : 200) });
    const answers = Promise.all(Array.from({ length: 9 }, () => world.start({ request: put(new Uint8Array(MIB)) })));
    await world.time.advance(50);
    expect(world.engine.ledger.keptBytes).toBe(MAX_KEPT_BYTES);
    const statuses = (await world.time.until(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(8);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect(world.network.sent).toHaveLength(17);
    for (const sent of world.network.sent) expect(sent.body).toHaveLength(MIB);
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('S18 8 MiB are 8 MiB', () => {
    expect(MAX_KEPT_BYTES).toBe(8_388_608);
  });

  test.each<{ name: string; script: Answer[] }>([
    { name: 'a success', script: [200] },
    { name: 'a late success', script: [503, 'reset', 200] },
    { name: 'a final error', script: [404] },
    { name: 'the last attempt', script: [503] },
    { name: 'network errors', script: ['reset'] },
    { name: 'a refusal', script: [{ status: 503, headers: { 'Retry-After': '99' } }] },
  ])('nothing is kept after $name', async ({ script }) => {
    const request = put('body');
    const world = createWorld({ script });
    await world.serve({ request }).catch(() => {});
    await world.time.settle();
    expect(world.engine.ledger.keptBytes).toBe(0);
    expect(request.bodyUsed).toBe(true);
  });

  test('nothing is kept after a fault', async () => {
    const world = createWorld({ script: [503, 200] });
    const call = {
      ...world.call({ request: put('body') }),
      tell: () => {
        throw new Error('tell is broken');
      },
    };
    await world.time.until(serve(call, world.engine, () => {}));
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('nothing is kept after an answer that came before the body’s end', async () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
        given.enqueue(new Uint8Array(1_000));
      },
    });
    const world = createWorld({ script: [{ status: 401, afterMs: 10, early: true }] });
    expect((await world.serve({ request: put(body) })).status).toBe(401);
    expect(world.engine.ledger.keptBytes).toBe(0);
    controller?.enqueue(new Uint8Array(500_000));
    await world.time.settle();
    controller?.close();
    await world.time.settle();
    expect(world.engine.ledger.keptBytes).toBe(0);
  });
});

describe('a body that is not there yet', () => {
  const slow = () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given;
        given.enqueue(new Uint8Array(10));
      },
    });
    return { body, end: () => controller?.close() };
  };

  test('row 6: is waited for a second after the failure, then the failure is delivered', async () => {
    const world = createWorld({ script: [{ status: 503, early: true }, 200] });
    const response = await world.serve({ request: put(slow().body) });
    expect(response.status).toBe(503);
    expect(world.time.elapsed()).toBe(1_000);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable' });
    expect(world.sleeper.pending()).toBe(0);
    await world.time.settle();
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('and is repeated if it comes meanwhile', async () => {
    const { body, end } = slow();
    const world = createWorld({
      script: [{ status: 503, early: true }, 200],
      policy: { throttledBackoff: constant(0) },
    });
    const answer = world.start({ request: put(body) });
    await world.time.advance(200);
    end();
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 200]);
    expect(world.network.sent[1]?.body).toHaveLength(10);
  });

  test('row 6: a body that breaks off cannot be repeated, and harms nothing', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('the page took it back'));
      },
    });
    const world = createWorld({ script: [{ status: 503, early: true }, 200] });
    const outcome = await world.serve({ request: put(body) }).catch((error: unknown) => error);
    expect(world.network.sent).toHaveLength(1);
    expect(outcome).toBe(world.network.sent[0]?.response ?? world.network.sent[0]?.error);
    expect(world.faults).toEqual([]);
    expect(world.engine.ledger.keptBytes).toBe(0);
  });
});

describe('a browser without Request.body', () => {
  const withoutBody = (request: Request): Request => {
    const clone = request.clone.bind(request);
    return new Proxy(request, {
      has: (target, key) => key !== 'body' && Reflect.has(target, key),
      get(target, key) {
        if (key === 'body') return undefined;
        if (key === 'clone') return () => withoutBody(clone());
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  const DELETE = new Request(URL, { method: 'DELETE' });

  test.each<{ name: string; request: Request; bytesEach: number[]; status: number }>([
    { name: 'the copy is read at once instead', request: put('four'), bytesEach: [4, 4, 4, 4], status: 200 },
    { name: 'too much is too much', request: put(new Uint8Array(2 * MIB)), bytesEach: [2 * MIB], status: 503 },
    { name: 'a DELETE that may have a body is repeated', request: DELETE, bytesEach: [0, 0, 0, 0], status: 200 },
  ])('$name', async ({ request, bytesEach, status }) => {
    const world = createWorld({ script: [503, 503, 503, 200] });
    const response = await world.serve({ request: withoutBody(request), facts: { hasBody: true } });
    expect(response.status).toBe(status);
    await world.time.settle();
    expect(world.network.sent.map(({ body }) => body?.byteLength)).toEqual(bytesEach);
    expect(world.engine.ledger.keptBytes).toBe(0);
    expect(world.faults).toEqual([]);
  });
});
