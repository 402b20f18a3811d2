import { describe, expect, test } from 'vitest';
import { bytesOf, keyOf, rebuild, toStored } from '../../src/outbox/stored-request.ts';

const ORIGIN = 'https://app.test';
const { signal } = new AbortController();
const EMPTY = new ArrayBuffer(0);
const text = (bytes: ArrayBuffer | undefined) => bytes && new TextDecoder().decode(bytes);

/** A request whose mode no script can give it. */
const navigation = (init: RequestInit) =>
  new Proxy(new Request('https://app.test/form#top', init), {
    get: (target, field) => {
      if (field === 'mode') return 'navigate';
      if (field === 'redirect') return 'manual';
      const value = Reflect.get(target, field) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('a request that was stored', () => {
  test('workbox-374 comes back with its URL, method, mode, headers and all bytes of its body', async () => {
    const headers = { 'x-foo': 'bar', 'x-qux': 'baz' };
    const request = new Request('https://app.test/api?a=1#b', {
      method: 'POST',
      body: 'it worked!',
      mode: 'cors',
      headers,
    });
    const stored = toStored(request);
    const body = await bytesOf(request, 10);
    // As a database keeps it.
    const again = rebuild(structuredClone(stored), body ?? EMPTY, signal, ORIGIN);
    expect([again.url, again.method, again.mode]).toEqual(['https://app.test/api?a=1', 'POST', 'cors']);
    expect([...again.headers]).toEqual([
      ['content-type', 'text/plain;charset=UTF-8'],
      ['x-foo', 'bar'],
      ['x-qux', 'baz'],
    ]);
    expect(body?.byteLength).toBe(10);
    expect(await again.text()).toBe('it worked!');
  });

  test('workbox-375 of a document is one that a script could make, and follows redirects itself', () => {
    const stored = toStored(navigation({ method: 'POST', body: '{"json":"data"}' }));
    expect(stored).toMatchObject({ mode: 'same-origin', redirect: 'follow', url: 'https://app.test/form' });
    expect(rebuild(stored, EMPTY, signal, ORIGIN).mode).toBe('same-origin');
  });

  test('keeps what else it says', () => {
    const said = {
      method: 'PUT',
      credentials: 'include',
      redirect: 'error',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      integrity: 'sha256-x',
    } as const;
    const again = rebuild(toStored(new Request('https://app.test/', said)), EMPTY, signal, ORIGIN);
    expect(again).toMatchObject(said);
    expect(again.body).toBeNull();
  });

  test.each([
    { referrer: 'https://app.test/page', again: 'https://app.test/page' },
    { referrer: '', again: '' },
    { referrer: 'https://other.test/', again: 'about:client' },
    { referrer: 'https://app.test.evil/', again: 'about:client' },
    { referrer: 'about:client', again: 'about:client' },
  ])('has the referrer $again where it was $referrer', ({ referrer, again }) => {
    const stored = { ...toStored(new Request('https://app.test/')), referrer };
    expect(rebuild(stored, EMPTY, signal, ORIGIN).referrer).toBe(again);
  });

  test('ends with its signal', () => {
    const caller = new AbortController();
    const again = rebuild(toStored(new Request('https://app.test/')), EMPTY, caller.signal, ORIGIN);
    caller.abort();
    expect(again.signal.aborted).toBe(true);
  });
});

describe('the bytes of a body', () => {
  const post = (body: BodyInit) => new Request('https://app.test/', { method: 'POST', body });

  test.each([
    { name: 'a text', body: 'äpfel', bytes: 'äpfel' },
    { name: 'nothing', body: '', bytes: '' },
    { name: 'a Blob', body: new Blob(['ab', 'cd']), bytes: 'abcd' },
  ])('of $name', async ({ body, bytes }) => {
    expect(text(await bytesOf(post(body), 100))).toBe(bytes);
  });

  test('of a request without one are none', async () => {
    expect((await bytesOf(new Request('https://app.test/', { method: 'DELETE' }), 0))?.byteLength).toBe(0);
  });

  test('may be as many as allowed, and not one more', async () => {
    expect((await bytesOf(post('abc'), 3))?.byteLength).toBe(3);
    expect(await bytesOf(post('abcd'), 3)).toBeUndefined();
  });

  test('that are too many are not read to their end', async () => {
    let cancelled = false;
    let pulled = 0;
    const body = new ReadableStream({
      pull(to) {
        pulled += 1;
        to.enqueue(new Uint8Array(4));
      },
      cancel() {
        cancelled = true;
      },
    });
    const request = new Request('https://app.test/', { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(await bytesOf(request, 10)).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve));
    expect(cancelled).toBe(true);
    expect(pulled).toBeLessThan(10);
  });

  test('that somebody has read already cannot be had', async () => {
    const request = post('abc');
    await request.text();
    expect(await bytesOf(request, 10)).toBeUndefined();
  });

  test('are read at once where a request has no stream (Firefox)', async () => {
    const without = (body: string) =>
      ({ arrayBuffer: async () => new TextEncoder().encode(body).buffer }) as unknown as Request;
    expect(text(await bytesOf(without('abc'), 3))).toBe('abc');
    expect(await bytesOf(without('abcd'), 3)).toBeUndefined();
  });
});

test.each([
  { headers: [['Idempotency-Key', 'k']], key: 'k' },
  {
    headers: [
      ['accept', '*/*'],
      ['x-idempotency-key', 'k'],
    ],
    key: 'k',
  },
  {
    headers: [
      ['idempotency-key', ''],
      ['x-idempotency-key', 'x'],
    ],
    key: 'x',
  },
  { headers: [['idempotency-key', '']], key: undefined },
  { headers: [['key', 'k']], key: undefined },
])('the key of $headers is $key', ({ headers, key }) => {
  expect(keyOf(headers as [string, string][])?.[1]).toBe(key);
});
