import { describe, expect, test, vi } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { PROGRESS_BYTES } from '../../src/policy/resume.ts';
import { cutAfter, rangesOf } from '../support/broken-bodies.ts';
import { createWorld, rejection, type World, type WorldOptions } from '../support/engine-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const DIGITS = '0123456789';
const digits = rangesOf(DIGITS);

const resuming = (script: WorldOptions['script'], { policy, ...options }: WorldOptions = {}): World =>
  createWorld({ script: script ?? [], policy: { resume: true, ...policy }, ...options });

/** What the page gets to read, and how it ends. */
async function read(world: World, response: Response): Promise<{ text: string; error?: unknown }> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    try {
      const { done, value } = await world.time.until(reader.read());
      if (done) return { text };
      text += decoder.decode(value);
    } catch (error) {
      return { text, error };
    }
  }
}

const serveAndRead = async (world: World) => read(world, await world.serve());
const asked = (world: World) =>
  world.network.sent.map(({ request: { headers } }) => ({
    range: headers.get('range'),
    ifRange: headers.get('if-range'),
  }));
const types = (world: World) => world.steps.map(({ type }) => type);
const refused = (world: World, seen: { text: string; error?: unknown }, why: RegExp) => {
  expect(seen).toEqual({ text: '0123', error: expect.any(TypeError) });
  expect(String(seen.error)).toMatch(why);
  expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'not-replayable' });
};

