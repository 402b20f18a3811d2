import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ConnectOptions, connect, type Retries } from '../../src/page/connect.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { toMessage } from '../../src/protocol/messages.ts';
import type { LayerStatus } from '../../src/protocol/status.ts';
import { VERSION } from '../../src/protocol/version.ts';
import {
  createWorker,
  type FakeContainer,
  type FakeWorker,
  ours,
  registered,
  settle,
  stubContainer,
  timed,
} from '../support/page-scope.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

let warn: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
expectNothingUnhandled();

const STATUS: LayerStatus = {
  version: VERSION,
  storage: 'indexeddb',
  counters: { requests: 3, attempts: 4, retries: 0, hedges: 0, untold: 0, amplification: 1, recovered: 1, gaveUp: {} },
  origins: [],
};
const waiting: LayerEvent = {
  type: 'waiting',
  cause: 'offline',
  id: '1',
  at: 0,
  method: 'GET',
  url: 'https://app.test/',
  group: 'data',
  elapsedMs: 0,
};

/** Connects, and lets the moment pass in which a page adds its listeners. */
async function connected(
  limitMs: number,
  listen: (retries: Retries) => void = () => {},
  ...options: [ConnectOptions?]
) {
  const work = connect('/sw.js', ...options).then((retries) => {
    listen(retries);
    return retries;
  });
  const result = await timed(work, limitMs);
  await vi.advanceTimersByTimeAsync(1);
  return result;
}

/** A page that its worker controls. */
function controlled(worker = ours(VERSION, STATUS)) {
  const container = stubContainer(async () => registered({ active: worker }), worker);
  return { worker, container };
}

