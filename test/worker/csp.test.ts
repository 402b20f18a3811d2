/// <reference lib="webworker" />
import '../support/worker-scope.ts';

import { beforeEach, describe, expect, test } from 'vitest';
import type { OriginRecord } from '../../src/policy/origin-record.ts';
import { createCspGuard } from '../../src/worker/csp.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';
import { createVirtualTime, virtualPorts } from '../support/virtual-time.ts';
import { type FakeScope, settle, stubScope } from '../support/worker-scope.ts';

expectNothingUnhandled();

const OTHER = 'https://other.test';
declare const self: ServiceWorkerGlobalScope;

const KEY = 'csp https://app.test/';

let stored: Map<string, unknown>;
let scope: FakeScope;

beforeEach(() => {
  stored = new Map();
});

interface World {
  /** The policy that the script is served with; a function may throw. */
  readonly csp?: string | (() => string);
  readonly answer?: (request: Request) => Promise<Response>;
  /** What comes of `data:`, which a policy forbids. */
  readonly data?: () => Promise<Response>;
  /** Another version of it is active. */
  readonly updates?: boolean;
  readonly warn?: (what: string) => void;
  readonly before?: (operation: 'load' | 'update') => Promise<void> | void;
}

/** A worker that has just been started. */
function start({ csp = '', answer, data = async () => new Response(), before, updates = false, warn }: World = {}) {
  scope = stubScope();
  Object.assign(self.registration, { active: updates ? {} : null });
  const time = createVirtualTime();
  const store = createMemoryStore(before, stored);
  const sent: string[] = [];
  const script = async () => {
    const policy = typeof csp === 'string' ? csp : csp();
    return new Response('script', { headers: { 'Content-Security-Policy': policy } });
  };
  const fetch = async (request: Request) => {
    if (request.url === 'data:,') return data();
    sent.push(request.url);
    if (request.url === 'https://app.test/sw.js') return script();
    return answer ? answer(request) : new Response('fine');
  };
  const warnings: string[] = [];
  const once = (what: string) => {
    if (!warnings.includes(what)) warnings.push(what);
  };
  const ports = virtualPorts(time, time.sleeper(), fetch);
  const guard = createCspGuard(self, store, ports, warn ?? once);
  guard.listen();
  const loaded = guard.store.load().catch(() => []);
  const lived = async (...types: string[]) => {
    for (const type of types) {
      const waits: Promise<unknown>[] = [];
      scope.dispatch(type, { waitUntil: (work: Promise<unknown>) => waits.push(work) });
      await Promise.all(waits);
    }
    await settle();
  };
  const skips = (url: string, init?: RequestInit) => guard.skips(new Request(url, init), new URL(url));
  return { guard, store, time, sent, warnings, loaded, lived, skips };
}

const violation = (blockedURI: string, more: object = {}) =>
  scope.dispatch('securitypolicyviolation', {
    blockedURI,
    disposition: 'enforce',
    effectiveDirective: 'connect-src',
    ...more,
  });

const lost = () => Promise.reject(new TypeError('lost'));

