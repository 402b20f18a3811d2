import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createBridge, type Line, withRetry } from '../../src/page/bridge.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { parseOverride, toMessage } from '../../src/protocol/index.ts';
import { createWorker } from '../support/page-scope.ts';

let sent: [RequestInfo | URL, RequestInit?][] = [];
const heard: string[] = [];
const fetch = (async (...given: [RequestInfo | URL, RequestInit?]) => {
  sent.push(given);
  given[1]?.signal?.throwIfAborted();
  return new Response('fine');
}) as typeof globalThis.fetch;

beforeEach(() => {
  sent = [];
  heard.length = 0;
  vi.stubGlobal('location', { href: 'https://app.test/page' });
});

const worker = () =>
  createWorker('activated', ({ kind = '' }) => {
    heard.push(kind);
    return toMessage({ kind: 'done' });
  }) as unknown as ServiceWorker;
const line = (fragments = true): Line => ({ worker: worker(), nonce: 'n1', fragments });
const bridge = (to: Line | undefined = line()) => createBridge(() => to, fetch);
const urlOf = (index = 0): string => {
  const [input] = sent[index] ?? [''];
  return input instanceof Request ? input.url : String(input);
};
const mark = (index = 0) => parseOverride(new URL(urlOf(index), 'https://app.test').hash);

describe('whatever asks for nothing goes as it is', () => {
  test.each<{ name: string; given: Parameters<ReturnType<typeof bridge>> }>([
    { name: 'a URL', given: ['/x#part'] },
    { name: 'an init', given: ['/x', { method: 'PUT', body: 'b' }] },
    {
      name: 'an init that is a request',
      given: ['/x', new Request('https://app.test/y', { method: 'POST', body: 'b' })],
    },
    { name: 'no init', given: ['/x', null as never] },
    { name: 'no arguments', given: [] as never },
    { name: 'data', given: ['data:,x', { signal: new AbortController().signal }] },
    { name: 'nonsense', given: ['http://[', { signal: new AbortController().signal }] },
    { name: 'what was called off', given: ['/x', { signal: AbortSignal.abort('mine') }] },
    { name: 'a request whose signal is taken away', given: ['/x', { signal: null }] },
  ])('$name', async ({ given }) => {
    await bridge()(...given).catch(() => {});
    // An init that is a request has a signal, which is worth a mark.
    if (given[1] instanceof Request) expect(sent[0]?.[1]).toBe(given[1]);
    else expect(sent[0]).toEqual(given);
  });

  test('so does everything where there is no worker of ours', async () => {
    const init = { signal: new AbortController().signal, retry: { attempts: 2 } };
    await createBridge(() => undefined, fetch)('/x', init);
    expect(sent).toEqual([['/x', init]]);
  });
});

