import { describe, expect, test, vi } from 'vitest';
import { resolveOutbox } from '../../src/policy/outbox.ts';
import type { OutboxItem } from '../../src/protocol/outbox.ts';
import { NAVIGATION, NEVER_OPENS, rejection, URL_OF_ITEMS } from '../support/engine-world.ts';
import { createMemoryOutbox } from '../support/memory-outbox.ts';
import { createOutboxWorld, type OutboxWorld } from '../support/outbox-world.ts';
import { watchedBody } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const post = (key?: string, body: BodyInit = 'two apples', url = URL_OF_ITEMS) =>
  new Request(url, { method: 'POST', body, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const keysOf = ({ network }: OutboxWorld) => network.sent.map(({ request }) => request.headers.get('Idempotency-Key'));
const typesOf = ({ notices }: OutboxWorld) => notices.map(({ type }) => type);
const offline = { isOnline: () => false };

describe('what its server answers is the page’s', () => {
  test.each([200, 201, 400, 401, 404, 422])('%i', async (status) => {
    const world = createOutboxWorld({ script: [status] });
    expect((await world.ask({ request: post('k') })).status).toBe(status);
    expect([world.states(), world.notices, world.queued()]).toEqual([[], [], 0]);
  });

  test('a 500 to a POST is its own answer, with a key as without', async () => {
    for (const key of ['k', undefined]) {
      const world = createOutboxWorld({ script: [500] });
      expect((await world.ask({ request: post(key) })).status).toBe(500);
      expect(world.states()).toEqual([]);
    }
  });

  test('after retries, too', async () => {
    const world = createOutboxWorld({ script: ['reset', 503, 201] });
    expect((await world.ask({ request: post('k') })).status).toBe(201);
    expect(world.states()).toEqual([]);
  });

  test('and so is what the user’s own function delivers', async () => {
    const world = createOutboxWorld({ script: [503], classify: async () => 'deliver' });
    expect((await world.ask({ request: post('k') })).status).toBe(503);
    expect(world.states()).toEqual([]);
    const other = createOutboxWorld({ script: [500], classify: async () => 'retry' });
    expect((await other.ask({ request: post('k') })).status).toBe(202);
  });
});

describe('what cannot be delivered is kept', () => {
  test('workbox-376 a request that gets no answer, as it is', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    const answer = await world.ask({ request: post('k') });
    expect([answer.status, answer.statusText]).toEqual([202, 'Accepted']);
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    const item = (await answer.json()) as OutboxItem;
    expect(await world.outbox.carryOut({ do: 'list' })).toEqual([item]);
    const [entry] = world.box.entries();
    const now = world.time.now();
    expect(entry).toMatchObject({
      id: item.id,
      outbox: 'outbox',
      order: 'outbox',
      group: 'data',
      repeatable: true,
      bytes: 10,
      queuedAt: now,
      expiresAt: now + 86_400_000,
      state: 'waiting',
      // It was sent four times: half of 16 s are waited for before the fifth (chance 0).
      sends: 4,
      notBefore: now + 8_000,
      request: { url: URL_OF_ITEMS, method: 'POST', mode: 'cors' },
    });
    expect(entry?.owner).toBeUndefined();
    expect(world.notices).toEqual([
      { type: 'queued', at: now, id: item.id, outbox: 'outbox', method: 'POST', url: URL_OF_ITEMS },
    ]);
    expect([world.queued(), await world.outbox.waiting()]).toEqual([1, 1]);
    expect(world.network.sent).toHaveLength(4);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('and the answer that nobody gets holds no connection', async () => {
    const body = watchedBody(['busy']);
    const world = createOutboxWorld({ script: [{ status: 503, body: () => body.open() }] });
    expect((await world.ask({ request: post('k') }, {})).status).toBe(202);
    expect([body.opened(), body.cancelled()]).toEqual([4, 4]);
  });

  test('workbox-360 the time is that of now', async () => {
    const world = createOutboxWorld(offline);
    await world.time.advance(1_234);
    await world.ask({ request: post() });
    expect(world.box.entries()[0]?.queuedAt).toBe(world.time.now());
  });

  test.each([503, 429, 502, 504, 408, 409])('one that is answered with %i for too long', async (status) => {
    const world = createOutboxWorld({ script: [status] });
    expect((await world.ask({ request: post('k') })).status).toBe(202);
    expect(world.states()).toEqual(['waiting']);
  });

  test.each(['PUT', 'DELETE'])('a %s without a key: it may be sent again', async (method) => {
    const world = createOutboxWorld({ script: ['reset'] });
    expect((await world.ask({ request: new Request(URL_OF_ITEMS, { method }) })).status).toBe(202);
    expect(world.box.entries()[0]).toMatchObject({ repeatable: true, bytes: 0 });
  });

  test('but not retried where its policy does not retry its method', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    const answer = await world.ask({
      request: new Request(URL_OF_ITEMS, { method: 'PUT' }),
      policy: { methods: ['GET'] },
    });
    expect([answer.status, world.network.sent.length]).toEqual([202, 1]);
  });

  test('one that may be sent again by the user’s own word', async () => {
    const world = createOutboxWorld({ script: ['reset'], policy: { retryNonIdempotent: true } });
    expect((await world.ask({ request: post() })).status).toBe(202);
    expect(world.box.entries()[0]?.repeatable).toBe(true);
  });

  test('with the whole body also if the upload broke off, and B032 as often as it is sent', async () => {
    const world = createOutboxWorld({
      script: (_request, earlier) => (earlier < 2 ? { reset: true, early: true } : 200),
    });
    const body = 'x'.repeat(100_000);
    await world.ask({ request: post('k', body), policy: { attempts: 1 } });
    await world.send();
    await world.time.advance(10_000);
    await world.send();
    expect(world.states()).toEqual(['sent']);
    expect(world.network.sent.at(-1)?.body).toHaveLength(100_000);
  });

  test('if its page has gone meanwhile', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    const call = { ...world.call({ request: post('k') }), isGone: async () => true };
    expect((await world.time.until(world.outbox.answer(call, resolveOutbox(true)))).status).toBe(202);
    expect(world.states()).toEqual(['waiting']);
  });
});

describe('a request that must not be sent twice', () => {
  test('is not kept once it was sent: its answer may be lost, and the order taken', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    const problem = await rejection(world.ask({ request: post() }));
    expect(problem).toMatchObject({ message: 'connection of attempt 1 lost' });
    expect([world.network.sent.length, world.states(), world.notices]).toEqual([1, [], []]);
  });

  test('nor is it sent again because the device went offline meanwhile', async () => {
    let online = true;
    const world = createOutboxWorld({
      isOnline: () => online,
      script: () => {
        online = false;
        return 'reset';
      },
    });
    await rejection(world.ask({ request: post() }));
    online = true;
    await world.time.advance(60_000);
    expect([world.network.sent.length, world.states()]).toEqual([1, []]);
  });

  test('is kept if it was never sent: offline', async () => {
    const world = createOutboxWorld(offline);
    const answer = await world.ask({ request: post() });
    expect([answer.status, world.network.sent.length]).toEqual([202, 0]);
    expect(world.box.entries()[0]).toMatchObject({ repeatable: false });
  });

  test('is kept if it was never sent: its server asked for more time than it has', async () => {
    const world = createOutboxWorld({ script: [{ status: 503, headers: { 'Retry-After': '600' } }, 200] });
    await world.serve({ policy: { attempts: 1 } });
    expect((await world.ask({ request: post() })).status).toBe(202);
    expect(world.network.sent).toHaveLength(1);
  });

  test('is kept if it was never sent: an open circuit refuses it', async () => {
    const circuit = { ...NEVER_OPENS, failures: 1, openMs: 60_000, parking: false };
    const world = createOutboxWorld({ script: ['reset'], circuit, policy: { circuit: 'reject' } });
    await rejection(world.serve({ policy: { attempts: 1 } }));
    expect((await world.ask({ request: post() })).status).toBe(202);
    expect(world.network.sent).toHaveLength(1);
  });
});