describe('a policy that is read at the installation', () => {
  test('leaves what it forbids to the browser from the first request, and says so once for each origin', async () => {
    const { skips, lived, warnings, sent } = start({ csp: "connect-src 'self' https://cdn.test" });
    await lived('install', 'activate');
    expect(sent).toEqual(['https://app.test/sw.js']);
    expect(skips('https://app.test/api')).toBe(false);
    expect(skips('https://cdn.test/x')).toBe(false);
    expect(warnings).toEqual([]);
    expect(skips(`${OTHER}/a`)).toBe(true);
    expect(skips(`${OTHER}/b`)).toBe(true);
    expect(skips('https://third.test/')).toBe(true);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^blocked-by-csp: .*https:\/\/other\.test.*connect-src.*\/sw\.js.*change the script/);
  });

  test('is there for the worker’s next run, after one transaction', async () => {
    await start({ csp: "default-src 'self'" }).lived('install', 'activate');
    const { skips, loaded, sent, store } = start();
    await loaded;
    await settle();
    expect([skips(`${OTHER}/`), skips('https://app.test/')]).toEqual([true, false]);
    expect([store.loads(), store.updates(), sent.length]).toEqual([1, 0, 0]);
  });

  test('replaces that of the version before, which is used until then', async () => {
    await start({ csp: "connect-src 'self'" }).lived('install', 'activate');
    violation('https://app.test/away');
    await settle();
    const before = { lists: [["'self'"]], blocked: ['https://app.test/away'] };
    const next = start({ csp: 'connect-src https:', updates: true });
    await next.loaded;
    await next.lived('install');
    expect(stored.get(KEY)).toMatchObject({ versions: [before, { lists: [['https:']], blocked: [] }] });
    expect(next.skips(`${OTHER}/`)).toBe(false);
    await next.lived('activate');
    expect(stored.get(KEY)).toMatchObject({ versions: [{ lists: [['https:']], blocked: [] }] });
    expect([next.skips(`${OTHER}/`), next.skips('https://app.test/away')]).toEqual([false, false]);
    await start({ updates: true }).lived('install', 'activate');
    expect(stored.has(KEY)).toBe(false);
  });

  test('may be that of either version, if the worker is started again before the next is activated', async () => {
    await start({ csp: "connect-src 'self' https://cdn.test" }).lived('install', 'activate');
    await start({ csp: `connect-src 'self' ${OTHER}`, updates: true }).lived('install');
    const either = start();
    await either.loaded;
    await settle();
    const seen = ({ skips }: typeof either) =>
      ['https://cdn.test/', `${OTHER}/`, 'https://third.test/'].map((url) => skips(url));
    expect(seen(either)).toEqual([false, false, true]);
    // Whose policy that was it cannot tell, so it is not kept.
    violation('https://cdn.test/');
    await settle();
    expect(either.skips('https://cdn.test/')).toBe(true);
    expect(stored.get(KEY)).toMatchObject({ versions: [{ blocked: [] }, { blocked: [] }] });
    await start().lived('activate');
    const next = start();
    await next.loaded;
    await settle();
    expect(seen(next)).toEqual([true, false, true]);
  });

  test('that is the first, after a version without one, is not held against that version', async () => {
    await start({ csp: "connect-src 'self'", updates: true }).lived('install');
    const either = start();
    await either.loaded;
    await settle();
    expect(either.skips(`${OTHER}/`)).toBe(false);
  });

  test('is used at once by a worker that is activated before what is stored is here', async () => {
    await start({ csp: 'connect-src https:' }).lived('install', 'activate');
    await start({ csp: "connect-src 'self'", updates: true }).lived('install');
    const next = start();
    await next.lived('activate');
    expect(next.skips(`${OTHER}/`)).toBe(true);
    expect(stored.get(KEY)).toMatchObject({ versions: [{ lists: [["'self'"]] }] });
  });

  test('that is none costs no transaction', async () => {
    const { lived, store, skips } = start({ csp: "script-src 'self'" });
    await lived('install', 'activate');
    expect(store.updates()).toBe(0);
    expect(skips(`${OTHER}/`)).toBe(false);
  });

  test('leaves the records of origins alone', async () => {
    stored.set('x', { some: 'record' });
    const { lived, guard } = start({ csp: "connect-src 'self'" });
    await lived('install', 'activate');
    await guard.store.update(new Map([['y', () => ({ origin: 'y' }) as OriginRecord]]));
    expect([...stored.keys()]).toEqual(['x', KEY, 'y']);
  });
});