describe('a body that is cut', () => {
  test('undici-114 B138 goes on where it was', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    const response = await world.serve();
    expect([response.status, response.headers.get('Content-Length')]).toEqual([200, '10']);
    expect(await read(world, response)).toEqual({ text: DIGITS });
    expect(asked(world)).toEqual([
      { range: null, ifRange: null },
      { range: 'bytes=4-', ifRange: '"v1"' },
    ]);
    expect(world.network.times()).toEqual([0, 500]);
    expect(world.steps).toMatchObject([
      { type: 'attempt' },
      { type: 'retry-scheduled', attempt: 1, outcome: { kind: 'network-error' }, at: 0 },
      { type: 'attempt' },
      { type: 'resumed', resumptions: 1, fromByte: 4, at: 500 },
    ]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('B138 also where only the last byte is missing', async () => {
    const world = resuming([digits.all(9), digits.from(9)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).at(-1)).toEqual({ range: 'bytes=9-', ifRange: '"v1"' });
  });

  test('takes of a part no more than it said it was, and closes its connection', async () => {
    const long = watchedBody(['45', '67']);
    const headers = { ...digits.from(4).headers, 'Content-Range': 'bytes 4-6/10' };
    const world = resuming([digits.all(4), { status: 206, headers, body: () => long.open() }]);
    const seen = await serveAndRead(world);
    expect([seen.text, String(seen.error)]).toEqual(['012345', expect.stringContaining('goes on after byte 6')]);
    expect(long.cancelled()).toBe(1);
  });

  test('is over if nothing is missing', async () => {
    const world = resuming([digits.all(10)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(world.network.sent).toHaveLength(1);
  });

  test('also if nobody says so', async () => {
    const world = resuming([{ ...digits.all(), body: '0123' }, digits.from(4)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
  });

  test('before its first byte: all of it', async () => {
    const world = resuming([digits.all(0), digits.from(0)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).at(-1)?.range).toBe('bytes=0-');
  });

  test('B136 undici-118 the length of the whole may be unknown', async () => {
    const rest = { ...digits.from(4), headers: { 'Content-Range': 'bytes 4-9/*' } };
    expect(await serveAndRead(resuming([digits.all(4), rest]))).toEqual({ text: DIGITS });
  });

  test('what came of the rest is not asked for again', async () => {
    const some = { ...digits.from(4), headers: { 'Content-Range': 'bytes 4-6/10' }, body: '456' };
    const world = resuming([digits.all(4), some, digits.from(7)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).map(({ range }) => range)).toEqual([null, 'bytes=4-', 'bytes=7-']);
  });

  test('B146 an error on the way is a failed try, and none of the data', async () => {
    const busy: Answer = { status: 503, headers: { 'Retry-After': '3' }, body: '{"error":"busy"}' };
    const world = resuming([digits.all(2), digits.from(2, 4), busy, 'reset', digits.from(4)], {
      policy: { attempts: 6 },
    });
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    // 500 ms; the second broke off for nothing, so 1 s; as long as the server said; and then as the fourth.
    expect(world.network.times()).toEqual([0, 500, 1_500, 4_500, 8_500]);
  });

  test('a rest that can be seen to be of another time is asked for under its date', async () => {
    const of = {
      'Accept-Ranges': 'bytes',
      'Content-Length': '10',
      'Last-Modified': 'Wed, 14 Jan 2026 12:00:00 GMT',
      Date: 'Thu, 15 Jan 2026 12:00:00 GMT',
    };
    const world = resuming([
      { headers: of, body: cutAfter('0123') },
      { status: 206, headers: { 'Content-Range': 'bytes 4-9/10' }, body: '456789' },
    ]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).at(-1)).toEqual({ range: 'bytes=4-', ifRange: 'Wed, 14 Jan 2026 12:00:00 GMT' });
  });

  test('the rest is asked for with the request’s own headers, past the cache', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    const request = new Request('https://app.test/file', { headers: { Authorization: 'token', 'X-Own': '1' } });
    const response = await world.serve({ request });
    await read(world, response);
    const [, rest = {} as never] = world.network.sent;
    const { headers, cache, method, url } = rest.request;
    expect([headers.get('authorization'), headers.get('x-own'), cache, method, url]).toEqual([
      'token',
      '1',
      'no-store',
      'GET',
      'https://app.test/file',
    ]);
  });
});

describe('no byte of anything else is glued on', () => {
  test.each<{ name: string; rest: Answer & object; why: RegExp }>([
    { name: 'undici-115 another ETag', rest: rangesOf(DIGITS, '"v2"').from(4), why: /another ETag/ },
    { name: 'undici-122 the whole: it has changed', rest: rangesOf('abcdefghij', '"v2"').all(), why: /a whole one/ },
    {
      name: 'B146 an error that says 200',
      rest: { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"error":1}' },
      why: /a whole one/,
    },
    {
      name: 'B135 an overlap',
      rest: { ...digits.from(4), headers: { 'Content-Range': 'bytes 2-9/10' }, body: '23456789' },
      why: /begins at byte 2/,
    },
    {
      name: 'B139 several parts',
      rest: {
        status: 206,
        headers: { 'Content-Type': 'multipart/byteranges; boundary=x', 'Content-Range': 'bytes 4-9/10' },
      },
      why: /several parts/,
    },
    {
      name: 'B134 an encoding',
      rest: { status: 206, headers: { 'Content-Encoding': 'gzip', 'Content-Range': 'bytes 4-9/10' } },
      why: /encoded/,
    },
    {
      name: 'undici-123 a length of its own',
      rest: { status: 206, headers: { 'Content-Length': '2', 'Content-Range': 'bytes 4-9/10' }, body: '45' },
      why: /another length/,
    },
    {
      name: 'B143 a 416 with a page',
      rest: { status: 416, headers: { 'Content-Range': 'bytes */3' }, body: '<html>' },
      why: /status 416/,
    },
    { name: 'a 404', rest: { status: 404, body: 'gone' }, why: /status 404/ },
    { name: 'an empty 204', rest: { status: 204 }, why: /status 204/ },
  ])('$name', async ({ rest, why }) => {
    const body = watchedBody([typeof rest === 'object' && 'body' in rest ? String(rest.body) : 'x']);
    const world = resuming([
      digits.all(4),
      'status' in rest && rest.status === 204 ? rest : { ...rest, body: body.open },
    ]);
    refused(world, await serveAndRead(world), why);
    expect(world.network.sent).toHaveLength(2);
    // And the connection that would have brought it is free.
    expect(body.cancelled()).toBe(body.opened());
  });

  test('a rest that is longer than it says', async () => {
    const world = resuming([digits.all(4), { ...digits.from(4), body: '456789ab' }]);
    expect(await serveAndRead(world)).toEqual({ text: '0123', error: expect.any(TypeError) });
  });

  test('nor is a body that is longer than it says taken for whole', async () => {
    const world = resuming([{ ...digits.all(), body: `${DIGITS}ab` }]);
    expect(await serveAndRead(world)).toEqual({ text: '', error: expect.any(TypeError) });
  });

  test('B143 a 503 that stays is the end of it', async () => {
    const world = resuming([digits.all(4), { status: 503, body: 'busy' }]);
    const { text, error } = await serveAndRead(world);
    expect([text, String(error)]).toEqual(['0123', expect.stringContaining('status 503')]);
    expect(world.network.sent).toHaveLength(4);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', status: 503, attempts: 4 });
  });

  test('a network that stays lost: its own error', async () => {
    const world = resuming([digits.all(4), 'reset']);
    expect(await serveAndRead(world)).toEqual({ text: '0123', error: world.network.sent.at(-1)?.error });
    expect(world.network.sent).toHaveLength(4);
  });
});

describe('B144 a body without a declared length', () => {
  const open = (body: () => ReadableStream<Uint8Array>): Answer => ({
    headers: { 'Accept-Ranges': 'bytes', ETag: '"v1"' },
    body,
  });
  const noMore = (total: number, etag = '"v1"'): Answer => ({
    status: 416,
    headers: { 'Content-Range': `bytes */${total}`, ETag: etag },
    body: '<html>',
  });

  test('all of which was there: a clean end', async () => {
    const world = resuming([open(cutAfter(DIGITS)), noMore(10)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).at(-1)?.range).toBe('bytes=10-');
    expect(types(world)).toEqual(['attempt', 'retry-scheduled', 'attempt', 'resumed']);
  });

  test('all of something else was there', async () => {
    const world = resuming([open(cutAfter(DIGITS)), noMore(10, '"v2"')]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS, error: expect.any(TypeError) });
  });

  test('the rest of which tells its length', async () => {
    const world = resuming([open(cutAfter('0123')), digits.from(4, 6), digits.from(6)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
  });

  test('the rest of which tells none: the server is asked whether there is more', async () => {
    const rest: Answer = { status: 206, headers: { 'Content-Range': 'bytes 4-9/*' }, body: '456789' };
    const world = resuming([open(cutAfter('0123')), rest, noMore(10)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
  });

  test('an orderly end is one', async () => {
    const world = resuming([{ headers: { 'Accept-Ranges': 'bytes', ETag: '"v1"' }, body: '0123' }]);
    expect(await serveAndRead(world)).toEqual({ text: '0123' });
  });
});

describe('what is not touched', () => {
  const untouched = async (script: Answer[], call = {}, policy: WorldOptions['policy'] = {}) => {
    const world = resuming(script, { policy: { ...policy } });
    const response = await world.serve(call);
    expect(response).toBe(world.network.sent.at(-1)?.response);
    return world;
  };
  const get = (headers: Record<string, string> = {}) => ({
    request: new Request('https://app.test/file', { headers }),
  });

  test('anything, by default', async () => {
    const body = vi.spyOn(Response.prototype, 'body', 'get');
    try {
      await untouched([digits.all(4)], {}, { resume: false });
      expect(body).not.toHaveBeenCalled();
    } finally {
      body.mockRestore();
    }
  });
  test('B134 an encoded body', () =>
    untouched([
      { body: cutAfter('0123'), headers: { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Content-Encoding': 'gzip' } },
    ]));
  test('B131 undici-117 undici-118 an answer to a range of the page’s own', async () => {
    await untouched([digits.from(4, 6)], get({ Range: 'bytes=4-' }));
    await untouched([digits.all(4)], get({ Range: 'bytes=0-3' }));
  });
  test('B139 the answer to a HEAD', () =>
    untouched([digits.all()], { request: new Request('https://app.test/f', { method: 'HEAD' }) }));
  test('B139 several parts', () =>
    untouched([{ status: 206, headers: { 'Content-Type': 'multipart/byteranges; boundary=x' } }]));
  test('undici-120 undici-121 what has a weak ETag', () => untouched([rangesOf(DIGITS, 'W/"v1"').all(4)]));
  test('undici-122 what has no validator', () =>
    untouched([{ headers: { 'Accept-Ranges': 'bytes', 'Content-Length': '10' }, body: cutAfter('0123') }]));
  test('what the browser has given to the page', async () => {
    const world = resuming([digits.all(4)]);
    const response = await world.time.until(serve({ ...world.call(), raced: true }, world.engine, () => {}));
    expect(response).toBe(world.network.sent[0]?.response);
  });
  test('where the browser would cut the stream short', async () => {
    const world = resuming([digits.all(4)]);
    const response = await world.time.until(serve({ ...world.call(), streams: false }, world.engine, () => {}));
    expect(response).toBe(world.network.sent[0]?.response);
  });
  test('what a mirror has answered', async () => {
    const prepare = (response: Response) => Object.defineProperty(response, 'url', { value: 'https://b.test/file' });
    const world = resuming([digits.all(4)], { prepare, policy: { mirrors: ['https://b.test'] } });
    expect(await world.serve()).toBe(world.network.sent[0]?.response);
  });
});

describe('of another origin', () => {
  const cors = (response: Response) => Object.defineProperty(response, 'type', { value: 'cors' });

  test('no preflight is caused, and the rest proves itself', async () => {
    const world = resuming([digits.all(4), digits.from(4)], { prepare: cors });
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(asked(world).at(-1)).toEqual({ range: 'bytes=4-', ifRange: null });
  });

  test('a rest that cannot is refused', async () => {
    const rest = { ...digits.from(4), headers: { 'Content-Range': 'bytes 4-9/10' } };
    const world = resuming([digits.all(4), rest], { prepare: cors });
    refused(world, await serveAndRead(world), /another ETag/);
  });

  test('a body that turns out to be encoded ends as the network says', async () => {
    const longer = resuming([{ ...digits.all(), body: `${DIGITS}ab` }], { prepare: cors });
    expect(await serveAndRead(longer)).toEqual({ text: `${DIGITS}ab` });
    const shorter = resuming([{ ...digits.all(), body: '0123' }], { prepare: cors });
    expect(await serveAndRead(shorter)).toEqual({ text: '0123' });
    const cut = resuming([{ ...digits.all(), body: cutAfter(`${DIGITS}ab`) }], { prepare: cors });
    expect(await serveAndRead(cut)).toEqual({ text: `${DIGITS}ab`, error: expect.any(TypeError) });
    expect(cut.network.sent).toHaveLength(1);
  });
});

describe('how often', () => {
  /** A server that cuts each answer after so many bytes. */
  const cuts = (whole: string, bytes: number) => {
    const server = rangesOf(whole);
    return (request: Request): Answer => {
      const from = Number(/\d+/.exec(request.headers.get('Range') ?? '')?.[0] ?? Number.NaN);
      if (Number.isNaN(from)) return server.all(bytes);
      return from + bytes >= whole.length ? server.from(from) : server.from(from, from + bytes);
    };
  };

  test('as long as it goes on, with all attempts each time', async () => {
    const whole = 'x'.repeat(8 * PROGRESS_BYTES);
    const world = resuming(cuts(whole, PROGRESS_BYTES));
    expect((await serveAndRead(world)).text).toHaveLength(whole.length);
    expect(world.network.times()).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'resumed', resumptions: 7, fromByte: 7 * PROGRESS_BYTES });
  });

  test('S10 a server that sends a byte and cuts is asked as often as one that sends none', async () => {
    const world = resuming(cuts(DIGITS, 1));
    expect(await serveAndRead(world)).toEqual({ text: '0123', error: expect.any(TypeError) });
    expect(world.network.times()).toEqual([0, 500, 1_500, 3_500]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts', attempts: 4 });
  });

  test.each([
    { name: 'one that brings next to nothing has cost its token', bytes: 2, left: 18 },
    { name: 'one that brings something gets it back', bytes: PROGRESS_BYTES, left: 20 },
  ])('$name', async ({ bytes, left }) => {
    const key = { origin: 'https://app.test', group: 'data' };
    const whole = 'x'.repeat(4 * bytes);
    const world = resuming(cuts(whole, bytes), { policy: { backoff: constant(0) }, budget: { refillPerSecond: 0 } });
    const response = await world.serve();
    expect((await read(world, response)).text).toBe(whole);
    expect(world.network.sent).toHaveLength(4);
    expect(world.book.look(key).budget.tokens).toBe(left);
  });

  test('an empty budget ends it', async () => {
    const world = resuming([digits.all(4), digits.from(4)], {
      budget: { capacity: 0.5, refillPerSecond: 0, retryCost: 0.4 },
    });
    world.book.record(
      { origin: 'https://app.test', group: 'data' },
      { kind: 'retry-reserved', at: world.time.now(), cost: 0.4 },
    );
    expect(await serveAndRead(world)).toEqual({ text: '0123', error: expect.any(TypeError) });
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'budget' });
  });

  test('a time that the server has named is waited for', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    const response = await world.serve();
    const until = world.time.now() + 5_000;
    world.book.record(
      { origin: 'https://app.test', group: 'data' },
      { kind: 'hold-asked', at: world.time.now(), status: 503, path: '/api/items', until, scope: 'group' },
    );
    expect(await read(world, response)).toEqual({ text: DIGITS });
    expect(world.network.times()).toEqual([0, 5_000]);
  });

  test('each break has the whole deadline, and no more', async () => {
    const world = resuming([digits.all(4), { status: 503, headers: { 'Retry-After': '10' } }], {
      policy: { totalMs: 8_000 },
    });
    const response = await world.serve();
    await world.time.advance(20_000);
    expect(await read(world, response)).toMatchObject({ text: '0123', error: expect.any(TypeError) });
    expect(world.network.sent).toHaveLength(2);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline' });
  });

  test('a device that is offline is waited for, at no cost', async () => {
    let online = true;
    const world = resuming([digits.all(4), digits.from(4)], { isOnline: () => online });
    const response = await world.serve();
    online = false;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const rest = reader.read();
    await world.time.advance(5_000);
    expect(world.network.sent).toHaveLength(1);
    online = true;
    expect(new TextDecoder().decode((await world.time.until(rest)).value)).toBe('456789');
  });
});

describe('whoever reads', () => {
  test('slowly lets nothing pile up', async () => {
    const body = watchedBody([...DIGITS], { ends: true });
    const world = resuming([{ ...digits.all(), body: body.open }]);
    const reader = ((await world.serve()).body as ReadableStream<Uint8Array>).getReader();
    await world.time.settle();
    expect(body.pulled()).toBe(0);
    await reader.read();
    await world.time.settle();
    expect(body.pulled()).toBe(1);
  });

  test('B142 undici-124 slowly after a break gets on', async () => {
    const server = rangesOf('x'.repeat(300_000));
    const rest = watchedBody(['x'.repeat(100_000), 'x'.repeat(100_000)], { ends: true });
    const world = resuming([server.all(100_000), { ...server.from(100_000), body: rest.open }]);
    const reader = ((await world.serve()).body as ReadableStream<Uint8Array>).getReader();
    let bytes = 0;
    for (;;) {
      const { done, value } = await world.time.until(reader.read());
      if (done) break;
      bytes += value.byteLength;
      await world.time.advance(1_000);
      // What is read next is not asked for before.
      expect(rest.pulled() <= bytes - 100_000).toBe(true);
    }
    expect(bytes).toBe(300_000);
  });

  test('no further: the connection is let go', async () => {
    const body = watchedBody(['0123']);
    const world = resuming([{ ...digits.all(), body: body.open }]);
    const response = await world.serve();
    await response.body?.cancel();
    expect(body.cancelled()).toBe(1);
  });

  test('no further, during a wait: nothing is sent', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    const reader = ((await world.serve()).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    void reader.read();
    await world.time.advance(100);
    await reader.cancel();
    await world.time.advance(10_000);
    expect(world.network.sent).toHaveLength(1);
    expect(world.sleeper.pending()).toBe(0);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'aborted' });
  });

  test('no further, while the rest is on its way: it is let go when it comes', async () => {
    const body = watchedBody(['456789']);
    const world = resuming([digits.all(4), { ...digits.from(4), body: body.open, afterMs: 1_000 }]);
    const reader = ((await world.serve()).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    void reader.read();
    await world.time.advance(600);
    await reader.cancel();
    await world.time.advance(10_000);
    expect([body.opened(), body.cancelled()]).toEqual([1, 1]);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'aborted' });
  });

  test('and has gone: nothing is sent', async () => {
    const world = resuming([digits.all(4), digits.from(4)], { policy: { backoff: constant(5_000) } });
    let gone = false;
    const call = { ...world.call(), isGone: async () => gone };
    const reader = ((await world.time.until(serve(call, world.engine, () => {}))).body as ReadableStream).getReader();
    await reader.read();
    gone = true;
    await rejection(world.time.until(reader.read()));
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'client-gone' });
  });

  test('and calls off gets its own reason', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    const controller = new AbortController();
    const call = { ...world.call(), signal: controller.signal };
    const reader = ((await world.time.until(serve(call, world.engine, () => {}))).body as ReadableStream).getReader();
    await reader.read();
    const rest = rejection(reader.read());
    await world.time.advance(100);
    controller.abort('enough');
    expect(await world.time.until(rest)).toBe('enough');
    expect(world.network.sent).toHaveLength(1);
  });

  test('keeps no event open: a browser would stop the worker in the end', async () => {
    const world = resuming([digits.all(4), digits.from(4)]);
    expect(await serveAndRead(world)).toEqual({ text: DIGITS });
    expect(world.kept).toEqual([]);
  });
});

test('the page’s object knows where it came from', async () => {
  const prepare = (response: Response) =>
    Object.defineProperties(response, {
      url: { value: 'https://app.test/moved' },
      redirected: { value: true },
      type: { value: 'basic' },
    });
  const response = await resuming([digits.all()], { prepare }).serve();
  expect([response.url, response.redirected, response.type]).toEqual(['https://app.test/moved', true, 'basic']);
});

test('the circuit: what breaks off has failed, and what goes on has not', async () => {
  const key = { origin: 'https://app.test', group: 'data' };
  const world = resuming([digits.all(4), digits.from(4)], { circuit: {} });
  await serveAndRead(world);
  expect(world.book.look(key).circuit).toMatchObject({ openUntil: 0, failures: 0 });
});
