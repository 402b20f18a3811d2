import { describe, expect, test, vi } from 'vitest';
import { LEASE_MS, type OutboxEntry } from '../../src/policy/outbox-entry.ts';
import { NEVER_OPENS } from '../support/engine-world.ts';
import { createMemoryOutbox, type MemoryOutbox } from '../support/memory-outbox.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { entryOf } from '../support/outbox-entries.ts';
import { createLocks, createOutboxWorld, type OutboxWorld, type OutboxWorldOptions } from '../support/outbox-world.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';
import { START } from '../support/virtual-time.ts';

expectNothingUnhandled();

const at = (path: string) => ({ ...entryOf().request, url: `https://app.test${path}` });
/** Entries of paths, of one order unless they say otherwise. */
function put(box: MemoryOutbox, path: string, over: Partial<OutboxEntry> = {}, body = 'abc'): number {
  const times = { queuedAt: START, expiresAt: START + 86_400_000, notBefore: START };
  return box.put(entryOf({ id: path, request: at(path), ...times, ...over }), body);
}
function filled(paths: readonly string[], options: OutboxWorldOptions = {}, over: Partial<OutboxEntry> = {}) {
  const box = options.box ?? createMemoryOutbox();
  for (const path of paths) put(box, path, over);
  return createOutboxWorld({ ...options, box });
}
const pathsOf = (world: OutboxWorld) => world.hits().map((hit) => hit.split(' ')[0]);
/** One pass, as far as it needs no time; whoever naps then naps on. */
async function pass(world: OutboxWorld, hurry?: boolean): Promise<void> {
  world.outbox.send(hurry).catch(() => {});
  await world.time.settle();
}
const once = (paths: OutboxWorld) => expect(new Set(pathsOf(paths)).size).toBe(paths.network.sent.length);