describe('a browser that tells of no violation', () => {
  const untold = { answer: lost, data: lost };

  test('takes what fails of another origin for forbidden, if there is a policy that was not read', async () => {
    const { guard, time, lived, skips } = start(untold);
    await lived('install', 'activate');
    const request = new Request(`${OTHER}/x`);
    expect(guard.settle(await time.until(guard.fetch(request)), request).headers.get('Location')).toBe(`${OTHER}/x`);
    expect([skips(`${OTHER}/y`), skips('https://third.test/')]).toEqual([true, false]);
    await settle();
    const next = start();
    await next.loaded;
    expect(next.skips(`${OTHER}/y`)).toBe(true);
  });

  test('knows that its own origin is allowed by having read the script', async () => {
    const { guard, time, lived, skips } = start(untold);
    await lived('install', 'activate');
    await expect(time.until(guard.fetch(new Request('https://app.test/x')))).rejects.toThrow('lost');
    expect(skips('https://app.test/x')).toBe(false);
  });

  test('and that it is forbidden by the script that cannot be read', async () => {
    const csp = () => {
      throw new TypeError('Load failed');
    };
    const { time, lived, skips } = start({ ...untold, csp });
    const lives = lived('install', 'activate');
    await time.advance(1_000);
    await lives;
    expect(skips('https://app.test/x')).toBe(true);
    await settle();
    const next = start();
    await next.loaded;
    expect(next.skips('https://app.test/x')).toBe(true);
  });

  test('is believed in what was read', async () => {
    const { guard, time, lived, skips } = start({ ...untold, csp: `connect-src 'self' ${OTHER}` });
    await lived('install', 'activate');
    await expect(time.until(guard.fetch(new Request(`${OTHER}/x`)))).rejects.toThrow('lost');
    expect(skips(`${OTHER}/x`)).toBe(false);
  });

  test('keeps nobody waiting for a store that hangs, and is known without it', async () => {
    const { guard, time, skips } = start({ ...untold, before: () => new Promise(() => {}) });
    const fails = () => time.until(guard.fetch(new Request(`${OTHER}/x`)));
    await expect(fails()).rejects.toThrow('lost');
    expect(skips(`${OTHER}/x`)).toBe(false);
    await time.advance(2_000);
    expect((await fails()).type).toBe('error');
    expect(skips(`${OTHER}/x`)).toBe(true);
  });

  test('is not one that tells of `data:`', async () => {
    const data = async () => {
      setImmediate(() => violation('data'));
      return lost();
    };
    const { guard, time, lived, skips } = start({ answer: lost, data });
    await lived('install', 'activate');
    await expect(time.until(guard.fetch(new Request(`${OTHER}/x`)))).rejects.toThrow('lost');
    expect(skips(`${OTHER}/x`)).toBe(false);
  });
});