describe('what it asks for', () => {
  test('stands in the fragment, with the nonce; a signal gives it an id', async () => {
    await bridge()('/x#part', { retry: { attempts: 2 }, signal: new AbortController().signal });
    expect(urlOf()).toMatch(/^\/x#part~sf=a2\.i[0-9a-f-]{36}\.nn1$/);
  });

  test('`false` has neither id nor nonce', async () => {
    await bridge()('/x', { retry: false, signal: new AbortController().signal });
    expect(urlOf()).toBe('/x#~sf=x');
  });

  test('is added to what the URL carries, and takes nothing back', async () => {
    const { signal } = new AbortController();
    await bridge()(withRetry('/x', { attempts: 1 }), { signal });
    expect(mark()).toMatchObject({ attempts: 1, abortId: expect.any(String) });
    await bridge()(withRetry('/x', false), { signal, retry: { attempts: 9 } });
    expect(urlOf(1)).toBe('/x#~sf=x');
    await bridge()('/x#~sf=iouter', { signal });
    expect(mark(2)).toEqual({ abortId: 'outer' });
  });

  test('S09 signs nothing that the URL carries and that may ask for more', async () => {
    await bridge()('/x#~sf=a9999.o1.t9999.u1', { retry: { totalMs: 5_000 } });
    expect(mark()).toEqual({ totalMs: 5_000, nonce: 'n1' });
    await bridge()('/x#~sf=a1.h.u0.iouter', { retry: { totalMs: 5_000 } });
    expect(mark(1)).toEqual({ totalMs: 5_000, hedge: false, retryNonIdempotent: false, abortId: 'outer', nonce: 'n1' });
  });

  test('a Request keeps what it is, and its body is bytes', async () => {
    const request = new Request('https://app.test/x', {
      method: 'PUT',
      body: 'bytes',
      headers: { 'X-A': '1' },
      credentials: 'include',
      cache: 'no-store',
    });
    await bridge()(request, { retry: { attempts: 2 } });
    const [marked] = sent[0] as [Request];
    expect(mark()).toMatchObject({ attempts: 2 });
    expect([marked.method, marked.credentials, marked.cache, marked.headers.get('X-A'), await marked.text()]).toEqual([
      'PUT',
      'include',
      'no-store',
      '1',
      'bytes',
    ]);
  });

  test('a wrong option is refused before anything is sent', async () => {
    await expect(bridge()('/x', { retry: { attempts: 0 } })).rejects.toThrow(RetryLayerError);
    expect(sent).toEqual([]);
  });
});

describe('an abort', () => {
  test('is told to the worker while the answer is waited for, and not after it', async () => {
    const controller = new AbortController();
    let answer: (response: Response) => void = () => {};
    const slow = (() => new Promise((resolve) => (answer = resolve))) as typeof globalThis.fetch;
    const to = line();
    const waiting = createBridge(() => to, slow)('/x', { signal: controller.signal });
    answer(new Response());
    await waiting;
    controller.abort();
    expect(heard).toEqual([]);
    const second = new AbortController();
    void createBridge(() => to, slow)('/x', { signal: second.signal });
    second.abort();
    expect(heard).toEqual(['abort']);
  });
});

describe('beside the routes of another', () => {
  test('it goes by message, and what has come, or never came, is withdrawn', async () => {
    await bridge(line(false))('/x.json', { retry: { attempts: 1 } });
    expect(sent).toEqual([['/x.json', { retry: { attempts: 1 } }]]);
    expect(heard).toEqual(['call', 'withdraw']);
    const controller = new AbortController();
    const aborted = bridge(line(false))('/x.json', { signal: controller.signal });
    controller.abort('mine');
    await expect(aborted).rejects.toBe('mine');
    expect(heard.slice(2)).toEqual(['call', 'abort', 'withdraw']);
  });

  test('nothing can be made repeatable by a message', async () => {
    const asked = bridge(line(false))('/x', { method: 'POST', retry: { retryNonIdempotent: true } });
    await expect(asked).rejects.toThrow('set it on a route of the worker');
    const sooner = bridge(line(false))('/x', { retry: { attemptTimeoutMs: 100 } });
    await expect(sooner).rejects.toThrow('retry.attemptTimeoutMs cannot be asked for');
    expect(sent).toEqual([]);
  });
});

describe('withRetry', () => {
  test('marks a URL for anybody', () => {
    expect(withRetry('/x', { retries: 1 })).toBe('/x#~sf=a2');
    expect(withRetry(new URL('https://app.test/x'), false)).toBe('https://app.test/x#~sf=x');
  });

  test('asks for no more than it may, and of nothing but URLs', () => {
    expect(() => withRetry('/x', { retryNonIdempotent: true })).toThrow('use retries.fetch');
    expect(() => withRetry('/x', { attemptTimeoutMs: 100 })).toThrow('retry.attemptTimeoutMs cannot be asked for');
    expect(() => withRetry(new Request('https://app.test/') as never, {})).toThrow('give a Request to retries.fetch');
  });
});