describe('connect', () => {
  test('to the worker of this page: controlled, with its version', async () => {
    const { worker, container } = controlled();
    const { value: retries, ms } = await connected(0, undefined, { scope: '/app/', type: 'module' });
    expect([retries.state, retries.workerVersion, retries.error, ms]).toEqual(['controlled', VERSION, undefined, 0]);
    expect(container.register).toHaveBeenCalledWith('/sw.js', { scope: '/app/', type: 'module' });
    expect(worker.heard).toEqual([toMessage({ kind: 'hello', version: VERSION })]);
    // Otherwise the events of the load would come only after it.
    expect(container.startMessages).toHaveBeenCalledTimes(1);
    expect([warn.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  });

  test('where there are no workers: unsupported, and everything can be called', async () => {
    vi.stubGlobal('navigator', {});
    const { value: retries, ms } = await connected(0);
    expect([retries.state, ms]).toEqual(['unsupported', 0]);
    expect(retries.on('recovered', () => {})).toBeTypeOf('function');
    expect(await retries.status()).toBeUndefined();
    expect(warn).not.toHaveBeenCalled();
  });

  test('where the question throws: unsupported', async () => {
    vi.stubGlobal('navigator', {
      get serviceWorker() {
        throw new DOMException('sandboxed', 'SecurityError');
      },
    });
    expect((await connected(0)).value.state).toBe('unsupported');
  });

  test('to a script that is not there: failed, why, and a warning', async () => {
    const error = new TypeError('404');
    stubContainer(() => Promise.reject(error));
    const { value: retries } = await connected(0);
    expect([retries.state, retries.error]).toEqual(['failed', error]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]).toContain(error);
    expect(await retries.status()).toBeUndefined();
  });

  test('to a script that is not there, while an older worker answers: that one goes on', async () => {
    const error = new TypeError('404');
    stubContainer(() => Promise.reject(error), ours(VERSION, STATUS));
    const { value: retries } = await connected(0);
    expect([retries.state, retries.error, retries.workerVersion]).toEqual(['controlled', error, VERSION]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(await retries.status()).toBeDefined();
  });

  test('to a worker that does not answer: its state all the same, a second later', async () => {
    controlled(createWorker('activated'));
    const { value: retries, ms } = await connected(5_000);
    expect([retries.state, ms]).toEqual(['controlled', 1_000]);
    expect(retries).not.toHaveProperty('workerVersion');
  });

  test('never takes 5 s, whatever hangs', async () => {
    stubContainer(() => new Promise(() => {}), createWorker('activated'));
    const { value: retries, ms } = await connected(10_000);
    expect(retries.state).toBe('failed');
    expect(ms).toBeLessThan(5_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('never takes 5 s, if installing and then the worker hangs', async () => {
    const active = createWorker('activated');
    stubContainer(async () => registered({ active, installing: createWorker('installing') }), active);
    const { value: retries, ms } = await connected(10_000);
    expect(retries.state).toBe('controlled');
    expect(ms).toBeLessThan(5_000);
  });

  test.each([
    ['0.1.5', 0],
    ['0.2.0', 0],
    ['0.9.0', 1],
    ['2.0.0', 1],
  ])('to a worker of version %s: %i warning(s)', async (version, warnings) => {
    controlled(ours(version));
    const { value: retries } = await connected(0);
    expect(retries.workerVersion).toBe(version);
    expect(warn).toHaveBeenCalledTimes(warnings);
    for (const told of warnings > 0 ? [version, VERSION, 'npx steadfetch init'] : []) {
      expect(String(warn.mock.calls[0]?.[0])).toContain(told);
    }
  });

  test('to somebody else’s worker', async () => {
    controlled(createWorker('activated', () => ({ type: 'pong' })));
    const { value: retries } = await connected(0);
    expect(retries).not.toHaveProperty('workerVersion');
    expect(warn).not.toHaveBeenCalled();
  });

  test('before the page is controlled: says hello to the worker that will', async () => {
    const active = ours();
    stubContainer(async () => registered({ active }));
    const { value: retries } = await connected(1_000);
    expect([retries.state, retries.workerVersion]).toEqual(['uncontrolled-reload', VERSION]);
  });

  test('to a worker that claims the page meanwhile: controlled', async () => {
    const active = ours();
    const container = stubContainer(async () => registered({ active }));
    const answer = active.postMessage;
    active.postMessage = (...said) => {
      if (container.controller === null) container.claim(active);
      answer.apply(active, said);
    };
    const { value: retries } = await connected(1_000);
    expect([retries.state, retries.workerVersion]).toEqual(['controlled', VERSION]);
  });

  test('while a newer worker takes the page over: known to that one, whoever answers first', async () => {
    const fetched = vi.fn(async (_url: string) => new Response());
    vi.stubGlobal('fetch', fetched);
    vi.stubGlobal('location', { href: 'https://app.test/' });
    const [old, newer] = [ours(), ours()];
    const registration = registered({ active: old });
    const container = stubContainer(async () => registration);
    const answer = old.postMessage;
    old.postMessage = (...said) => {
      registration.active = newer;
      container.claim(newer);
      // After the newer one's.
      void settle().then(() => answer.apply(old, said));
    };
    const { value: retries } = await connected(1_000);
    expect(retries.state).toBe('controlled');
    expect(newer.heard).toEqual([toMessage({ kind: 'hello', version: VERSION })]);
    await retries.fetch('https://app.test/a', { retry: { attempts: 1 } });
    expect(String(fetched.mock.calls[0]?.[0])).toMatch(/#~sf=/);
  });

  test('to a worker that is taken out meanwhile: failed, and why', async () => {
    const active = ours();
    const registration = registered({ active });
    stubContainer(async () => registration);
    const answer = active.postMessage;
    active.postMessage = (...said) => {
      registration.active = null;
      answer.apply(active, said);
    };
    const { value: retries } = await connected(1_000);
    expect(retries.state).toBe('failed');
    expect(retries.error).toBeInstanceOf(Error);
  });
});

describe('events', () => {
  test('are heard from the moment connect is called, and end when they are ended', async () => {
    const { container } = controlled();
    const { value: retries } = await connected(0);
    const heard = vi.fn();
    const end = retries.on('waiting', heard);
    container.say(toMessage({ kind: 'event', seq: '1', event: waiting }));
    container.say(toMessage({ kind: 'event', seq: '1', event: waiting }));
    expect(heard.mock.calls).toEqual([[waiting]]);
    end();
    container.say(toMessage({ kind: 'event', seq: '2', event: waiting }));
    expect(heard).toHaveBeenCalledTimes(1);
  });

  describe('of the page’s own load are heard by who listens as soon as connect is there', () => {
    const own = toMessage({ kind: 'event', seq: '1', event: waiting });
    /** As the worker does it: the welcome, and behind it what was kept. */
    const welcoming = (worker: FakeWorker, container: FakeContainer) => {
      worker.postMessage = (_message, ports) => {
        ports?.[0]?.postMessage(
          toMessage({ kind: 'welcome', version: VERSION, nonce: 'nonce', fragments: true, waiting: 0 }),
        );
        void settle().then(() => container.say(own));
      };
    };
    const listening = async (during: (container: FakeContainer) => void) => {
      const { container, worker } = controlled();
      welcoming(worker, container);
      const heard = vi.fn();
      const work = connected(0, (retries) => retries.on('waiting', heard));
      during(container);
      await work;
      await settle();
      await settle();
      return heard;
    };

    test('if the page was not there yet when they happened', async () => {
      expect(await listening(() => {})).toHaveBeenCalledTimes(1);
    });

    test('if they came once already, while connect was under way', async () => {
      expect(await listening((container) => container.say(own))).toHaveBeenCalledTimes(1);
    });
  });

  test('a new worker is said hello to as well', async () => {
    const { container } = controlled();
    await connected(0);
    const next = ours();
    container.claim(next);
    await settle();
    expect(next.heard).toEqual([toMessage({ kind: 'hello', version: VERSION })]);
  });
});

describe('status', () => {
  test('is what the worker says', async () => {
    controlled();
    const { value: retries } = await connected(0);
    expect((await timed(retries.status(), 0)).value).toEqual(STATUS);
  });

  test('is of the worker that controls the page now', async () => {
    const { container } = controlled();
    const { value: retries } = await connected(0);
    container.claim(ours('0.2.0', { ...STATUS, version: '0.2.0' }));
    await settle();
    expect((await timed(retries.status(), 0)).value?.version).toBe('0.2.0');
  });

  test('is nothing after two seconds without an answer', async () => {
    controlled(ours(VERSION));
    const { value: retries } = await connected(0);
    expect(await timed(retries.status(), 5_000)).toEqual({ value: undefined, ms: 2_000 });
  });

  test('is nothing if the worker takes no messages any more', async () => {
    const { worker } = controlled();
    const { value: retries } = await connected(0);
    worker.postMessage = () => {
      throw new DOMException('redundant', 'InvalidStateError');
    };
    expect(await timed(retries.status(), 0)).toEqual({ value: undefined, ms: 0 });
  });
});

describe('what a page can do about all requests', () => {
  const obeying = () =>
    createWorker('activated', ({ kind }) =>
      toMessage(
        kind === 'hello'
          ? { kind: 'welcome', version: VERSION, nonce: 'n', fragments: true, waiting: 0 }
          : { kind: 'done' },
      ),
    );
  const said = (worker: { heard: unknown[] }) =>
    worker.heard.slice(1).map((message) => (message as { kind: string }).kind);

  test('is told to the worker, and whether it was done', async () => {
    const { worker } = controlled(obeying());
    const { value: retries } = await connected(0);
    for (const work of [
      retries.pause,
      retries.resume,
      () => retries.reset('https://a.test'),
      () => retries.retryNow(),
    ]) {
      expect((await timed(work(), 0)).value).toBe(true);
    }
    expect(said(worker)).toEqual(['pause', 'resume', 'reset', 'retry-now']);
  });

  test('is not done where nobody answers', async () => {
    controlled(createWorker('activated'));
    const { value: retries } = await connected(5_000);
    expect((await timed(retries.pause(), 3_000)).value).toBe(false);
  });

  test('retire gives the page its own fetch back', async () => {
    const own = globalThis.fetch;
    controlled(obeying());
    const { value: retries } = await connected(0, undefined, { patchFetch: true });
    expect(globalThis.fetch).toBe(retries.fetch);
    await timed(retries.retire(), 0);
    expect(globalThis.fetch).toBe(own);
  });

  test('a wait in the worker makes the heart beat, unless it is not to', async () => {
    for (const heartbeat of [true, false]) {
      const { worker, container } = controlled(obeying());
      await connected(0, undefined, { heartbeat });
      container.say(toMessage({ kind: 'event', seq: '1', event: waiting }));
      expect([heartbeat, said(worker)]).toEqual([heartbeat, heartbeat ? ['beat'] : []]);
    }
  });
});