describe('offline', () => {
  test('nothing waits for the device: what may be sent again is kept as soon as it is found out', async () => {
    let online = true;
    const world = createOutboxWorld({
      isOnline: () => online,
      script: () => {
        online = false;
        return 'reset';
      },
    });
    expect((await world.ask({ request: post('k') })).status).toBe(202);
    expect([world.time.elapsed(), world.network.sent.length]).toEqual([0, 1]);
    expect(world.steps.map((step) => ('reason' in step ? step.reason : step.type))).toEqual(['attempt', 'offline']);
  });
});

describe('addKey', () => {
  test('B036 gives every attempt and what is kept the same key', async () => {
    const world = createOutboxWorld({ script: (_request, earlier) => (earlier < 4 ? 'reset' : 200) });
    await world.ask({ request: post() }, { addKey: true });
    await world.send();
    expect(world.states()).toEqual(['sent']);
    const keys = keysOf(world);
    expect(keys).toHaveLength(5);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    expect(world.network.sent.at(-1)?.request.headers.get('Content-Type')).toBe('text/plain;charset=UTF-8');
  });

  test('leaves the page’s own key', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    await world.ask({ request: post('mine') }, { addKey: true });
    expect(new Set(keysOf(world))).toEqual(new Set(['mine']));
    const { headers = [] } = world.box.entries()[0]?.request ?? {};
    expect(headers.filter(([name]) => name.toLowerCase() === 'idempotency-key')).toEqual([['idempotency-key', 'mine']]);
  });

  test('S27 gives none to another origin, which may not know it', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    await rejection(world.ask({ request: post(undefined, 'x', 'https://api.test/x') }, { addKey: true }));
    expect(keysOf(world)).toEqual([null]);
    const off = createOutboxWorld(offline);
    await off.ask({ request: post(undefined, 'x', 'https://api.test/x') }, { addKey: true });
    expect(off.box.entries()[0]).toMatchObject({ repeatable: false });
  });

  test('promises none of what a browser sends without CORS, whose headers it takes off', async () => {
    const world = createOutboxWorld(offline);
    await world.ask({ request: post(), facts: { mode: 'no-cors' } }, { addKey: true });
    const [entry] = world.box.entries();
    expect(entry?.repeatable).toBe(false);
    expect(entry?.request.headers.map(([name]) => name)).toEqual(['content-type']);
  });

  test('gives a form that was never sent its key when it is kept', async () => {
    const world = createOutboxWorld(offline);
    await world.ask({ request: post(), facts: NAVIGATION }, { addKey: true, page: '/queued' });
    const [entry] = world.box.entries();
    expect(entry).toMatchObject({ repeatable: true });
    expect(entry?.request.headers).toContainEqual(['Idempotency-Key', entry?.id]);
  });
});

