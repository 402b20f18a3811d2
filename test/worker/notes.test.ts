import { describe, expect, test } from 'vitest';
import { createNotes } from '../../src/worker/notes.ts';
import { createSecret } from '../../src/worker/secret.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { createVirtualTime } from '../support/virtual-time.ts';

function start(store = createMemoryStore()) {
  const time = createVirtualTime();
  const { sleep, pending } = time.sleeper();
  const notes = createNotes(store, sleep);
  return { time, notes, store, pending, load: () => notes.store.load().catch(() => []) };
}

describe('a note', () => {
  test('is known at once, and after the worker was started again', async () => {
    const first = start();
    await first.load();
    const kept = first.notes.set('paused', true);
    expect(first.notes.get('paused')).toBe(true);
    await first.time.until(kept);
    expect([first.time.elapsed(), first.pending()]).toEqual([0, 0]);
    const second = start(first.store);
    expect(second.notes.get('paused')).toBeUndefined();
    await second.load();
    await second.notes.loaded();
    expect(second.notes.get('paused')).toBe(true);
    expect(second.pending()).toBe(0);
  });

  test('that was deleted stays deleted', async () => {
    const first = start();
    first.notes.set('paused', true);
    first.notes.set('paused', undefined);
    await first.time.settle();
    expect(first.store.stored.size).toBe(0);
  });

  test('said while the store is read is newer than what is read', async () => {
    const { notes, load, store } = start();
    store.stored.set('note paused', { note: 'paused', value: true });
    const loading = load();
    notes.set('paused', undefined);
    await loading;
    expect(notes.get('paused')).toBeUndefined();
  });

  test('of a store that does not answer is not waited for', async () => {
    const { notes, load, time } = start(createMemoryStore(() => new Promise(() => {})));
    void load();
    await time.until(notes.loaded());
    expect(time.elapsed()).toBe(500);
  });

  test('that is not kept in time is not waited for', async () => {
    const { notes, load, time } = start(
      createMemoryStore((what) => (what === 'update' ? new Promise(() => {}) : undefined)),
    );
    await load();
    await time.until(notes.set('paused', true));
    expect(time.elapsed()).toBe(400);
    expect(notes.get('paused')).toBe(true);
  });

  test('is not waited for where the store cannot even be read', async () => {
    const { notes, load, time } = start(createMemoryStore(() => new Promise(() => {})));
    void load();
    const nonce = await time.until(createSecret(notes, '/').value());
    expect([time.elapsed(), notes.get('nonce /')]).toEqual([500, nonce]);
  });

  test('of a store that fails is no trouble', async () => {
    const broken = createMemoryStore(() => {
      throw new Error('broken');
    });
    const { notes, load } = start(broken);
    await load();
    await notes.loaded();
    await notes.set('paused', true);
    expect(notes.get('paused')).toBe(true);
  });
});

describe('the secret between page and worker', () => {
  test('is told to pages, kept, and known again by a worker that is started again', async () => {
    const first = start();
    await first.load();
    const secret = createSecret(first.notes, 'https://app.test/');
    const [nonce, same] = await first.time.until(Promise.all([secret.value(), secret.value()]));
    expect(nonce).toMatch(/^[0-9a-f-]{36}$/);
    expect([same, await secret.value()]).toEqual([nonce, nonce]);
    // The worker may be stopped as soon as it has told it.
    const second = start(first.store);
    const again = createSecret(second.notes, 'https://app.test/');
    const early = again.is(nonce);
    await second.load();
    expect(await early).toBe(true);
    expect([again.is(nonce), again.is('guess'), again.is(undefined)]).toEqual([true, false, false]);
  });

  test('is told to nobody before it is kept', async () => {
    let keep = () => {};
    const slow = createMemoryStore((what) =>
      what === 'load'
        ? undefined
        : new Promise((resolve) => {
            keep = resolve;
          }),
    );
    const { notes, load, time } = start(slow);
    await load();
    let told: string | undefined;
    const value = createSecret(notes, '/').value();
    void value.then((nonce) => {
      told = nonce;
    });
    await time.settle();
    expect(told).toBeUndefined();
    keep();
    const nonce = await value;
    expect(slow.stored.get('note nonce /')).toMatchObject({ value: nonce });
  });

  test('workers of two scopes, which share a store, each know their own', async () => {
    const store = createMemoryStore();
    const told: string[] = [];
    for (const scope of ['/a/', '/b/']) {
      const { notes, load } = start(store);
      await load();
      told.push(await createSecret(notes, scope).value());
    }
    const { notes, load } = start(store);
    await load();
    await notes.loaded();
    expect(['/a/', '/b/'].map((scope, index) => createSecret(notes, scope).is(told[index]))).toEqual([true, true]);
    expect(createSecret(notes, '/a/').is(told[1])).toBe(false);
  });

  test('nothing is right before there is one', async () => {
    const { notes, load } = start();
    await load();
    const secret = createSecret(notes, 'https://app.test/');
    await notes.loaded();
    expect([await secret.is(''), await secret.is('undefined')]).toEqual([false, false]);
  });
});
