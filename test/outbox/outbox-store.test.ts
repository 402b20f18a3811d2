import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOutboxStore, type OutboxStore } from '../../src/outbox/outbox-store.ts';
import type { OutboxEntry } from '../../src/policy/outbox-entry.ts';
import { OUTBOX_DATABASE } from '../../src/protocol/version.ts';
import { AROUND } from '../support/arbitraries.ts';
import { rejection } from '../support/engine-world.ts';
import { createMemoryOutbox } from '../support/memory-outbox.ts';
import { entryOf } from '../support/outbox-entries.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const DAY_MS = 86_400_000;
let now: number;

beforeEach(() => {
  now = AROUND;
  vi.stubGlobal('indexedDB', new IDBFactory());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;
const textOf = (body: ArrayBuffer | undefined) => body && new TextDecoder().decode(body);
const welcome = () => undefined;
const inTime = () => false;
const add = (store: OutboxStore, id: string, over: Partial<OutboxEntry> = {}) =>
  store.add(entryOf({ id, ...over }), bytes(`body of ${id}`), welcome, inTime);
const idsOf = async (store: OutboxStore) => (await store.all()).map(({ entry }) => entry.id);
const seqOf = async (store: OutboxStore, id: string) =>
  (await store.all()).find(({ entry }) => entry.id === id)?.seq ?? -1;
const open = () => openDB(OUTBOX_DATABASE);
const rows = async () => {
  const db = await open();
  const counts = [await db.count('entries'), await db.count('bodies')];
  db.close();
  return counts;
};

describe.each([
  { name: 'IndexedDB', create: () => createOutboxStore(() => now) },
  { name: 'the tests’ memory', create: () => createMemoryOutbox() },
])('a store in $name', ({ create }) => {
  test('gives entries in the order in which they came, with their bodies', async () => {
    const store = create();
    expect(await store.all()).toEqual([]);
    for (const id of ['z', 'a', 'm']) await add(store, id);
    expect(await idsOf(store)).toEqual(['z', 'a', 'm']);
    expect((await store.all())[1]?.entry).toEqual(entryOf({ id: 'a' }));
    expect(textOf(await store.body(await seqOf(store, 'm')))).toBe('body of m');
    expect(await store.body(99)).toBeUndefined();
  });

  test('asks whether there is room, of what is pending', async () => {
    const store = create();
    await add(store, 'waiting');
    await add(store, 'sending', { state: 'sending' });
    await add(store, 'sent', { state: 'sent' });
    await add(store, 'failed', { state: 'failed' });
    const seen: string[] = [];
    const refuses = (pending: readonly OutboxEntry[]) => {
      seen.push(...pending.map(({ id }) => id));
      return 'full';
    };
    const problem = await rejection(store.add(entryOf({ id: 'more' }), bytes(''), refuses, inTime));
    expect(problem).toMatchObject({ name: 'QuotaExceededError', message: 'full' });
    expect(seen).toEqual(['waiting', 'sending']);
    expect(await idsOf(store)).not.toContain('more');
    // What fits goes on to be kept.
    await add(store, 'less');
    expect(await idsOf(store)).toContain('less');
  });

  test('puts one through a change, and tells what is there now', async () => {
    const store = create();
    await add(store, 'a');
    const seq = await seqOf(store, 'a');
    const seen: OutboxEntry[] = [];
    const fail = (entry: OutboxEntry): OutboxEntry => {
      seen.push(entry);
      return { ...entry, state: 'failed' };
    };
    expect(await store.change(seq, fail)).toEqual(entryOf({ id: 'a', state: 'failed' }));
    expect(seen).toEqual([entryOf({ id: 'a' })]);
    // Somebody may want it to be sent once more.
    expect(textOf(await store.body(seq))).toBe('body of a');
    await store.change(seq, (entry) => ({ ...entry, state: 'sent', endedAt: AROUND }));
    expect(await store.body(seq)).toBeUndefined();
    expect(await idsOf(store)).toEqual(['a']);
    expect(await store.change(seq, () => undefined)).toBeUndefined();
    expect(await store.all()).toEqual([]);
    expect(await store.change(seq, fail)).toBeUndefined();
    expect(seen).toHaveLength(1);
  });

  test('knows the owner', async () => {
    const store = create();
    expect(await store.owner()).toBeUndefined();
    await store.setOwner('ann');
    expect(await store.owner()).toBe('ann');
    await add(store, 'a');
    const change = vi.fn((entry: OutboxEntry) => entry);
    await store.change(await seqOf(store, 'a'), change);
    expect(change).toHaveBeenCalledWith(expect.anything(), 'ann');
    await store.setOwner(undefined);
    expect(await store.owner()).toBeUndefined();
  });
});

describe('what is kept outlives the worker', () => {
  test('the next one finds it, and numbers go on', async () => {
    await add(
      createOutboxStore(() => now),
      'a',
    );
    await createOutboxStore(() => now).setOwner('ann');
    const next = createOutboxStore(() => now);
    await add(next, 'b');
    expect(await idsOf(next)).toEqual(['a', 'b']);
    expect(await next.owner()).toBe('ann');
    expect(textOf(await next.body(await seqOf(next, 'a')))).toBe('body of a');
  });

  test('it is on disk before it counts', async () => {
    const transaction = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const store = createOutboxStore(() => now);
    await add(store, 'a');
    await store.change(await seqOf(store, 'a'), (entry) => entry);
    const durable = transaction.mock.calls.filter(([, , options]) => options?.durability === 'strict');
    expect(durable.map(([names, mode]) => [names, mode])).toEqual([
      [['entries', 'bodies'], 'readwrite'],
      [['entries', 'bodies', 'notes'], 'readwrite'],
    ]);
  });

  test('a body that is none is none', async () => {
    const store = createOutboxStore(() => now);
    await add(store, 'a');
    const seq = await seqOf(store, 'a');
    const db = await open();
    await db.put('bodies', 'text', seq);
    await db.put('notes', 5, 'owner');
    db.close();
    expect(await store.body(seq)).toBeUndefined();
    expect(await store.owner()).toBeUndefined();
  });

  test('two that write at once lose nothing', async () => {
    const [one, other] = [createOutboxStore(() => now), createOutboxStore(() => now)];
    await Promise.all(['1', '2', '3', '4'].map((id, at) => add(at % 2 ? one : other, id)));
    expect((await idsOf(one)).sort()).toEqual(['1', '2', '3', '4']);
    const seq = await seqOf(one, '1');
    const more = (entry: OutboxEntry) => ({ ...entry, sends: entry.sends + 1 });
    await Promise.all([one, other, one, other].map((store) => store.change(seq, more)));
    expect((await one.all()).find((row) => row.seq === seq)?.entry.sends).toBe(4);
  });
});

describe('nothing is kept of what took too long', () => {
  test('if that is known before it is written', async () => {
    const store = createOutboxStore(() => now);
    const late = store.add(entryOf(), bytes('abc'), welcome, () => true);
    expect(await rejection(late)).toMatchObject({ message: 'it took too long' });
    expect(await rows()).toEqual([0, 0]);
  });

  // The page was told that it is lost, and may have sent it anew.
  test('nor if it is known only afterwards; and nobody is told that it was kept', async () => {
    const store = createOutboxStore(() => now);
    let asked = 0;
    const late = store.add(entryOf(), bytes('abc'), welcome, () => ++asked > 1);
    expect(await rejection(late)).toMatchObject({ name: 'TimeoutError' });
    expect(asked).toBe(2);
    expect(await rows()).toEqual([0, 0]);
  });
});

describe('what is over is deleted when it is looked at', () => {
  test('a result as long after its end as it had time', async () => {
    const store = createOutboxStore(() => now);
    await add(store, 'sent', { state: 'sent', endedAt: AROUND });
    await add(store, 'failed', { state: 'failed', endedAt: AROUND });
    await add(store, 'old');
    now = AROUND + DAY_MS - 1;
    expect(await idsOf(store)).toEqual(['sent', 'failed', 'old']);
    now += 1;
    expect(await idsOf(store)).toEqual(['old']);
    expect(await rows()).toEqual([1, 1]);
  });

  test('S17 of each kind of results all but the last hundred', async () => {
    const store = createOutboxStore(() => now);
    for (let n = 0; n < 102; n += 1) {
      await add(store, `sent ${n}`, { state: 'sent', endedAt: AROUND });
      await add(store, `failed ${n}`, { state: 'failed', endedAt: AROUND });
      if (n % 10 === 0) await add(store, `waiting ${n}`);
    }
    const left = await idsOf(store);
    const of = (kind: string) => left.filter((id) => id.startsWith(kind));
    expect(of('sent')).toHaveLength(100);
    expect(of('failed')).toHaveLength(100);
    expect(of('waiting')).toHaveLength(11);
    expect(left).not.toContain('sent 1');
    expect(left).toContain('failed 2');
    expect(await rows()).toEqual([211, 211]);
  });
});

test('what nobody here can read is left to whoever wrote it', async () => {
  const store = createOutboxStore(() => now);
  await add(store, 'a');
  const db = await open();
  const strange = [{ version: 9 }, 'text', entryOf({ request: { ...entryOf().request, url: 'http://a b/' } })];
  for (const [at, value] of strange.entries()) {
    await db.put('entries', value, 50 + at);
    await db.put('bodies', bytes('theirs'), 50 + at);
  }
  db.close();
  expect(await idsOf(store)).toEqual(['a']);
  const change = vi.fn();
  for (const seq of [50, 51, 52]) expect(await store.change(seq, change)).toBeUndefined();
  expect(change).not.toHaveBeenCalled();
  expect(await rows()).toEqual([4, 4]);
  await add(store, 'b');
  expect(await idsOf(store)).toEqual(['a', 'b']);
});

describe('whoever wants something kept is told that it is not', () => {
  // B112: a full disk shows only when the data is written.
  test.each(['entries', 'bodies'])('B112 if there is no room for the %s', async (full) => {
    const store = createOutboxStore(() => now);
    await add(store, 'a');
    const method = full === 'entries' ? 'add' : 'put';
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementationOnce(() => {
      throw new DOMException('the disk is full', 'QuotaExceededError');
    });
    expect(await rejection(add(store, 'b'))).toMatchObject({ name: 'QuotaExceededError' });
    vi.restoreAllMocks();
    await add(store, 'small');
    expect((await idsOf(store)).filter((id) => id !== 'b')).toEqual(['a', 'small']);
  });

  test('B112 if the transaction is aborted at its end', async () => {
    const store = createOutboxStore(() => now);
    await add(store, 'a');
    const put = IDBObjectStore.prototype.put;
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(function (this: IDBObjectStore, value, key) {
      const request = put.call(this, value, key);
      request.addEventListener('success', () => this.transaction.abort());
      return request;
    });
    expect(await rejection(add(store, 'b'))).toMatchObject({ name: 'AbortError' });
    expect(await idsOf(store)).toEqual(['a']);
    expect(await rows()).toEqual([1, 1]);
  });

  test('B110 if there is no database', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const store = createOutboxStore(() => now);
    await expect(add(store, 'a')).rejects.toThrow();
    await expect(store.all()).rejects.toThrow();
    await expect(store.owner()).rejects.toThrow();
  });
});

test('deleted with its worker, it takes nothing from the worker of another scope', async () => {
  const [shop, blog] = [createOutboxStore(() => now, '/shop/'), createOutboxStore(() => now, '/blog/')];
  await add(shop, 'order');
  await add(blog, 'comment');
  await blog.setOwner('ann');
  await shop.destroy();
  expect(await rejection(shop.all())).toMatchObject({ name: 'InvalidStateError' });
  expect([await idsOf(blog), await rows(), await blog.owner()]).toEqual([['comment'], [1, 1], 'ann']);
  expect(textOf(await blog.body(await seqOf(blog, 'comment')))).toBe('body of comment');
  await blog.destroy();
  expect((await indexedDB.databases()).map(({ name }) => name)).toEqual([]);
});

test('deleted, it keeps nothing until it is revived', async () => {
  const store = createOutboxStore(() => now);
  await add(store, 'a');
  await store.destroy();
  expect((await indexedDB.databases()).map(({ name }) => name)).toEqual([]);
  expect(await rejection(add(store, 'b'))).toMatchObject({ name: 'InvalidStateError' });
  store.revive();
  await add(store, 'c');
  expect(await idsOf(store)).toEqual(['c']);
});