describe('the page is told', () => {
  test('what it would have been told anyway, where it wants the error', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    expect(await rejection(world.ask({ request: post('k') }, { answer: 'error' }))).toBeInstanceOf(TypeError);
    const other = createOutboxWorld({ script: [503] });
    const answer = await other.ask({ request: post('k') }, { answer: 'error' });
    expect([answer.status, await answer.text()]).toEqual([503, 'answer 4']);
    expect([world.states(), other.states()]).toEqual([['waiting'], ['waiting']]);
    expect(typesOf(world)).toEqual(['queued']);
  });

  test('where to go, if it was a form', async () => {
    const world = createOutboxWorld(offline);
    const answer = await world.ask({ request: post(), facts: NAVIGATION }, { page: '/queued?x' });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, 'https://app.test/queued?x']);
    const script = await world.ask({ request: post() }, { page: '/queued' });
    expect(script.status).toBe(202);
  });
});

describe('what cannot be kept', () => {
  const notStored = (world: OutboxWorld, sends: number) =>
    expect(world.notices).toEqual([
      {
        type: 'queue-failed',
        at: world.time.now(),
        id: '',
        outbox: 'outbox',
        method: 'POST',
        url: URL_OF_ITEMS,
        reason: 'not-stored',
        sends,
      },
    ]);

  test('because it is too large has the real error, and an event', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    const problem = await rejection(world.ask({ request: post('k') }, { maxBytes: 9 }));
    expect(problem).toMatchObject({ message: 'connection of attempt 4 lost' });
    notStored(world, 4);
    expect(world.outboxFaults).toMatchObject([{ name: 'QuotaExceededError', message: 'more than maxBytes (9)' }]);
    expect([world.states(), world.queued()]).toEqual([[], 0]);
  });

  test('because the outbox is full has the real error; what fits goes on to be kept', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    await world.ask({ request: post('a') }, { maxEntries: 1 });
    await rejection(world.ask({ request: post('b') }, { maxEntries: 1 }));
    expect(world.outboxFaults).toMatchObject([{ message: expect.stringContaining('maxEntries') }]);
    expect((await world.ask({ request: post('c') }, { maxEntries: 2 })).status).toBe(202);
    expect(typesOf(world)).toEqual(['queued', 'queue-failed', 'queued']);
  });

  test('B112 because the disk is full', async () => {
    let full = true;
    const box = createMemoryOutbox((operation) => {
      if (operation === 'add' && full) throw new DOMException('no room', 'QuotaExceededError');
    });
    const world = createOutboxWorld({ script: ['reset'], box });
    expect(await rejection(world.ask({ request: post('k') }))).toMatchObject({
      message: 'connection of attempt 4 lost',
    });
    notStored(world, 4);
    full = false;
    expect((await world.ask({ request: post('k2') })).status).toBe(202);
  });

  test('B110 because there is no database', async () => {
    const box = createMemoryOutbox(() => {
      throw new DOMException('forbidden', 'SecurityError');
    });
    const world = createOutboxWorld({ script: ['reset'], box });
    expect(await rejection(world.ask({ request: post('k') }))).toMatchObject({
      message: 'connection of attempt 4 lost',
    });
    notStored(world, 4);
  });

  test('B115 because the database does not answer: within 3 s, and not later either', async () => {
    let answer = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const box = createMemoryOutbox((operation) => (operation === 'add' ? blocked : undefined));
    const world = createOutboxWorld({ script: ['reset'], box });
    await rejection(world.ask({ request: post('k') }, {}));
    const tookMs = world.time.elapsed();
    expect(tookMs).toBe(3_500 + 3_000);
    notStored(world, 4);
    answer();
    await world.time.settle();
    expect(world.states()).toEqual([]);
  });

  test('B115 nor whose it is, if that cannot be read', async () => {
    const box = createMemoryOutbox((operation) => (operation === 'owner' ? new Promise(() => {}) : undefined));
    const world = createOutboxWorld({ script: ['reset'], box });
    await rejection(world.ask({ request: post('k') }));
    expect(typesOf(world)).toEqual(['queue-failed']);
    expect(world.states()).toEqual([]);
    // The first attempt waits no longer to learn whether others have to go first.
    expect(world.network.times()[0]).toBe(200);
  });

  test('is sent after all, if it never was, and somebody is there', async () => {
    const world = createOutboxWorld({ script: [{ status: 503, headers: { 'Retry-After': '600' } }, 201] });
    await world.serve({ policy: { attempts: 1 } });
    expect((await world.ask({ request: post() }, { maxBytes: 1 })).status).toBe(201);
    expect(world.hits().at(-1)).toBe('/api/items two apples');
  });

  test('offline has an error', async () => {
    const world = createOutboxWorld(offline);
    expect(await rejection(world.ask({ request: post() }, { maxBytes: 1 }))).toBeInstanceOf(TypeError);
    expect(world.network.sent).toEqual([]);
    notStored(world, 0);
  });

  test('because its body never ends is not waited for longer than 3 s', async () => {
    const world = createOutboxWorld(offline);
    const body = new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)) });
    const request = new Request(URL_OF_ITEMS, { method: 'POST', body, duplex: 'half' } as RequestInit);
    await rejection(world.ask({ request }));
    expect(world.time.elapsed()).toBe(3_000);
  });

  test('because the layer is being retired', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    await world.time.settle();
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    await world.outbox.destroy();
    await rejection(world.ask({ request: post('k') }));
    expect(world.states()).toEqual([]);
    world.outbox.revive();
    expect((await world.ask({ request: post('k') })).status).toBe(202);
    // Whoever was there is forgotten, too.
    expect(world.box.entries()[0]).not.toHaveProperty('owner');
  });
});