describe('entries are sent', () => {
  test('workbox-363 B104 in the order in which they came, one after the other', async () => {
    const world = filled(['/1', '/2', '/3'], { script: [{ status: 200, afterMs: 100 }] });
    expect(await world.send()).toBe(0);
    expect(pathsOf(world)).toEqual(['/1', '/2', '/3']);
    expect(world.network.times()).toEqual([0, 100, 200]);
    expect(world.states()).toEqual(['sent', 'sent', 'sent']);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('of other orders at the same time, three at most', async () => {
    const box = createMemoryOutbox();
    for (const order of ['a', 'b', 'c', 'd', 'e']) put(box, `/${order}`, { order });
    const world = createOutboxWorld({ box, script: [{ status: 200, afterMs: 100 }] });
    await world.send();
    expect(world.network.times()).toEqual([0, 0, 0, 100, 100]);
    expect(pathsOf(world)).toEqual(['/a', '/b', '/c', '/d', '/e']);
  });

  test('B097 with their whole bodies, each time', async () => {
    const world = filled(['/1', '/2'], { script: (_request, earlier) => (earlier === 0 ? 'reset' : 200) });
    expect(await world.send()).toBe(0);
    expect(world.hits()).toEqual(['/1 abc', '/1 abc', '/2 abc']);
  });

  test('and told of', async () => {
    const world = filled(['/1?secret', '/2'], { script: [{ status: 201, body: 'taken' }, 422] });
    await world.send();
    const about = { at: START, outbox: 'outbox', method: 'POST' };
    expect(world.notices).toEqual([
      { type: 'queue-sent', ...about, id: '/1?secret', url: 'https://app.test/1', status: 201, sends: 1 },
      { type: 'queue-failed', ...about, id: '/2', url: 'https://app.test/2', reason: 'refused', status: 422, sends: 1 },
    ]);
    expect(world.box.entries()[0]).toMatchObject({ answer: 'taken', status: 201, endedAt: START });
  });

  test('while their server has not answered they are leased', async () => {
    const world = filled(['/1'], { script: [{ status: 200, afterMs: 100 }] });
    void world.outbox.send();
    await world.time.advance(50);
    expect(world.box.entries()[0]).toMatchObject({ state: 'sending', sends: 1, leaseUntil: START + LEASE_MS });
    await world.time.advance(100);
    expect(world.states()).toEqual(['sent']);
  });
});

describe('one that cannot be delivered', () => {
  test('B100 blocks nothing once it was refused', async () => {
    const world = filled(['/a', '/b'], { script: [422, 200] });
    await world.send();
    await world.send();
    await world.send();
    expect(pathsOf(world)).toEqual(['/a', '/b']);
    expect(world.states()).toEqual(['failed', 'sent']);
  });

  test('B101 blocks only its own order while it waits', async () => {
    const box = createMemoryOutbox();
    put(box, '/a', { order: 'a' });
    put(box, '/a2', { order: 'a' });
    put(box, '/b', { order: 'b' });
    const world = createOutboxWorld({ box, script: (request) => (/\/a2?$/.test(request.url) ? 500 : 200) });
    await pass(world);
    expect(pathsOf(world)).toEqual(['/a', '/b']);
    expect(world.box.entries()[0]).toMatchObject({ state: 'waiting', notBefore: START + 1_000, status: 500 });
    await pass(world);
    expect(pathsOf(world)).toHaveLength(2);
    expect(await world.outbox.waiting()).toBe(2);
  });

  test('that must not be sent twice is set aside without an answer', async () => {
    const world = filled(['/a', '/b'], { script: ['reset', 200] }, { repeatable: false });
    await world.send();
    expect(world.box.entries()[0]).toMatchObject({ state: 'failed', reason: 'unknown' });
    expect(pathsOf(world)).toEqual(['/a', '/b']);
  });

  test('B095 is sent again if its sender is gone, unless it must not be', async () => {
    const world = filled(['/a'], {}, { state: 'sending', leaseUntil: START + LEASE_MS });
    put(world.box, '/b', { state: 'sending', leaseUntil: START + LEASE_MS, repeatable: false });
    await world.send();
    expect(pathsOf(world)).toEqual(['/a']);
    expect(world.states()).toEqual(['sent', 'failed']);
    expect(world.notices.map(({ type }) => type)).toEqual(['queue-failed', 'queue-sent']);
  });

  test('S23 whose time is over is not sent any more, and only its owner is told', async () => {
    const world = filled(['/a'], {}, { expiresAt: START });
    put(world.box, '/b', { owner: 'ann', expiresAt: START });
    put(world.box, '/c', { expiresAt: START + 1 });
    await world.send();
    expect(pathsOf(world)).toEqual(['/c']);
    expect(world.box.entries().map(({ state, reason }) => reason ?? state)).toEqual(['expired', 'expired', 'sent']);
    // Of what is somebody else's nobody is told.
    expect(world.notices.map(({ id }) => id)).toEqual(['/a', '/c']);
  });

  test('whose body is not what it was is not sent', async () => {
    const world = filled(['/a', '/b', '/c']);
    const rows = [...world.box.rows.values()];
    if (rows[0]) rows[0].body = undefined;
    if (rows[1]) rows[1].body = new ArrayBuffer(2);
    await world.send();
    expect(pathsOf(world)).toEqual(['/c']);
    expect(world.box.entries().map(({ reason }) => reason)).toEqual(['damaged', 'damaged', undefined]);
  });
});

describe('nobody sends an entry twice', () => {
  test('B092 two triggers at once', async () => {
    const world = filled(['/1', '/2', '/3'], { script: [{ status: 200, afterMs: 500 }] });
    const both = Promise.all([world.outbox.send(), world.outbox.send(true)]);
    await world.time.advance(700);
    const third = world.outbox.send();
    expect(await world.time.until(Promise.all([both, third]))).toEqual([[0, 0], 0]);
    expect(pathsOf(world)).toEqual(['/1', '/2', '/3']);
  });

  test.each([{ locks: createLocks() }, { locks: null }])('B092 two workers, with locks $locks', async ({ locks }) => {
    const box = createMemoryOutbox();
    for (const order of ['a', 'b', 'c', 'd']) put(box, `/${order}`, { order, repeatable: false });
    const one = createOutboxWorld({ box, locks, script: [{ status: 200, afterMs: 500 }] });
    const other = createOutboxWorld({ box, locks, time: one.time, script: [{ status: 200, afterMs: 500 }] });
    const both = Promise.all([one.outbox.send(), other.outbox.send()]);
    await one.time.advance(100);
    const again = other.outbox.send();
    await one.time.until(Promise.all([both, again]));
    await one.send();
    expect([...pathsOf(one), ...pathsOf(other)].sort()).toEqual(['/a', '/b', '/c', '/d']);
    expect(one.states()).toEqual(['sent', 'sent', 'sent', 'sent']);
  });

  test('without locks a lease that is over has ended', async () => {
    const options = { locks: null };
    const world = filled(['/a'], options, { state: 'sending', leaseUntil: START + LEASE_MS });
    await world.send();
    expect(world.network.sent).toEqual([]);
    await world.time.advance(LEASE_MS);
    await world.send();
    expect(pathsOf(world)).toEqual(['/a']);
  });
});

describe('what comes meanwhile', () => {
  test('goes with the next pass, without another trigger', async () => {
    const world = filled(['/1'], { script: [{ status: 200, afterMs: 100 }] });
    const sent = world.outbox.send();
    await world.time.advance(50);
    put(world.box, '/2');
    void world.outbox.send();
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toEqual(['/1', '/2']);
  });

  test('also if it comes while the last look is taken', async () => {
    let looks = 0;
    const box = createMemoryOutbox((operation) => {
      if (operation === 'all' && ++looks === 3) {
        put(box, '/2');
        void world.outbox.send();
      }
    });
    const world: OutboxWorld = filled(['/1'], { box });
    expect(await world.send()).toBe(0);
    expect(pathsOf(world)).toEqual(['/1', '/2']);
  });

  test.each(Array.from({ length: 25 }, (_, turns) => turns))('or %i turns after it', async (turns) => {
    let looks = 0;
    const box = createMemoryOutbox((operation) => {
      if (operation === 'all' && ++looks === 3) void comes();
    });
    const comes = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      put(box, '/2');
      void world.outbox.send();
    };
    const world: OutboxWorld = filled(['/1'], { box });
    await world.send();
    await world.time.settle();
    expect(pathsOf(world)).toEqual(['/1', '/2']);
  });

  test('a cancelled entry is not sent; one that is being sent is gone', async () => {
    const world = filled(['/1', '/2'], { script: [{ status: 200, afterMs: 100 }] });
    const sent = world.outbox.send();
    await world.time.advance(50);
    await world.outbox.carryOut({ do: 'cancel' });
    await world.time.until(sent);
    expect([pathsOf(world), world.states()]).toEqual([['/1'], []]);
    expect(world.notices.map((notice) => 'reason' in notice && notice.reason)).toEqual(['cancelled', 'cancelled']);
  });

  test('S23 another owner: their entries go, and those of the last one stay', async () => {
    const world = filled(['/1', '/2'], { script: [{ status: 200, afterMs: 100 }] });
    put(world.box, '/ann', { owner: 'ann', order: 'outbox ann' });
    const sent = world.outbox.send();
    await world.time.advance(50);
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    expect(await world.time.until(sent)).toBe(0);
    await world.send();
    expect(pathsOf(world)).toEqual(['/1', '/ann']);
    expect(world.states()).toEqual(['sent', 'waiting', 'sent']);
  });

  test('S23 another owner, just before one is leased', async () => {
    const box = createMemoryOutbox((operation) => {
      if (operation === 'body') void world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    });
    const world: OutboxWorld = filled(['/1'], { box });
    await world.send();
    expect([world.network.sent.length, world.states()]).toEqual([0, ['waiting']]);
  });

  test('S23 another owner, of whom only another worker was told: theirs go, and nothing of the last one', async () => {
    let told = false;
    const box = createMemoryOutbox(async (operation) => {
      if (operation !== 'body' || told) return;
      told = true;
      await box.setOwner('ann');
    });
    const world = filled(['/1', '/2'], { box });
    put(box, '/ann', { owner: 'ann', order: 'outbox ann' });
    await world.send();
    await world.send();
    expect([pathsOf(world), world.states()]).toEqual([['/ann'], ['waiting', 'waiting', 'sent']]);
  });

  test.each([
    { name: 'a pause', options: (is: () => boolean) => ({ isPaused: is }) },
    { name: 'going offline', options: (is: () => boolean) => ({ isOnline: () => !is() }) },
  ])('$name: nothing further is sent, until it is over', async ({ options }) => {
    let off = false;
    const world = filled(['/1', '/2'], { script: [{ status: 200, afterMs: 100 }], ...options(() => off) });
    const sent = world.outbox.send();
    await world.time.advance(50);
    off = true;
    expect(await world.time.until(sent)).toBe(1);
    expect(await world.send()).toBe(1);
    expect(pathsOf(world)).toEqual(['/1']);
    expect(await world.outbox.isDue()).toBe(false);
    off = false;
    expect(await world.outbox.isDue()).toBe(true);
    expect(await world.send()).toBe(0);
    once(world);
  });
});

test('a worker that was just started learns first whether it is paused, also from a slow disk', async () => {
  let paused = false;
  const store = createMemoryStore();
  const load = store.load;
  const slow = { ...store, load: () => sleeping.then(load) };
  let woken = (): void => {};
  const sleeping = new Promise<void>((resolve) => {
    woken = resolve;
  });
  const world = filled(['/1'], { store: slow, isPaused: () => paused });
  const sent = world.outbox.send();
  await world.time.advance(400);
  paused = true;
  woken();
  expect(await world.time.until(sent)).toBe(1);
  expect(pathsOf(world)).toEqual([]);
});

test('nothing further is sent 100 s after it began: a browser stops an event that takes minutes', async () => {
  const world = filled(['/1', '/2', '/3'], { script: [{ status: 200, afterMs: 50_001 }] });
  expect(await world.send()).toBe(1);
  expect(pathsOf(world)).toEqual(['/1', '/2']);
});

describe('a store that fails', () => {
  const failing = (when: (operation: string) => boolean) =>
    createMemoryOutbox((operation) => {
      if (when(operation)) throw new DOMException('broken', 'UnknownError');
    });

  test('B095 after an entry was sent loses nothing, and sends nothing again that must not be', async () => {
    let changes = 0;
    const box = failing((operation) => operation === 'change' && ++changes === 2);
    const world = filled(['/a'], { box }, { repeatable: false });
    put(box, '/b');
    // Nothing further is sent of it now.
    await world.send();
    expect([pathsOf(world), world.states()]).toEqual([['/a'], ['sending', 'waiting']]);
    expect(world.outboxFaults).toMatchObject([{ message: 'broken' }]);
    await world.send();
    expect(pathsOf(world)).toEqual(['/a', '/b']);
    expect(world.box.entries()[0]).toMatchObject({ state: 'failed', reason: 'unknown' });
  });

  test('what may be sent again is, with its key', async () => {
    let changes = 0;
    const world = filled(['/a'], { box: failing((operation) => operation === 'change' && ++changes === 2) });
    await world.send();
    await world.send();
    expect(pathsOf(world)).toEqual(['/a', '/a']);
    expect(world.states()).toEqual(['sent']);
  });

  test.each(['change', 'body'])('before an entry was sent (%s): it is not sent', async (broken) => {
    let on = true;
    const world = filled(['/a'], { box: failing((operation) => on && operation === broken) }, { repeatable: false });
    expect(await world.send()).toBe(1);
    expect([world.network.sent.length, world.states()]).toEqual([0, ['waiting']]);
    on = false;
    expect(await world.send()).toBe(0);
    expect(pathsOf(world)).toEqual(['/a']);
  });

  test('altogether is told to whoever wants to send, and the next one tries again', async () => {
    let on = true;
    const world = filled(['/a'], { box: failing(() => on) });
    await world.time.settle();
    await expect(world.send()).rejects.toThrow('broken');
    expect(await world.outbox.waiting()).toBe(0);
    expect(await world.outbox.isDue()).toBe(false);
    await expect(world.outbox.carryOut({ do: 'list' })).rejects.toThrow('broken');
    on = false;
    expect(await world.outbox.isDue()).toBe(true);
    expect(await world.send()).toBe(0);
    expect(pathsOf(world)).toEqual(['/a']);
  });

  test('to answer: a page that says hello waits half a second, an event three', async () => {
    const world = createOutboxWorld({ box: createMemoryOutbox(() => new Promise(() => {})) });
    expect(await world.time.until(world.outbox.waiting())).toBe(0);
    expect(world.time.elapsed()).toBe(500);
    expect(await world.time.until(Promise.resolve(world.outbox.isDue()))).toBe(false);
    expect(world.time.elapsed()).toBe(3_500);
  });
});

describe('a server in trouble', () => {
  test('that asked for time has it, of every entry', async () => {
    const world = filled(['/1', '/2'], { script: [{ status: 503, headers: { 'Retry-After': '30' } }, 200] });
    put(world.box, '/3', { order: 'other' });
    // Two were under way when it said so.
    expect(await world.send()).toBe(2);
    expect(world.time.elapsed()).toBe(0);
    await world.time.advance(29_999);
    expect(await world.outbox.isDue()).toBe(false);
    await pass(world, true);
    const before = pathsOf(world).length;
    await world.time.advance(250);
    expect(await world.send()).toBe(0);
    expect(pathsOf(world).slice(before)).toContain('/2');
    expect(before).toBe(2);
    expect(world.states()).toEqual(['sent', 'sent', 'sent']);
  });

  test('whose circuit is open is tried by one, and then by all', async () => {
    const circuit = { ...NEVER_OPENS, failures: 1, openMs: 5_000 };
    const world = filled([], {
      circuit,
      script: (_request, earlier) => (earlier < 1 ? 'reset' : { status: 200, afterMs: 10 }),
    });
    for (const order of ['a', 'b', 'c']) put(world.box, `/${order}`, { order });
    await world.serve({ policy: { attempts: 1 } }).catch(() => {});
    const sent = world.outbox.send();
    await world.time.advance(4_999);
    expect(world.network.sent).toHaveLength(1);
    await world.time.advance(6);
    expect(pathsOf(world)).toEqual(['/api/items', '/a']);
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toHaveLength(4);
  });
});

describe('the budget', () => {
  const tokens = ({ book }: OutboxWorld) => book.look({ origin: 'https://app.test', group: 'data' }).budget.tokens;
  const budget = { capacity: 20, refillPerSecond: 0 };

  test('pays for what was sent before, and gets it back once that is delivered', async () => {
    const world = filled(['/a'], { script: [500, 500, 200], budget });
    await pass(world);
    expect(tokens(world)).toBe(20);
    await pass(world, true);
    const left = tokens(world);
    expect(left).toBeLessThan(20);
    const record = vi.spyOn(world.book, 'record');
    await pass(world, true);
    expect(world.states()).toEqual(['sent']);
    const [paid, back] = ['retry-reserved', 'retry-refunded'].map(
      (kind) => record.mock.calls.find(([, event]) => event.kind === kind)?.[1],
    );
    expect(paid).toMatchObject({ kind: 'retry-reserved', cost: 1 });
    expect(back).toMatchObject({ kind: 'retry-refunded', cost: 1, launched: true });
  });

  test('that is empty lets an entry wait for ten seconds', async () => {
    const world = filled(['/a'], { script: [500, 200], budget: { ...budget, capacity: 0 } });
    await pass(world);
    await pass(world, true);
    expect(world.box.entries()[0]).toMatchObject({ state: 'waiting', notBefore: START + 10_000, sends: 1 });
    expect(world.network.sent).toHaveLength(1);
  });

  test('gets back at once what was not sent', async () => {
    const world = filled(['/a'], {}, { sends: 1 });
    const record = vi.spyOn(world.book, 'record');
    for (const row of world.box.rows.values()) row.body = undefined;
    await world.send();
    expect(record.mock.calls.map(([, event]) => event)).toMatchObject([
      { kind: 'retry-reserved' },
      { kind: 'retry-refunded', launched: false },
    ]);
  });
});

describe('whoever is in a hurry', () => {
  test('ends waits of our own, and none that a server asked for', async () => {
    const later = { notBefore: START + 60_000 };
    const world = filled(['/own'], {}, later);
    put(world.box, '/asked', { ...later, asked: true, order: 'other' });
    expect(await world.send()).toBe(2);
    expect(await world.send(true)).toBe(1);
    expect(pathsOf(world)).toEqual(['/own']);
  });

  test('also if others send at the time', async () => {
    const world = filled(['/1'], { script: [{ status: 200, afterMs: 100 }] });
    const sent = world.outbox.send();
    await world.time.advance(50);
    put(world.box, '/2', { notBefore: START + 60_000 });
    void world.outbox.send(true);
    // Whoever is in no hurry slows nobody down.
    void world.outbox.send();
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toEqual(['/1', '/2']);
  });

  test('also if another worker has the lock', async () => {
    const locks = createLocks();
    let release = (): void => {};
    void locks.request('', () => new Promise<void>((resolve) => (release = resolve)));
    const world = filled(['/1'], { locks }, { notBefore: START + 60_000 });
    const sent = world.outbox.send();
    await world.time.settle();
    void world.outbox.send(true);
    release();
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toEqual(['/1']);
  });
});

describe('what is about to be due is waited for', () => {
  const later = (ms: number) => ({ notBefore: START + ms });

  test('for ten seconds, and is then sent without a further event', async () => {
    const world = filled(['/1'], {}, later(10_000));
    expect(await world.send()).toBe(0);
    expect(world.network.times()).toEqual([10_000]);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('and not for longer', async () => {
    const world = filled(['/1'], {}, later(10_001));
    expect([await world.send(), world.time.elapsed(), world.sleeper.pending()]).toEqual([1, 0, 0]);
  });

  test('between the sendings of one that fails, until its wait is too long', async () => {
    const world = filled(['/1'], { script: [500] });
    expect(await world.send()).toBe(1);
    // Chance 0: half of each wait.
    expect(world.network.times()).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    expect(world.time.elapsed()).toBe(15_000);
  });

  test('not past the 100 s of an event', async () => {
    const world = filled(['/1', '/2'], { script: [{ status: 200, afterMs: 47_500 }] });
    put(world.box, '/3', { order: 'other', ...later(101_000) });
    expect(await world.send()).toBe(1);
    expect(world.time.elapsed()).toBe(95_000);
  });

  test('a quarter of a second at least, where nothing says why it was not sent', async () => {
    const box = createMemoryOutbox();
    put(box, '/1', { order: 'a' });
    put(box, '/2', { order: 'b', ...later(1) });
    const world = createOutboxWorld({ box });
    expect(await world.send()).toBe(0);
    expect(world.network.times()).toEqual([0, 250]);
  });

  test('whoever sends meanwhile does not wait for the end of it', async () => {
    const world = filled(['/1'], {}, later(8_000));
    const sent = world.outbox.send();
    await world.time.advance(1_200);
    put(world.box, '/2', { order: 'other' });
    const second = world.outbox.send();
    await world.time.settle();
    expect(pathsOf(world)).toEqual(['/2']);
    await pass(world, true);
    expect(pathsOf(world)).toEqual(['/2', '/1']);
    expect(await Promise.all([sent, second])).toEqual([0, 0]);
    expect([world.time.elapsed(), world.sleeper.pending()]).toEqual([1_200, 0]);
  });

  test('what is kept meanwhile and is due earlier does not wait for the end of it', async () => {
    let online = true;
    const world = filled(['/1'], { isOnline: () => online }, later(8_000));
    const sent = world.outbox.send();
    await world.time.advance(1_200);
    online = false;
    const request = new Request('https://app.test/2', { method: 'POST', body: 'x' });
    const answer = world.submit({ request }, { name: 'other' });
    await world.time.settle();
    online = true;
    expect((await answer).status).toBe(202);
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toEqual(['/2', '/1']);
    expect(world.network.times()).toEqual([1_500, 8_000]);
  });

  test('nobody else is kept from sending by it', async () => {
    const locks = createLocks();
    const world = filled(['/1'], { locks }, later(8_000));
    const sent = world.outbox.send();
    await world.time.advance(1_000);
    const other = createOutboxWorld({ box: world.box, locks, time: world.time });
    await pass(other, true);
    expect(pathsOf(other)).toEqual(['/1']);
    expect(await world.time.until(sent)).toBe(0);
    expect(pathsOf(world)).toEqual([]);
  });

  test.each([
    { name: 'a pause', options: (is: () => boolean) => ({ isPaused: is }) },
    { name: 'going offline', options: (is: () => boolean) => ({ isOnline: () => !is() }) },
  ])('$name ends it within half a second', async ({ options }) => {
    let off = false;
    const world = filled(
      ['/1'],
      options(() => off),
      later(8_000),
    );
    const sent = world.outbox.send();
    await world.time.advance(1_200);
    off = true;
    expect(await world.time.until(sent)).toBe(1);
    expect(world.time.elapsed()).toBe(1_500);
    off = false;
    await world.time.advance(6_500);
    expect(await world.outbox.isDue()).toBe(true);
    expect(pathsOf(world)).toEqual([]);
  });

  test('deleting everything ends it at once, and asks nothing of what is deleted', async () => {
    let deleted = false;
    const box = createMemoryOutbox(() => {
      if (deleted) throw new DOMException('deleted', 'InvalidStateError');
    });
    const world = filled(['/1'], { box }, later(8_000));
    const sent = world.outbox.send();
    await world.time.advance(1_200);
    await world.outbox.destroy();
    deleted = true;
    expect(await sent).toBe(0);
    expect([world.time.elapsed(), world.sleeper.pending(), world.outboxFaults]).toEqual([1_200, 0, []]);
  });

  test('deleting everything while the lock is waited for sends nothing either', async () => {
    const locks = createLocks();
    let release = (): void => {};
    void locks.request('', () => new Promise<void>((resolve) => (release = resolve)));
    let deleted = false;
    const box = createMemoryOutbox(() => {
      if (deleted) throw new DOMException('deleted', 'InvalidStateError');
    });
    const world = filled(['/1'], { locks, box });
    const sent = world.outbox.send();
    await world.time.settle();
    await world.outbox.destroy();
    deleted = true;
    release();
    expect(await world.time.until(sent)).toBe(0);
    expect(world.network.sent).toEqual([]);
  });

  test('a clock that is set back does not prolong it', async () => {
    const world = filled(['/1'], {}, later(2_000));
    const sent = world.outbox.send();
    await world.time.advance(1_000);
    world.time.setClock(-3_600_000);
    await world.time.advance(1_000);
    expect(await world.time.until(sent)).toBe(1);
    expect(world.time.elapsed()).toBeLessThan(3_000);
  });
});

describe('is there anything to do?', () => {
  test('a worker that was just started looks', async () => {
    const world = filled(['/1']);
    const due = world.outbox.isDue();
    expect(due).toBeInstanceOf(Promise);
    expect(await due).toBe(true);
    expect(world.outbox.isDue()).toBe(true);
    await world.send();
    expect(world.outbox.isDue()).toBe(false);
  });

  test.each<{ name: string; over: Partial<OutboxEntry>; due: boolean }>([
    { name: 'waits until now', over: { notBefore: START }, due: true },
    { name: 'waits', over: { notBefore: START + 1 }, due: false },
    { name: 'has waited for as long as it may', over: { notBefore: START + 1, expiresAt: START }, due: true },
    { name: 'is being sent', over: { state: 'sending', notBefore: START + 1 }, due: true },
    { name: 'is another’s', over: { owner: 'ann' }, due: false },
    { name: 'was sent', over: { state: 'sent' }, due: false },
  ])('$due if one $name', async ({ over, due }) => {
    expect(await filled(['/1'], {}, over).outbox.isDue()).toBe(due);
  });

  test('not while it is being sent, nor once all is deleted', async () => {
    const world = filled(['/1', '/2'], { script: [{ status: 200, afterMs: 100 }] });
    await world.outbox.isDue();
    const sent = world.outbox.send();
    expect(world.outbox.isDue()).toBe(false);
    await world.time.advance(50);
    await world.outbox.destroy();
    expect(world.outbox.isDue()).toBe(false);
    await world.time.until(sent);
    expect(pathsOf(world)).toEqual(['/1']);
  });
});

describe('what a page wants', () => {
  test('workbox-369 workbox-371 to see what there is changes nothing', async () => {
    const world = filled(['/1', '/2', '/3']);
    put(world.box, '/ann', { owner: 'ann' });
    put(world.box, '/other', { outbox: 'other' });
    const ids = async (wish: { id?: string; outbox?: string } = {}) =>
      (await world.outbox.carryOut({ do: 'list', ...wish })).map(({ id }) => id);
    expect(await ids()).toEqual(['/1', '/2', '/3', '/other']);
    expect(await ids({ outbox: 'other' })).toEqual(['/other']);
    expect(await ids({ id: '/2' })).toEqual(['/2']);
    expect(await ids({ id: '/ann' })).toEqual([]);
    expect(await world.outbox.carryOut({ do: 'send' })).toEqual([]);
    expect([world.box.rows.size, await world.outbox.waiting()]).toEqual([5, 4]);
    expect(world.network.sent).toEqual([]);
  });

  test('to send what has failed once more', async () => {
    const world = filled(['/1', '/2'], { script: [422, 422, 200] });
    await world.send();
    const [item] = await world.outbox.carryOut({ do: 'retry', id: '/1' });
    expect(item).toMatchObject({ id: '/1', state: 'waiting', sends: 1 });
    expect(await world.outbox.waiting()).toBe(1);
    await world.send();
    expect(world.states()).toEqual(['sent', 'failed']);
  });

  test('workbox-364 to delete those of one outbox; and results are no failures', async () => {
    const world = filled(['/1', '/3', '/5'], {}, { outbox: 'foo', order: 'foo' });
    for (const path of ['/2', '/4']) put(world.box, path, { outbox: 'bar', order: 'bar' });
    await world.outbox.carryOut({ do: 'cancel', outbox: 'foo' });
    expect(world.box.entries().map(({ id }) => id)).toEqual(['/2', '/4']);
    expect(world.notices).toHaveLength(3);
    await world.send();
    await world.outbox.carryOut({ do: 'cancel' });
    expect(world.box.rows.size).toBe(0);
    expect(world.notices.filter(({ type }) => type === 'queue-failed')).toHaveLength(3);
  });

  test('to be somebody else, which other workers of this origin learn of', async () => {
    const world = filled(['/1']);
    put(world.box, '/ann', { owner: 'ann', order: 'ann' });
    const other = createOutboxWorld({ box: world.box, time: world.time });
    await other.outbox.isDue();
    await world.outbox.carryOut({ do: 'owner', owner: 'ann' });
    expect((await world.outbox.carryOut({ do: 'list' })).map(({ id }) => id)).toEqual(['/ann']);
    await other.send();
    expect(pathsOf(other)).toEqual(['/ann']);
  });
});
