import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { createDeliveries } from '../../src/worker/deliveries.ts';
import { settle } from '../support/worker-scope.ts';

type Listener = (event: object) => void;

let listeners: Map<string, Listener>;
let register: ReturnType<typeof vi.fn<(tag: string) => Promise<void>>>;
let left: number;
let send: ReturnType<typeof vi.fn<Outbox['send']>>;
let isDue: () => boolean | Promise<boolean>;
let faults: unknown[];

beforeEach(() => {
  listeners = new Map();
  register = vi.fn(async () => {});
  left = 0;
  send = vi.fn(async () => left);
  isDue = () => true;
  faults = [];
});

function deliveries({ sync = { register } as object | undefined } = {}) {
  const scope = {
    registration: { ...(sync ? { sync } : {}) },
    addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
  } as unknown as ServiceWorkerGlobalScope;
  const outbox = { send: (hurry?: boolean) => send(hurry), isDue: () => isDue() } as Outbox;
  return createDeliveries(scope, outbox, (fault) => faults.push(fault));
}

/** What keeps the worker alive through an event. */
function dispatch(type: string, fields: object = {}): Promise<unknown>[] {
  const waits: Promise<unknown>[] = [];
  listeners.get(type)?.({ ...fields, waitUntil: (work: Promise<unknown>) => waits.push(work) });
  for (const wait of waits) wait.catch(() => {});
  return waits;
}
const sync = (fields: object = {}) => dispatch('sync', { tag: 'steadfetch-outbox', lastChance: false, ...fields });

describe('a sync', () => {
  test('workbox-353 that leaves nothing is over; whoever waits in the meantime has asked for the next', async () => {
    deliveries().listen();
    const [wait] = sync();
    await expect(wait).resolves.toBeUndefined();
    // It ends no waits: a request that was just kept has asked for it.
    expect(send.mock.calls).toEqual([[undefined]]);
    // Each that is kept asks for itself, and a tag is registered once, however often it is asked for.
    expect(register).not.toHaveBeenCalled();
  });

  test('B094 workbox-354 that leaves something fails, so that the browser tries again', async () => {
    deliveries().listen();
    left = 2;
    await expect(sync()[0]).rejects.toThrow('2 entries of the outbox are left');
    expect(register).not.toHaveBeenCalled();
  });

  test('B094 workbox-355 that is the last one asks for more, while it keeps the worker alive', async () => {
    let registered = (): void => {};
    register.mockImplementation(() => new Promise((resolve) => (registered = resolve)));
    deliveries().listen();
    left = 1;
    let over = false;
    const wait = sync({ lastChance: true })[0]?.then(() => {
      over = true;
    });
    await settle();
    expect([register.mock.calls, over]).toEqual([[['steadfetch-outbox']], false]);
    registered();
    await wait;
    expect(over).toBe(true);
  });

  test('B102 keeps the worker alive until all is sent', async () => {
    let sent = (count: number): void => void count;
    send.mockImplementation(() => new Promise((resolve) => (sent = resolve)));
    deliveries().listen();
    const waits = sync();
    let over = false;
    void waits[0]?.then(() => {
      over = true;
    });
    await settle();
    expect([waits.length, over]).toEqual([1, false]);
    sent(0);
    await settle();
    expect(over).toBe(true);
  });

  test('that fails is one that failed', async () => {
    send.mockRejectedValue(new Error('broken'));
    deliveries().listen();
    await expect(sync()[0]).rejects.toThrow('broken');
  });

  test('of somebody else is left alone', () => {
    deliveries().listen();
    expect([sync({ tag: 'theirs' }), send.mock.calls]).toEqual([[], []]);
  });
});

describe('B106 where no sync comes', () => {
  test('being refused one is no trouble', async () => {
    register.mockRejectedValue(new DOMException('denied', 'NotAllowedError'));
    await expect(deliveries().register()).resolves.toBeUndefined();
    expect(register).toHaveBeenCalledTimes(1);
  });

  test('nor is a browser that has none', async () => {
    await expect(deliveries({ sync: undefined }).register()).resolves.toBeUndefined();
  });

  test.each(['activate', 'message'])('workbox-358 %s sends what is due', async (type) => {
    deliveries({ sync: undefined }).listen();
    const waits = dispatch(type);
    await Promise.all(waits);
    expect([waits.length, send.mock.calls]).toEqual([1, [[false]]]);
  });
});

describe('any event', () => {
  const use = () => {
    const made = deliveries();
    made.listen();
    return dispatch('message');
  };

  test('costs nothing if nothing is due', () => {
    isDue = () => false;
    expect([use(), send.mock.calls]).toEqual([[], []]);
  });

  test.each([true, false])('keeps a worker that has just started alive until it has looked: %s', async (due) => {
    isDue = async () => due;
    const waits = use();
    expect([waits.length, send.mock.calls.length]).toEqual([1, 0]);
    await Promise.all(waits);
    expect(send).toHaveBeenCalledTimes(due ? 1 : 0);
  });

  test.each([() => true, async () => true])('reports what fails, and fails not itself', async (due) => {
    isDue = due;
    send.mockRejectedValue(new Error('broken'));
    await Promise.all(use());
    expect(faults).toMatchObject([{ message: 'broken' }]);
  });
});

describe('to send', () => {
  test('keeps the event alive, if there is one', async () => {
    const waits: Promise<unknown>[] = [];
    const made = deliveries();
    made.send({ waitUntil: (work: Promise<unknown>) => waits.push(work) } as unknown as ExtendableEvent, true);
    made.send();
    expect([waits.length, send.mock.calls]).toEqual([1, [[true], [false]]]);
    await expect(waits[0]).resolves.toBeUndefined();
  });

  test('reports what fails', async () => {
    send.mockRejectedValue(new Error('broken'));
    deliveries().send();
    await settle();
    expect(faults).toHaveLength(1);
  });
});