test('what its page has called off is not kept', async () => {
  const world = createOutboxWorld({ script: ['reset'] });
  const caller = new AbortController();
  const answer = world.submit({ request: post('k'), signal: caller.signal });
  await world.time.advance(100);
  caller.abort(new Error('never mind'));
  expect(await rejection(world.time.until(answer))).toMatchObject({ message: 'never mind' });
  await world.time.advance(60_000);
  expect([world.states(), world.notices, world.network.sent.length]).toEqual([[], [], 1]);
});

describe('what was kept after it was sent', () => {
  const kept = async (script: (earlier: number) => number | 'reset') => {
    const world = createOutboxWorld({ script: (_request, earlier) => script(earlier) });
    await world.ask({ request: post('k') });
    return { world, keptAt: world.time.elapsed() };
  };

  test('is not sent again before its backoff is over, nor due before', async () => {
    const { world, keptAt } = await kept((earlier) => (earlier < 4 ? 'reset' : 200));
    expect(await world.outbox.isDue()).toBe(false);
    expect(await world.send()).toBe(0);
    expect(world.network.times()[4]).toBe(keptAt + 8_000);
  });

  test('is a retry, which the budget has to pay for', async () => {
    const { world } = await kept((earlier) => (earlier < 4 ? 'reset' : 200));
    const record = vi.spyOn(world.book, 'record');
    await world.send();
    expect(record.mock.calls.map(([, { kind }]) => kind)).toEqual(
      expect.arrayContaining(['retry-reserved', 'retry-refunded']),
    );
  });

  test('still waits five times for a server that is busy with its key', async () => {
    const { world } = await kept((earlier) => (earlier < 4 ? 'reset' : 409));
    for (let conflicts = 1; conflicts <= 5; conflicts += 1) {
      void world.outbox.send(true);
      await world.time.settle();
      expect(world.box.entries()[0]).toMatchObject({ state: 'waiting', status: 409, conflicts });
    }
    await world.send(true);
    expect(world.box.entries()[0]).toMatchObject({ state: 'failed', reason: 'refused', sends: 10 });
  });

  test('what never was is due at once, and costs nothing', async () => {
    const off = createOutboxWorld(offline);
    await off.ask({ request: post('k') });
    expect(off.box.entries()[0]).toMatchObject({ sends: 0, notBefore: off.time.now() });
  });
});

