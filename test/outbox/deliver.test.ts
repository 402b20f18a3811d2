import { describe, expect, test, vi } from 'vitest';
import { costOfSend, type Delivery, deliver, type Prepare } from '../../src/outbox/deliver.ts';
import type { OutboxEntry } from '../../src/policy/outbox-entry.ts';
import { createWorld, type World, type WorldOptions } from '../support/engine-world.ts';
import { entryOf } from '../support/outbox-entries.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const BODY = new TextEncoder().encode('two apples').buffer;
const REQUEST = { ...entryOf().request, headers: [['Idempotency-Key', 'k']] as [string, string][] };

function send(world: World, entry: Partial<OutboxEntry> = {}, more: Partial<Delivery> = {}, body = BODY) {
  const delivery: Delivery = {
    engine: world.engine,
    origin: 'https://app.test',
    prepare: undefined,
    whoIsThere: async () => undefined,
    onFault: (fault) => world.faults.push(fault),
    ...more,
  };
  return world.time.until(deliver(entryOf({ request: REQUEST, ...entry }), body, delivery));
}
const sent = async (script: Answer[], more?: Partial<Delivery>, options: WorldOptions = {}) => {
  const world = createWorld({ script, ...options });
  return { came: await send(world, {}, more), world };
};
const keysOf = ({ network }: World) => network.sent.map(({ request }) => request.headers.get('Idempotency-Key'));
/** An answer that only a browser could give. */
const seenAs = (fields: object) => (response: Response) =>
  new Proxy(response, {
    get: (target, name) => {
      if (name in fields) return Reflect.get(fields, name) as unknown;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('an entry is sent once', () => {
  test('and what came of it told', async () => {
    const { came, world } = await sent([{ status: 201, body: 'taken' }]);
    expect(came).toEqual({ status: 201, body: 'taken' });
    const [one] = world.network.sent;
    expect(one?.request).toMatchObject({ method: 'POST', url: 'https://app.test/api/orders?x=1' });
    expect(new TextDecoder().decode(one?.body)).toBe('two apples');
    expect([keysOf(world), world.sleeper.pending()]).toEqual([['k'], 0]);
  });

  test('whatever comes', async () => {
    for (const status of [500, 503, 429, 408, 401, 409]) {
      const { came, world } = await sent([{ status, body: null }]);
      expect([came, world.network.sent.length]).toEqual([{ status }, 1]);
    }
    expect((await sent(['reset'])).came).toBe('lost');
  });

  test('with the time that its server asks for', async () => {
    const headers = { 'Retry-After': '7' };
    expect((await sent([{ status: 503, headers, body: null }])).came).toEqual({ status: 503, retryAfterMs: 7_000 });
  });

  test('with where it came from, if somebody has redirected it', async () => {
    const from = (url: string) =>
      sent([{ status: 200, body: null }], {}, { prepare: seenAs({ redirected: true, url }) });
    expect((await from('https://app.test/login?to=x')).came).toEqual({ status: 200, redirectedTo: '/login' });
    expect((await from('https://portal.test/')).came).toEqual({ status: 200, redirectedTo: 'https://portal.test/' });
  });

  test('as an answer that cannot be read, if it is one', async () => {
    const prepare = seenAs({ type: 'opaque', status: 0, body: null });
    expect((await sent([200], {}, { prepare })).came).toEqual({ status: 0, opaque: true });
  });

  test('for a minute at most, and its connection is closed then', async () => {
    const { came, world } = await sent(['hang']);
    expect([came, world.time.elapsed()]).toEqual(['lost', 60_000]);
    expect(world.network.sent[0]?.abortedAt).toBe(60_000);
  });

  test('for as much longer as its upload takes at 128 kbit/s', async () => {
    const world = createWorld({ script: ['hang'] });
    expect(await send(world, {}, {}, new ArrayBuffer(16_000))).toBe('lost');
    expect(world.time.elapsed()).toBe(61_000);
  });

  // The engine would wait for the network and send it again: that is for the outbox to say.
  test('also if the device goes offline meanwhile', async () => {
    let online = true;
    const world = createWorld({
      isOnline: () => online,
      script: () => {
        online = false;
        return 'reset';
      },
    });
    expect(await send(world, { repeatable: false })).toBe('lost');
    online = true;
    await world.time.advance(120_000);
    expect(world.network.sent).toHaveLength(1);
  });

  test('not at all while its server has asked for time, or if it is no request', async () => {
    const world = createWorld({ script: [{ status: 503, headers: { 'Retry-After': '10' } }, 200] });
    await world.serve({ policy: { attempts: 1 } });
    expect(await send(world)).toBe('unsent');
    const before = world.time.elapsed();
    expect(await send(world, { request: { ...REQUEST, method: 'TRACE' } })).toBe('unsent');
    expect([world.network.sent.length, world.time.elapsed()]).toEqual([1, before]);
  });
});

describe('of an answer’s body', () => {
  test('16 KiB are kept, and no more is read', async () => {
    const body = watchedBody(Array.from({ length: 10 }, () => 'x'.repeat(5_000)));
    const { came } = await sent([{ status: 200, body: body.open }]);
    expect(came).toEqual({ status: 200, body: 'x'.repeat(16_384) });
    expect([body.cancelled(), body.pulled()]).toEqual([1, 20_000]);
  });

  test('half a letter is none', async () => {
    const { came } = await sent([{ status: 200, body: new Uint8Array([0x61, 0xc3]) }]);
    expect(came).toEqual({ status: 200, body: 'a' });
    const split = watchedBody(['a']);
    expect((await sent([{ status: 200, body: split.open }])).came).toEqual({ status: 200, body: 'a' });
  });

  test('what comes within two seconds is kept', async () => {
    const body = watchedBody(['begun']);
    const { came, world } = await sent([{ status: 422, body: body.open }]);
    expect([came, world.time.elapsed()]).toEqual([{ status: 422, body: 'begun' }, 2_000]);
    expect(body.cancelled()).toBe(1);
  });

  test('what broke off changes nothing about its status', async () => {
    const broken = () =>
      new ReadableStream<Uint8Array>({
        pull(to) {
          to.error(new TypeError('lost'));
        },
      });
    expect((await sent([{ status: 200, body: broken }])).came).toEqual({ status: 200 });
  });
});

describe('an entry that its server does not know the sender of', () => {
  const signed = (request: Request) => {
    const headers = new Headers(request.headers);
    headers.set('Authorization', 'Bearer new');
    headers.set('Idempotency-Key', 'another');
    return new Request('https://app.test/api/v2', { method: 'PUT', headers, body: 'something else' });
  };

  test.each([401, 403])('%i is asked about once, and sent once more with its own key and body', async (status) => {
    const prepare = vi.fn<Prepare>(signed);
    const { came, world } = await sent([status, 200], { prepare });
    expect(came).toMatchObject({ status: 200 });
    expect(prepare).toHaveBeenCalledTimes(1);
    expect(keysOf(world)).toEqual(['k', 'k']);
    const again = world.network.sent[1];
    expect(again?.request).toMatchObject({ url: 'https://app.test/api/v2', method: 'POST' });
    expect(again?.request.headers.get('Authorization')).toBe('Bearer new');
    expect(new TextDecoder().decode(again?.body)).toBe('two apples');
  });

  test('prepare is given all of the request, and may take its time', async () => {
    let seen: string | undefined;
    const world = createWorld({ script: [401, 200] });
    const prepare: Prepare = async (request) => {
      seen = `${request.method} ${request.url} ${await request.text()}`;
      await world.time.after(29_999);
      return request;
    };
    expect(await send(world, {}, { prepare })).toMatchObject({ status: 200 });
    expect(seen).toBe('POST https://app.test/api/orders?x=1 two apples');
  });

  test('is refused if nobody knows more, or it is refused again', async () => {
    expect((await sent([{ status: 401, body: null }])).came).toEqual({ status: 401 });
    const nobody = await sent([{ status: 401, body: null }], { prepare: () => undefined });
    expect([nobody.came, nobody.world.network.sent.length]).toEqual([{ status: 401 }, 1]);
    const again = await sent([401, { status: 403, body: null }, 200], { prepare: signed });
    expect([again.came, again.world.network.sent.length]).toEqual([{ status: 403 }, 2]);
  });

  test.each<{ name: string; prepare: Prepare; afterMs: number }>([
    {
      name: 'throws',
      prepare: () => {
        throw new Error('the login is out of reach');
      },
      afterMs: 0,
    },
    { name: 'rejects', prepare: () => Promise.reject(new Error('offline')), afterMs: 0 },
    { name: 'makes no request', prepare: () => ({ Authorization: 'Bearer new' }) as never, afterMs: 0 },
    { name: 'takes longer than 30 s', prepare: () => new Promise(() => {}), afterMs: 30_000 },
  ])('is kept if prepare $name, and that is reported', async ({ prepare, afterMs }) => {
    const { came, world } = await sent([{ status: 401, body: 'who?' }], { prepare });
    expect(came).toEqual({ status: 401, body: 'who?', unprepared: true });
    expect([world.faults.length, world.time.elapsed(), world.network.sent.length]).toEqual([1, afterMs, 1]);
  });

  test('S23 is not sent as somebody else, who has come while prepare was asked', async () => {
    const whoIsThere = async () => 'bob';
    const { came, world } = await sent([{ status: 401, body: null }, 200], { prepare: signed, whoIsThere });
    expect([came, world.network.sent.length]).toEqual([{ status: 401, unprepared: true }, 1]);
    const same = await sent([401, 200], { prepare: signed, whoIsThere: async () => undefined });
    expect(same.came).toMatchObject({ status: 200 });
  });

  test('one without a key gets none', async () => {
    const world = createWorld({ script: [401, 200] });
    await send(world, { request: entryOf().request }, { prepare: (request) => request });
    expect(keysOf(world)).toEqual([null, null]);
  });

  test('no other answer is asked about', async () => {
    const prepare = vi.fn<Prepare>();
    for (const answer of [200, 400, 404, 500, 'reset'] as const) await sent([answer], { prepare });
    expect(prepare).not.toHaveBeenCalled();
  });
});

test.each([
  { entry: { sends: 0 }, cost: 0 },
  { entry: { sends: 0, status: 503 }, cost: 0 },
  { entry: { sends: 1 }, cost: 1 },
  { entry: { sends: 1, status: 500 }, cost: 1 },
  { entry: { sends: 2, status: 503 }, cost: 5 },
  { entry: { sends: 1, status: 429 }, cost: 5 },
])('$entry costs $cost', ({ entry, cost }) => {
  expect(costOfSend(entryOf(entry), createWorld({ budget: { throttledCost: 5 } }).engine)).toBe(cost);
});
