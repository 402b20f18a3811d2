import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { register } from '../../src/page/register.ts';
import { createWorker, ours, registered, settle, stubContainer, timed } from '../support/page-scope.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

const LIMIT_MS = 3_500;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
expectNothingUnhandled();

const go = () => register('/sw.js', {}, LIMIT_MS);
const listenersOf = (target: EventTarget) =>
  ['statechange', 'controllerchange'].flatMap((type) => getEventListeners(target, type)).length;

describe('no service workers', () => {
  test.each<{ name: string; navigator: object | undefined }>([
    { name: 'no navigator', navigator: undefined },
    { name: 'an insecure page', navigator: {} },
    {
      name: 'a frame without storage, where the very question throws',
      navigator: {
        get serviceWorker() {
          throw new DOMException('sandboxed', 'SecurityError');
        },
      },
    },
  ])('$name: unsupported, at once', async ({ navigator }) => {
    vi.stubGlobal('navigator', navigator);
    expect(await timed(go(), 0)).toEqual({ value: { state: 'unsupported' }, ms: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a page that has its worker', () => {
  test('is controlled, at once', async () => {
    const active = ours();
    const registration = registered({ active });
    const container = stubContainer(async () => registration, active);
    expect(await timed(go(), 0)).toEqual({ value: { state: 'controlled', registration }, ms: 0 });
    expect(container.register).toHaveBeenCalledWith('/sw.js', {});
    expect(vi.getTimerCount()).toBe(0);
  });

  test('with a newer one waiting: waiting', async () => {
    const active = ours();
    stubContainer(async () => registered({ active, waiting: createWorker('installed') }), active);
    expect((await timed(go(), 0)).value.state).toBe('waiting');
  });

  test('while a newer one installs: waiting, once it is installed', async () => {
    const active = ours();
    const installing = createWorker('installing');
    const registration = registered({ active, installing });
    const container = stubContainer(async () => registration, active);
    const work = go();
    await settle();
    Object.assign(registration, { installing: null, waiting: installing });
    installing.become('installed');
    expect((await timed(work, 0)).value.state).toBe('waiting');
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  test('while a newer one fails to install: controlled', async () => {
    const active = ours();
    const installing = createWorker('installing');
    const registration = registered({ active, installing });
    stubContainer(async () => registration, active);
    const work = go();
    await settle();
    registration.installing = null;
    installing.become('redundant');
    expect((await timed(work, 0)).value).toEqual({ state: 'controlled', registration });
  });
});

describe('a page that has none yet', () => {
  /** Its first worker is installed and activates. */
  const activating = async () => {
    const installing = createWorker('installing');
    const registration = registered({ installing });
    const container = stubContainer(async () => registration);
    const work = go();
    await settle();
    Object.assign(registration, { installing: null, waiting: installing });
    installing.become('installed');
    await settle();
    Object.assign(registration, { waiting: null, active: installing });
    installing.become('activating');
    await settle();
    return { installing, container, work };
  };

  test('is claimed by the first worker: controlled', async () => {
    const { installing, container, work } = await activating();
    installing.become('activated');
    container.claim(installing);
    expect((await timed(work, 0)).value.state).toBe('controlled');
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  test('is claimed a little later: controlled', async () => {
    const { installing, container, work } = await activating();
    installing.become('activated');
    await vi.advanceTimersByTimeAsync(400);
    container.claim(installing);
    expect((await timed(work, 0)).value.state).toBe('controlled');
  });

  test('is claimed at the end of a long activation: controlled', async () => {
    const { installing, container, work } = await activating();
    await vi.advanceTimersByTimeAsync(2_500);
    container.claim(installing);
    expect((await timed(work, 0)).value.state).toBe('controlled');
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  test('is not claimed: uncontrolled before its next load', async () => {
    const { installing, container, work } = await activating();
    installing.become('activated');
    const { value, ms } = await timed(work, 2_000);
    expect(value.state).toBe('uncontrolled-reload');
    expect(ms).toBeLessThanOrEqual(1_000);
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  test('after a hard reload is not claimed, and that is known soon', async () => {
    stubContainer(async () => registered({ active: ours() }));
    const { value, ms } = await timed(go(), 2_000);
    expect(value.state).toBe('uncontrolled-reload');
    expect(ms).toBeLessThanOrEqual(100);
  });

  test('and whose worker does not install: failed, and why', async () => {
    const installing = createWorker('installing');
    const registration = registered({ installing });
    const container = stubContainer(async () => registration);
    const work = go();
    await settle();
    registration.installing = null;
    installing.become('redundant');
    const { value } = await timed(work, 2_000);
    expect(value.state).toBe('failed');
    expect(value.error).toBeInstanceOf(Error);
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  test('and whose worker waits for other tabs: uncontrolled, in time', async () => {
    const installing = createWorker('installing');
    const registration = registered({ installing, active: ours() });
    const container = stubContainer(async () => registration);
    const work = go();
    await settle();
    Object.assign(registration, { installing: null, waiting: installing });
    installing.become('installed');
    const { value, ms } = await timed(work, LIMIT_MS);
    expect(value.state).toBe('uncontrolled-reload');
    expect(ms).toBeLessThanOrEqual(LIMIT_MS);
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });
});

describe('registration that fails', () => {
  test.each<{ name: string; register: () => unknown }>([
    { name: 'rejects', register: () => Promise.reject(new TypeError('404')) },
    {
      name: 'throws',
      register: () => {
        throw new TypeError('404');
      },
    },
  ])('$name: failed, with its error', async ({ register: fake }) => {
    stubContainer(fake);
    const { value, ms } = await timed(go(), 0);
    expect(value).toEqual({ state: 'failed', error: new TypeError('404') });
    expect([ms, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test('never settles: failed at the limit, with the time it had', async () => {
    let reject: (error: Error) => void = () => {};
    stubContainer(
      () =>
        new Promise((_, no) => {
          reject = no;
        }),
    );
    const { value, ms } = await timed(go(), 5_000);
    expect([value.state, ms]).toEqual(['failed', LIMIT_MS]);
    expect(String(value.error)).toContain('3500 ms');
    // Too late to be anybody's.
    reject(new Error('after all'));
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('installing never ends: whatever the state, it is told at the limit', async () => {
    const installing = createWorker('installing');
    const container = stubContainer(async () => registered({ installing }));
    const { value, ms } = await timed(go(), 5_000);
    expect([value.state, ms]).toEqual(['uncontrolled-reload', LIMIT_MS]);
    expect([listenersOf(installing), listenersOf(container), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });
});