describe('what has to go behind others that wait', () => {
  const fails = (at: number) => (_request: Request, earlier: number) => (earlier < at ? 503 : 201);
  const put = (body = 'update', url = URL_OF_ITEMS) => new Request(url, { method: 'PUT', body });

  test('is kept without being sent, and arrives after them', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    expect((await world.ask({ request: put('create') })).status).toBe(202);
    const before = world.time.elapsed();
    expect((await world.ask({ request: put() })).status).toBe(202);
    expect([world.network.sent.length, world.time.elapsed()]).toEqual([4, before]);
    expect(world.box.entries()[1]).toMatchObject({ sends: 0, notBefore: world.time.now() });
    expect(await world.send()).toBe(0);
    expect(world.hits().slice(4)).toEqual(['/api/items create', '/api/items update']);
    // And then there is nothing any more that has to go first.
    expect((await world.ask({ request: put() })).status).toBe(201);
  });

  test('also if it must not be sent twice: it never was', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: post('k', 'create') });
    expect((await world.ask({ request: post(undefined, 'update') })).status).toBe(202);
    await world.send();
    expect(world.hits().slice(4)).toEqual(['/api/items create', '/api/items update']);
  });

  test('has the error, where its page wants that', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: put('create') });
    const problem = await rejection(world.ask({ request: put() }, { answer: 'error' }));
    expect(problem).toMatchObject({ message: 'not sent, because something that waits has to go first' });
    expect(world.states()).toEqual(['waiting', 'waiting']);
  });

  test.each([
    { name: 'no order', policy: { orderBy: 'none' as const }, url: URL_OF_ITEMS },
    { name: 'the order of another URL', policy: { orderBy: 'url' as const }, url: 'https://app.test/other' },
    { name: 'another outbox', policy: { name: 'other' }, url: URL_OF_ITEMS },
  ])('is not what has $name', async ({ policy, url }) => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: put('create') }, policy.orderBy ? policy : {});
    expect((await world.ask({ request: put('update', url) }, policy)).status).toBe(201);
  });

  test('is not what somebody else asks for', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: put('create') });
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    expect((await world.ask({ request: put() })).status).toBe(201);
  });

  test('a worker that was just started knows of them', async () => {
    const first = createOutboxWorld({ script: [503] });
    await first.ask({ request: put('create') });
    const world = createOutboxWorld({ box: first.box, time: first.time });
    expect((await world.ask({ request: put() })).status).toBe(202);
    expect(world.network.sent).toEqual([]);
  });

  test('what another worker has delivered meanwhile is not waited for', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: put('create') });
    await createOutboxWorld({ box: world.box, time: world.time }).send(true);
    expect(world.states()).toEqual(['sent']);
    expect((await world.ask({ request: put() })).status).toBe(201);
  });

  test('is counted by what is there while others are being sent', async () => {
    const script = (_request: Request, earlier: number) => (earlier < 4 ? 503 : { status: 201, afterMs: 1_000 });
    const world = createOutboxWorld({ script });
    await world.ask({ request: put('create') });
    await world.ask({ request: put('2') });
    await world.ask({ request: put('3') });
    const sent = world.outbox.send(true);
    await world.time.advance(1_500);
    expect(world.states()).toEqual(['sent', 'sending', 'waiting']);
    const last = world.submit({ request: put('4') });
    await world.time.settle();
    expect((await last).status).toBe(202);
    // Without a further event.
    expect(await world.time.until(sent)).toBe(0);
    expect(
      world
        .hits()
        .slice(4)
        .map((hit) => hit.split(' ')[1]),
    ).toEqual(['create', '2', '3', '4']);
  });

  test('is sent all the same if it cannot be kept', async () => {
    const world = createOutboxWorld({ script: fails(4) });
    await world.ask({ request: put('create') }, { maxEntries: 1 });
    expect((await world.ask({ request: put() }, { maxEntries: 1 })).status).toBe(201);
    expect(typesOf(world)).toEqual(['queued', 'queue-failed']);
  });
});

