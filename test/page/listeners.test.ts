import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createListeners } from '../../src/page/listeners.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { toMessage } from '../../src/protocol/messages.ts';

const recovered = (id: string): LayerEvent => ({
  type: 'recovered',
  id,
  at: 0,
  method: 'GET',
  url: 'https://app.test/',
  group: 'data',
  elapsedMs: 1,
  attempts: 2,
  status: 200,
});
const exhausted: LayerEvent = { type: 'budget-exhausted', at: 0, origin: 'https://app.test', group: 'data' };
const message = (seq: string, event: LayerEvent) => structuredClone(toMessage({ kind: 'event', seq, event }));

let reported: unknown[];
beforeEach(() => {
  reported = [];
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function early() {
  const warnings: string[] = [];
  return { warnings, listeners: createListeners((problem) => warnings.push(problem)) };
}

/** Listeners of a page that is connected. */
function open() {
  const { warnings, listeners } = early();
  listeners.open();
  return { warnings, listeners };
}

describe('a listener', () => {
  test('hears the events of its type, and no others', () => {
    const { listeners, warnings } = open();
    const heard: LayerEvent[] = [];
    listeners.on('recovered', (event) => heard.push(event));
    listeners.receive(message('1', recovered('a')));
    listeners.receive(message('2', exhausted));
    listeners.receive(message('3', recovered('b')));
    expect(heard).toEqual([recovered('a'), recovered('b')]);
    expect(warnings).toEqual([]);
  });

  test('hears every event once, however often it is sent', () => {
    const { listeners } = open();
    const heard: string[] = [];
    listeners.on('recovered', ({ id }) => heard.push(id));
    for (const seq of ['1', '1', '2', '1', '2']) listeners.receive(message(seq, recovered(seq)));
    expect(heard).toEqual(['1', '2']);
  });

  test('that has ended hears nothing any more; the others do', () => {
    const { listeners } = open();
    const [one, other] = [vi.fn(), vi.fn()];
    const end = listeners.on('recovered', one);
    listeners.on('recovered', other);
    end();
    end();
    listeners.receive(message('1', recovered('a')));
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([0, 1]);
  });

  test('may end itself while it is called', () => {
    const { listeners } = open();
    const other = vi.fn();
    const end = listeners.on('recovered', () => end());
    listeners.on('recovered', other);
    listeners.receive(message('1', recovered('a')));
    listeners.receive(message('2', recovered('b')));
    expect(other).toHaveBeenCalledTimes(2);
  });

  test('may add another while it is called, without end', () => {
    const { listeners } = open();
    let calls = 0;
    const add = () => {
      calls += 1;
      if (calls < 1_000) listeners.on('recovered', () => add());
    };
    listeners.on('recovered', add);
    listeners.receive(message('1', recovered('a')));
    expect(calls).toBe(1);
  });

  test('that throws is reported, and the next one is called', () => {
    const { listeners, warnings } = open();
    const fault = new Error('listener');
    const other = vi.fn();
    listeners.on('recovered', () => {
      throw fault;
    });
    listeners.on('recovered', other);
    listeners.receive(message('1', recovered('a')));
    expect(other).toHaveBeenCalledTimes(1);
    expect(reported).toEqual([fault]);
    expect(warnings).toEqual([]);
  });

  test('for a type that does not exist is told so', () => {
    const { listeners, warnings } = open();
    listeners.on('retry-planned' as never, () => {});
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("'retry-planned'");
    expect(warnings[0]).toContain('retry-scheduled');
  });

  test('hears nothing from before it listened', () => {
    const { listeners } = open();
    const late = vi.fn();
    listeners.receive(message('1', recovered('a')));
    listeners.on('recovered', late);
    expect(late).not.toHaveBeenCalled();
  });
});

describe('messages', () => {
  test('of others are left alone', () => {
    const { listeners, warnings } = open();
    for (const data of [undefined, null, 'x', 5, [], { type: 'CACHE_UPDATED' }]) listeners.receive(data);
    expect(warnings).toEqual([]);
  });

  test('that are answers are no events', () => {
    const { listeners, warnings } = open();
    listeners.receive(toMessage({ kind: 'welcome', version: '0.1.0', nonce: 'nonce', fragments: true, waiting: 0 }));
    expect(warnings).toEqual([]);
  });

  test('that are broken are warned of', () => {
    const { listeners, warnings } = open();
    listeners.receive({ steadfetch: 1, kind: 'event', seq: 1 });
    listeners.receive({ steadfetch: 2, kind: 'event' });
    expect(new Set(warnings).size).toBe(1);
  });
});

describe('before the page is connected', () => {
  test('events wait, and are heard in order by who listens by then', () => {
    const { listeners } = early();
    const heard: string[] = [];
    listeners.receive(message('1', recovered('a')));
    listeners.on('recovered', ({ id }) => heard.push(id));
    listeners.receive(message('2', recovered('b')));
    listeners.receive(message('1', recovered('a')));
    expect(heard).toEqual([]);
    listeners.open();
    expect(heard).toEqual(['a', 'b']);
    listeners.receive(message('3', recovered('c')));
    listeners.receive(message('2', recovered('b')));
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  test('they wait once', () => {
    const { listeners } = early();
    const heard = vi.fn();
    listeners.on('recovered', heard);
    listeners.receive(message('1', recovered('a')));
    listeners.open();
    listeners.open();
    expect(heard).toHaveBeenCalledTimes(1);
  });
});

describe('what came while the page was loading comes again at its hello', () => {
  const own = Array.from({ length: 50 }, (_, index) => message(`r-${index}`, recovered(`${index}`)));
  const hear = (deliveries: readonly object[]) => {
    const { listeners } = open();
    const heard: string[] = [];
    listeners.on('recovered', ({ id }) => heard.push(id));
    for (const delivery of deliveries) listeners.receive(delivery);
    return heard;
  };

  test('and is heard once', () => {
    expect(hear([...own, ...own])).toEqual(own.map((_, index) => `${index}`));
  });

  test('also if events for all pages came among it', () => {
    // The worker keeps fifty for this page; these are not among them.
    const forAll = Array.from({ length: 5 }, (_, index) => message(`all-${index}`, exhausted));
    expect(hear([...own, ...forAll, ...own])).toEqual(own.map((_, index) => `${index}`));
  });
});