describe('a violation', () => {
  const blockedFetch = (url: string) => async () => {
    // The event comes after the rejection.
    setImmediate(() => violation(url));
    return lost();
  };

  test('is no network error: the browser is made to ask anew, and is left alone then', async () => {
    const { guard, time, skips, warnings } = start({ answer: blockedFetch(`${OTHER}/x?y`) });
    const request = new Request(`${OTHER}/x?y`);
    const response = await time.until(guard.fetch(request));
    expect(response.type).toBe('error');
    const given = guard.settle(response, request);
    expect([given.status, given.headers.get('Location')]).toEqual([307, `${OTHER}/x?y`]);
    expect(given.headers.get('Access-Control-Allow-Origin')).toBe('https://app.test');
    expect(skips(`${OTHER}/x?y`)).toBe(true);
    expect(skips(`${OTHER}/else`)).toBe(true);
    expect(skips('https://third.test/')).toBe(false);
    expect(warnings).toHaveLength(1);
  });

  test('is the network’s own error where the browser may not be sent again', async () => {
    const { guard, time } = start({ answer: blockedFetch(`${OTHER}/x`) });
    const request = new Request(`${OTHER}/x`, { redirect: 'error' });
    const response = await time.until(guard.fetch(request));
    expect(() => guard.settle(response, request)).toThrow('lost');
    // Nor is whoever asks from inside the worker.
    expect(() => guard.settle(response)).toThrow('lost');
  });

  test('of what is known is not sent at all', async () => {
    const { guard, lived, sent } = start({ csp: "connect-src 'self'" });
    await lived('install');
    const response = await guard.fetch(new Request(`${OTHER}/`));
    expect(() => guard.settle(response)).toThrow(TypeError);
    expect(sent).toEqual(['https://app.test/sw.js']);
  });

  test('is kept beside the policy that was read', async () => {
    await start({ csp: "connect-src 'self' https://cdn.test" }).lived('install', 'activate');
    const second = start();
    await second.loaded;
    await settle();
    violation('https://cdn.test/to-elsewhere?x');
    await settle();
    const { loaded, skips } = start();
    await loaded;
    await settle();
    expect(skips(`${OTHER}/`)).toBe(true);
    expect([skips('https://cdn.test/to-elsewhere'), skips('https://cdn.test/')]).toEqual([true, false]);
  });

  test('of a redirect gives up that URL, not its origin', async () => {
    const { lived, skips, warnings } = start({ csp: "connect-src 'self'" });
    await lived('install', 'activate');
    violation('https://app.test/away?x=1');
    expect(skips('https://app.test/away?x=2')).toBe(true);
    expect(skips('https://app.test/')).toBe(false);
    expect(warnings[0]).toContain('where https://app.test redirects to');
  });

  test('does not give up the own origin if the policy is not known, unless not even the script is allowed', async () => {
    const { skips } = start();
    violation('https://app.test/away');
    expect([skips('https://app.test/away'), skips('https://app.test/api')]).toEqual([true, false]);
    violation('https://app.test/sw.js');
    expect(skips('https://app.test/api')).toBe(true);
  });

  test.each([
    ['is only reported', `${OTHER}/`, { disposition: 'report' }],
    ['is of something else', `${OTHER}/`, { effectiveDirective: 'script-src-elem' }],
    ['names no URL', 'inline', {}],
  ])('that %s is ignored', async (_, blockedURI, more) => {
    const { skips, store } = start();
    violation(blockedURI, more);
    await settle();
    expect([skips(`${OTHER}/`), store.updates()]).toEqual([false, 0]);
  });

  test('that comes again is written once', async () => {
    const { store, loaded } = start();
    await loaded;
    for (let round = 0; round < 5; round += 1) violation(`${OTHER}/${round}`);
    await settle();
    expect(store.updates()).toBe(1);
  });

  test('of more URLs than are kept forgets the oldest', async () => {
    const { skips } = start();
    for (let n = 0; n <= 100; n += 1) violation(`https://app.test/${n}`);
    expect([skips('https://app.test/0'), skips('https://app.test/1'), skips('https://app.test/100')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('until what is stored is here', () => {
  test('only what the browser could ask for again is intercepted', async () => {
    let goOn = () => {};
    const { skips, loaded } = start({
      before: () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    });
    const seen = () => [
      skips(`${OTHER}/`),
      skips(`${OTHER}/`, { redirect: 'error' }),
      skips('https://app.test/', { redirect: 'error' }),
    ];
    expect(seen()).toEqual([false, true, false]);
    goOn();
    await loaded;
    await settle();
    expect(seen()).toEqual([false, false, false]);
  });

  test('but not for ever', async () => {
    const { skips, time } = start({ before: () => new Promise(() => {}) });
    await time.advance(2_000);
    expect(skips(`${OTHER}/`, { redirect: 'error' })).toBe(false);
  });
});

describe('as without it', () => {
  test.each([
    ['throws', () => lost()],
    ['hangs', () => new Promise<never>(() => {})],
  ])('with a store that %s, in memory', async (_, before) => {
    const { lived, skips } = start({ csp: "connect-src 'self'", before });
    await lived('install', 'activate');
    expect(skips(`${OTHER}/`)).toBe(true);
    violation('https://app.test/away');
    await settle();
    expect(skips('https://app.test/away')).toBe(true);
  });

  test('if the script cannot be read', async () => {
    const unreadable = () => {
      throw new TypeError('blocked');
    };
    const { lived, skips, store } = start({ csp: unreadable });
    await lived('install', 'activate');
    expect([skips(`${OTHER}/`), store.updates()]).toEqual([false, 0]);
  });

  test.each([
    ['of another scope', { scope: 'https://app.test/other/', versions: [{ lists: [["'self'"]], blocked: [OTHER] }] }],
    ['without versions', { scope: 'https://app.test/' }],
    ['with versions of something else', { scope: 'https://app.test/', versions: [null] }],
    ['without lists', { scope: 'https://app.test/', versions: [{ blocked: [OTHER] }] }],
    ['with lists of something else', { scope: 'https://app.test/', versions: [{ lists: [[1]], blocked: [OTHER] }] }],
    ['with something else blocked', { scope: 'https://app.test/', versions: [{ lists: [], blocked: [{}] }] }],
    ['that is nothing', null],
  ])('with a record %s', async (_, record) => {
    stored.set('record', record);
    const { loaded, skips } = start();
    await loaded;
    await settle();
    expect(skips(`${OTHER}/`)).toBe(false);
  });

  test('a network error is thrown as it is, and an answer handed on as it is', async () => {
    const { guard, time, skips } = start({ answer: lost });
    await expect(time.until(guard.fetch(new Request(`${OTHER}/`)))).rejects.toThrow('lost');
    expect(skips(`${OTHER}/`)).toBe(false);
    const answer = new Response('x');
    expect(guard.settle(answer, new Request(OTHER))).toBe(answer);
  });

  test('if something in here throws: it is sent, and fails by the network’s own error', async () => {
    const throwing = () => {
      throw new Error('planted');
    };
    const { guard, time, sent } = start({ answer: lost, warn: throwing });
    violation(`${OTHER}/`);
    await expect(time.until(guard.fetch(new Request(`${OTHER}/`)))).rejects.toThrow('lost');
    expect(sent).toEqual([`${OTHER}/`]);
  });
});