describe('the order of what is kept', () => {
  const orders = async (orderBy: 'outbox' | 'url' | 'none', owner?: string) => {
    const world = createOutboxWorld(offline);
    if (owner !== undefined) await world.outbox.carryOut({ do: 'owner', owner });
    for (const url of ['https://app.test/a?1', 'https://app.test/a?1#x', 'https://app.test/b']) {
      await world.ask({ request: post(undefined, 'x', url) }, { orderBy, name: 'box' });
    }
    return world.box.entries().map(({ order, id }) => order.replace(id, 'id'));
  };

  test('is that of its outbox, of its URL, or none', async () => {
    expect(await orders('outbox')).toEqual(['box', 'box', 'box']);
    expect(await orders('url')).toEqual([
      'box https://app.test/a?1',
      'box https://app.test/a?1',
      'box https://app.test/b',
    ]);
    expect(await orders('none')).toEqual(['id', 'id', 'id']);
  });

  test('and only what has to go first is waited for', async () => {
    const box = createMemoryOutbox();
    const others = { orderBy: 'url' as const };
    const away = createOutboxWorld({ ...offline, box });
    await away.ask({ request: post('k', 'x', 'https://app.test/other') }, others);
    const world = createOutboxWorld({ box });
    // A worker that was just started has looked by then.
    expect((await world.ask({ request: post('k', 'y', 'https://app.test/other') }, others)).status).toBe(202);
    expect((await world.ask({ request: post('k') }, others)).status).toBe(200);
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    expect((await world.ask({ request: post('k', 'z', 'https://app.test/other') }, others)).status).toBe(200);
  });

  test('is each owner’s own', async () => {
    expect(await orders('outbox', 'ann')).toEqual(['box ann', 'box ann', 'box ann']);
  });

  test('belongs to who was there when it was asked for', async () => {
    const world = createOutboxWorld({ script: ['reset'] });
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    const answer = world.submit({ request: post('k') }, { doneAt: '/done', maxAgeMs: 5 });
    await world.time.advance(100);
    await world.outbox.carryOut({ do: 'owner' });
    await world.time.until(answer);
    const [entry] = world.box.entries();
    expect(entry).toMatchObject({ owner: 'ann', doneAt: '/done' });
    expect((entry?.expiresAt ?? 0) - (entry?.queuedAt ?? 0)).toBe(5);
    expect(await world.outbox.waiting()).toBe(0);
  });
});
