import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import type { Call } from '../../src/engine/call.ts';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import {
  type CallOptions,
  createWorld,
  NAVIGATION,
  rejection,
  type World,
  type WorldOptions,
} from '../support/engine-world.ts';
import { createFaults, Fault, type Injection, SITES } from '../support/faults.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';

import { expectNothingUnhandled } from '../support/unhandled.ts';

const URL = 'https://app.test/api/items/1';
const get = (): CallOptions => ({ request: new Request(URL) });
const put = (): CallOptions => ({ request: new Request(URL, { method: 'PUT', body: 'the body' }) });
const BIG = 'x'.repeat(100_000);

expectNothingUnhandled();

interface Scenario {
  readonly name: string;
  readonly world: WorldOptions;
  readonly call: () => CallOptions;
}

const fast = { backoff: constant(500), throttledBackoff: constant(500) };
const offlineFor3s = (): WorldOptions => {
  let asked = 0;
  return { script: ['reset', 200], isOnline: () => ++asked > 6 };
};
const scripts: [string, Answer[]][] = [
  ['200', [200]],
  ['503, 200', [503, 200]],
  ['reset, 200', ['reset', 200]],
  ['503 for ever', [503]],
  ['reset for ever', ['reset']],
  ['a large 503, 200', [{ status: 503, body: BIG }, 200]],
  ['a large 503 for ever', [{ status: 503, body: BIG }]],
  ['503, reset for ever', [503, 'reset']],
];
const scenarios: Scenario[] = [
  ...scripts.flatMap(([name, script]): Scenario[] => [
    { name: `GET: ${name}`, world: { script }, call: get },
    { name: `PUT: ${name}`, world: { script }, call: put },
  ]),
  { name: 'GET: an empty budget', world: { script: [503], budget: { capacity: 1 } }, call: get },
  { name: 'GET: offline', world: offlineFor3s(), call: get },
  { name: 'PUT: offline', world: offlineFor3s(), call: put },
  {
    name: 'GET: the second overtakes',
    world: { script: [{ status: 200, afterMs: 40_000 }, 200], policy: fast },
    call: get,
  },
  {
    name: 'GET: the first wins after all',
    world: {
      script: [
        { status: 200, afterMs: 12_000 },
        { status: 200, afterMs: 40_000 },
      ],
      policy: fast,
    },
    call: get,
  },
  {
    name: 'GET: the overtaken one fails while the next waits',
    world: { script: [{ status: 503, afterMs: 10_200 }, 'reset', 200], policy: fast },
    call: get,
  },
  {
    name: 'a navigation with preload',
    world: { script: [200] },
    call: () => ({ ...get(), facts: NAVIGATION, first: Promise.resolve(new Response('preloaded', { status: 503 })) }),
  },
  {
    name: 'a navigation whose preload is none',
    world: { script: [503, 200] },
    call: () => ({ ...get(), facts: NAVIGATION, first: Promise.resolve(undefined) }),
  },
];

/** Serves once, with or without a fault; `warm`: what is stored is known already. */
async function attempt({ world: options, call: callOptions }: Scenario, warm: boolean, injection?: Injection) {
  const faults = createFaults(injection);
  const script = options.isOnline ? offlineFor3s() : options;
  const world = createWorld({ ...options, ...script, prepare: faults.response });
  if (warm) await world.book.loading();
  const reported: unknown[] = [];
  const given = callOptions();
  const call = faults.call(world.call(given));
  const work = serve(call, faults.engine(world.engine), (fault) => reported.push(fault));
  const result = await world.time.until(work).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );
  await world.time.settle();
  return { world, result, reported, counts: faults.counts, given };
}

/** What is wrong with how it ended; nothing, if the network has had the last word. */
async function wrongWith(
  { world, result, reported, given }: Awaited<ReturnType<typeof attempt>>,
  { world: { script } }: Scenario,
  injection: Injection,
) {
  const wrong: string[] = [];
  const most = world.call(given).policy.attempts;
  const sent = world.network.sent.length + (given.first ? 1 : 0);
  if (sent > most && !(await given.first?.then((first) => first === undefined))) wrong.push(`sent ${sent} times`);
  if (sent === 0) wrong.push('never sent');
  if (!given.first && Array.isArray(script) && script[0] === 200 && sent > 1)
    wrong.push('sent again after a good answer');
  if ('response' in result) {
    const { status } = result.response;
    const text = await result.response.text().catch((error: Error) => error.message);
    const broken = status === 503 && text === 'the rest of this answer was not waited for';
    if (!broken && !/^(answer \d|preloaded|x{100000})$/.test(text)) wrong.push(`answered '${text.slice(0, 80)}'`);
    if (status !== 200 && status !== 503) wrong.push(`status ${status}`);
  } else {
    const theirs = world.network.given().includes(result.error);
    if (!theirs && !(injection.site === 'fetch' && result.error instanceof Fault)) wrong.push(`threw ${result.error}`);
    const answered = world.network.sent.some(({ response }) => response !== undefined && response.status < 500);
    if (answered) wrong.push('threw, although there was a good answer');
  }
  for (const { body, request } of world.network.sent) {
    if (request.method === 'PUT' && new TextDecoder().decode(body) !== 'the body')
      wrong.push('sent a part of the body');
  }
  for (const fault of reported) if (!(fault instanceof Fault)) wrong.push(`a fault of its own: ${fault}`);
  if (reported.length > 1) wrong.push(`${reported.length} faults told`);
  if (world.engine.ledger.keptBytes !== 0) wrong.push(`${world.engine.ledger.keptBytes} bytes kept`);
  if (world.sleeper.pending() !== 0) wrong.push(`${world.sleeper.pending()} timers left`);
  return wrong;
}

describe('whatever of ours fails, the page gets what the network gave', () => {
  const starts = [{ warm: false }, { warm: true }];
  const cases = scenarios.flatMap((scenario) => starts.map((start) => ({ ...scenario, ...start })));
  test.each(cases)('$name, warm: $warm', { timeout: 30_000 }, async ({ warm, ...scenario }) => {
    const { counts, reported } = await attempt(scenario, warm);
    expect(reported).toEqual([]);
    const problems: string[] = [];
    let injected = 0;
    for (const site of SITES) {
      for (let call = 1; call <= counts[site]; call += 1) {
        // The network is no part of ours: that it fails for ever is another scenario.
        for (const again of site === 'fetch' ? [false] : [false, true]) {
          injected += 1;
          const injection = { site, call, again };
          const where = `${site}, call ${call}${again ? ' and all after it' : ''}`;
          try {
            const wrong = await wrongWith(await attempt(scenario, warm, injection), scenario, injection);
            problems.push(...wrong.map((what) => `${where}: ${what}`));
          } catch (error) {
            problems.push(`${where}: ${error}`);
          }
        }
      }
    }
    expect(problems).toEqual([]);
    expect(injected).toBeGreaterThan(2);
  });
});

describe('after a fault', () => {
  const broken = (world: World, call: CallOptions, when: (type: string, count: number) => boolean) => {
    const counts = new Map<string, number>();
    const tell = ({ type }: { type: string }) => {
      counts.set(type, (counts.get(type) ?? 0) + 1);
      if (when(type, counts.get(type) ?? 0)) throw new Fault('tell');
    };
    const reported: unknown[] = [];
    const work = serve({ ...world.call(call), tell }, world.engine, (fault) => reported.push(fault));
    return { work: world.time.until(work), reported };
  };

  test('if nothing was sent, the request itself is, once and without init', async () => {
    const { request = new Request(URL) } = get();
    const world = createWorld({ script: [503, 200] });
    const engine = {
      ...world.engine,
      ports: {
        ...world.ports,
        now: () => {
          throw new Fault('now');
        },
      },
    };
    const faults: unknown[] = [];
    const response = await world.time.until(serve(world.call({ request }), engine, (fault) => faults.push(fault)));
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.network.sent).toMatchObject([{ request, init: undefined }]);
    expect(faults).toHaveLength(1);
  });

  test('if nothing was sent, a preloaded answer is the answer', async () => {
    const world = createWorld();
    const first = new Response('preloaded');
    const engine = {
      ...world.engine,
      ports: {
        ...world.ports,
        now: () => {
          throw new Fault('now');
        },
      },
    };
    const call = world.call({ ...get(), facts: NAVIGATION, first: Promise.resolve(first) });
    expect(await world.time.until(serve(call, engine, () => {}))).toBe(first);
    expect(world.network.sent).toHaveLength(0);
  });

  test('what is in flight is waited for', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 3_000 }] });
    const { work, reported } = broken(world, get(), (type) => type === 'attempt');
    expect((await work).status).toBe(200);
    expect(world.time.elapsed()).toBe(3_000);
    expect(world.network.sent).toHaveLength(1);
    expect(reported).toHaveLength(1);
  });

  test('a good answer in hand is not kept waiting for an attempt that hangs', async () => {
    const world = createWorld({ script: ['hang', 200], policy: fast });
    const { work } = broken(world, get(), (type) => type === 'recovered');
    expect((await work).status).toBe(200);
    expect(world.time.elapsed()).toBe(10_500);
  });

  test('an answer that was discarded in favour of an attempt that is lost is the answer', async () => {
    const world = createWorld({ script: [503, { reset: true, afterMs: 100 }] });
    const { work } = broken(world, get(), (type, count) => type === 'attempt' && count === 2);
    const response = await work;
    expect([response.status, await response.text()]).toEqual([503, 'answer 1']);
  });

  test('a late answer to an attempt that is not needed any more is cancelled', async () => {
    const late = watchedBody(['late']);
    const world = createWorld({
      script: [
        { status: 200, afterMs: 12_000, body: late.open },
        { status: 200, afterMs: 1_000 },
      ],
      policy: fast,
    });
    const { work } = broken(world, get(), (type, count) => type === 'attempt' && count === 2);
    expect(await (await work).text()).toBe('answer 2');
    await world.time.advance(5_000);
    expect([late.opened(), late.cancelled()]).toEqual([1, 1]);
  });

  test('a write whose only answer was too large to keep is sent once more, whole', async () => {
    const world = createWorld({ script: [{ status: 503, body: BIG }, 200] });
    const { work } = broken(world, put(), (type) => type === 'retry-scheduled');
    expect((await work).status).toBe(200);
    expect(world.network.sent.map(({ body }) => new TextDecoder().decode(body))).toEqual(['the body', 'the body']);
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('a body that cannot be sent again is not sent in part: the answer is', async () => {
    const request = new Request(URL, { method: 'PUT', body: new Uint8Array(2_000_000) });
    const world = createWorld({ script: [503, 200] });
    const { work } = broken(world, { request }, (type) => type === 'gave-up');
    expect(await work).toBe(world.network.sent[0]?.response);
    expect(world.network.sent).toHaveLength(1);
  });

  test('a write keeps its answer where no timer can be ended', async () => {
    const world = createWorld({ script: [503, 200] });
    const sleep = (ms: number) => ({
      done: world.ports.sleep(ms).done,
      cancel: () => {
        throw new Fault('cancel');
      },
    });
    const engine = { ...world.engine, ports: { ...world.ports, sleep } };
    const response = await world.time.until(serve(world.call(put()), engine, () => {}));
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.engine.ledger.keptBytes).toBe(0);
  });

  test('an attempt that fails in the network is not sent again because nothing could be noted of it', async () => {
    const world = createWorld({ script: ['reset'] });
    await world.book.loading();
    const answer = world.start(get());
    const set = vi.spyOn(Map.prototype, 'set').mockImplementation(() => {
      throw new Fault('no Map');
    });
    const error = await rejection(answer);
    set.mockRestore();
    expect(world.network.given()).toContain(error);
    expect(world.network.sent).toHaveLength(1);
    expect(world.faults).toHaveLength(1);
  });

  test('the fault of a reporter is no fault of the request', async () => {
    const world = createWorld();
    const call = {
      ...world.call(get()),
      tell: () => {
        throw new Fault('tell');
      },
    };
    const onFault = () => {
      throw new Fault('onFault');
    };
    expect((await world.time.until(serve(call, world.engine, onFault))).status).toBe(200);
  });
});

describe('abort', () => {
  const KEY = { origin: 'https://app.test', group: 'data' };
  /** A call that its maker may abort, and its answer. */
  const abortable = (world: World, controller = new AbortController()) => {
    const call: Call = { ...world.call(), signal: controller.signal };
    const answer = serve(call, world.engine, (fault) => world.faults.push(fault));
    answer.catch(() => {});
    return { controller, answer };
  };

  test('B039, row 11 and row 19: ends a wait at once, with the reason that was given', async () => {
    const world = createWorld({ script: [{ status: 503, headers: { 'Retry-After': '5' } }, 200] });
    const { controller, answer } = abortable(world);
    await world.time.advance(200);
    const reason = new Error('the user left');
    controller.abort(reason);
    expect(await rejection(world.time.until(answer))).toBe(reason);
    expect(world.time.elapsed()).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.sleeper.pending()).toBe(0);
    expect(world.book.affords(KEY, 20)).toBe(true);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'aborted', attempts: 1 });
  });

  test('B042 in flight is not retried, and rejects with the same reason', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 60_000 }] });
    const { controller, answer } = abortable(world);
    await world.time.advance(200);
    const reason = new Error('the user left');
    controller.abort(reason);
    expect(await rejection(world.time.until(answer))).toBe(reason);
    expect(world.time.elapsed()).toBe(200);
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.map(({ type }) => type)).toEqual(['attempt']);
  });

  test.each<{ name: string; script: Answer[]; abortAtMs: number; endsAtMs: number }>([
    { name: 'an answer', script: [503, 200], abortAtMs: 100, endsAtMs: 100 },
    { name: 'a network error', script: ['reset', 200], abortAtMs: 100, endsAtMs: 100 },
    { name: 'an attempt that is overdue', script: ['hang', 200], abortAtMs: 1_100, endsAtMs: 1_300 },
  ])(
    'B045 while the user’s own function still judges $name: whatever it says then, nothing more is sent',
    async ({ script, abortAtMs, endsAtMs }) => {
      let said = 0;
      const world = createWorld({
        script,
        policy: { attemptTimeoutMs: 1_000, backoff: constant(0), throttledBackoff: constant(0) },
        classify: async () => {
          await world.time.after(300);
          said += 1;
          return 'retry';
        },
      });
      const { controller, answer } = abortable(world);
      await world.time.advance(abortAtMs);
      expect([said, world.network.sent.length]).toEqual([0, 1]);
      controller.abort('off');
      expect(await rejection(world.time.until(answer))).toBe('off');
      expect(world.time.elapsed()).toBe(endsAtMs);
      await world.time.advance(60_000);
      expect([said, world.network.sent.length, world.sleeper.pending()]).toEqual([1, 1, 0]);
      expect([world.book.affords(KEY, 20), world.faults]).toEqual([true, []]);
    },
  );

  test('B045 while it is being decided sends nothing more, and its price comes back', async () => {
    const world = createWorld({ script: [503, 200] });
    const book = { ...world.book, loading: (ms?: number) => (ms === undefined ? world.time.after(300) : undefined) };
    const controller = new AbortController();
    const work = serve({ ...world.call(), signal: controller.signal }, { ...world.engine, book }, () => {});
    work.catch(() => {});
    await world.time.advance(100);
    controller.abort();
    expect(await rejection(world.time.until(work))).toBe(controller.signal.reason);
    expect(world.network.sent).toHaveLength(1);
    expect(world.book.affords(KEY, 20)).toBe(true);
  });

  test('row 11: of a request that is aborted already sends nothing', async () => {
    const world = createWorld();
    const signal = AbortSignal.abort('gone');
    expect(await rejection(serve({ ...world.call(), signal }, world.engine, () => {}))).toBe('gone');
    expect(world.network.sent).toHaveLength(0);
  });

  test('in a hold gives back what its retry had cost', async () => {
    const world = createWorld({
      script: [502, 200],
      policy: { backoff: constant(1_000) },
      budget: { refillPerSecond: 0 },
    });
    const { controller, answer } = abortable(world);
    await world.time.advance(100);
    const at = world.time.now();
    const held = { kind: 'hold-asked', at, status: 503, path: '/', until: at + 9_000, scope: 'group' } as const;
    world.book.record(KEY, held);
    await world.time.advance(2_000);
    expect([world.book.affords(KEY, 20), world.steps.at(-1)]).toEqual([
      false,
      expect.objectContaining({ cause: 'hold' }),
    ]);
    controller.abort();
    await rejection(world.time.until(answer));
    expect(world.book.affords(KEY, 20)).toBe(true);
  });

  test('after the last attempt, while it is being decided, is the answer all the same', async () => {
    const world = createWorld({ script: [503], policy: { attempts: 1 } });
    const book = { ...world.book, loading: (ms?: number) => (ms === undefined ? world.time.after(300) : undefined) };
    const controller = new AbortController();
    const work = serve({ ...world.call(), signal: controller.signal }, { ...world.engine, book }, () => {});
    work.catch(() => {});
    await world.time.advance(100);
    controller.abort('too late');
    expect(await rejection(world.time.until(work))).toBe('too late');
    expect(world.book.look(KEY).circuit.failures).toBe(0);
  });

  test('of one that was called from its parking place calls the next', async () => {
    const world = createWorld({
      script: ['reset', 'reset', 'reset', 'reset', 200],
      circuit: { failures: 1, openMs: 9_000 },
      policy: { attempts: 2 },
    });
    await world.serve().catch(() => {});
    const { controller, answer } = abortable(world);
    await world.time.advance(100);
    const next = world.start();
    await world.time.advance(100);
    world.engine.parking.release(KEY);
    controller.abort();
    await rejection(world.time.until(answer));
    expect((await world.time.until(next)).status).toBe(200);
    expect(world.time.elapsed()).toBeLessThan(1_500);
  });

  const busy = Array<Answer>(5).fill(503);
  test.each<{ name: string; script: Answer[]; abortAtMs?: number; options?: WorldOptions; ends: unknown }>([
    { name: 'success', script: [...busy, 200], ends: 200 },
    { name: 'failure', script: [503], ends: 503 },
    { name: 'lost connections', script: ['reset'], ends: expect.any(TypeError) },
    { name: 'an overdue attempt that wins', script: [{ afterMs: 1_700 }, 503, 'hang'], ends: 200 },
    {
      name: 'the deadline',
      script: ['hang'],
      options: { policy: { hardTotal: true, totalMs: 2_500 } },
      ends: expect.any(DOMException),
    },
    { name: 'an abort in a wait', script: busy, abortAtMs: 1_600, ends: 'off' },
    { name: 'an abort of an attempt', script: [503, { afterMs: 900 }], abortAtMs: 600, ends: 'off' },
    { name: 'an abort beside what is overdue', script: ['hang'], abortAtMs: 4_200, ends: 'off' },
    {
      name: 'an abort where it is parked',
      script: ['reset'],
      abortAtMs: 600,
      options: { circuit: { failures: 1, openMs: 5_000 } },
      ends: 'off',
    },
  ])(
    'B061 leaves no timer, and nothing on a signal that outlives the request: $name',
    async ({ script, abortAtMs, options, ends }) => {
      const own = { attempts: 6, attemptTimeoutMs: 1_000, backoff: constant(500), throttledBackoff: constant(500) };
      const world = createWorld({ script, ...options, policy: { ...own, ...options?.policy } });
      if (options?.circuit) await world.serve({ policy: { attempts: 1 } }).catch(() => {});
      const controller = new AbortController();
      const { answer } = abortable(world, controller);
      await world.time.settle();
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
      if (abortAtMs !== undefined) {
        await world.time.advance(abortAtMs);
        controller.abort('off');
      }
      const end = await world.time.until(answer).then(
        ({ status }) => status,
        (error: unknown) => error,
      );
      expect(end).toEqual(ends);
      expect(world.sleeper.pending()).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    },
  );

  test('while parked leaves its place, and counts for nothing', async () => {
    const world = createWorld({ script: ['reset'], circuit: { failures: 1, openMs: 5_000 }, policy: { attempts: 2 } });
    await world.serve().catch(() => {});
    const { controller, answer } = abortable(world);
    await world.time.advance(100);
    expect(world.steps.at(-1)).toMatchObject({ type: 'waiting', cause: 'circuit' });
    const before = world.book.look(KEY).circuit;
    controller.abort();
    await rejection(world.time.until(answer));
    expect(world.engine.parking.isEmpty(KEY)).toBe(true);
    expect(world.book.look(KEY).circuit).toEqual(before);
  });

  test('a body that came too late to be wanted is cancelled', async () => {
    const late = watchedBody(['late']);
    const world = createWorld({ script: [{ status: 503, afterMs: 300, body: late.open }] });
    const { controller, answer } = abortable(world);
    await world.time.advance(300 - 1);
    controller.abort();
    await rejection(world.time.until(answer));
    await world.time.advance(1_000);
    expect(late.cancelled()).toBe(1);
  });
});

describe('a client that has gone', () => {
  const KEY = { origin: 'https://app.test', group: 'data' };
  const ask = (world: World, isGone: () => Promise<boolean>, options: CallOptions = {}) => {
    const work = serve({ ...world.call(options), isGone }, world.engine, (fault) => world.faults.push(fault));
    work.catch(() => {});
    return world.time.until(work);
  };

  test('ends it before the next attempt, at no cost, and says nothing of the server', async () => {
    const world = createWorld({ script: [503, 200], budget: { refillPerSecond: 0 } });
    await ask(world, async () => true).catch(() => {});
    expect(world.network.sent).toHaveLength(1);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'client-gone', attempts: 1 });
    expect([world.book.affords(KEY, 20), world.book.look(KEY).circuit.failures]).toEqual([true, 0]);
    expect([world.sleeper.pending(), world.faults]).toEqual([0, []]);
  });

  test('ends a wait within a second, whatever is waited for', async () => {
    const until = createWorld().time.now() + 9_000;
    for (const kind of ['backoff', 'hold', 'circuit', 'offline']) {
      let goneAt = Number.POSITIVE_INFINITY;
      const world: World = createWorld({
        script: ['reset', 200],
        policy: { backoff: constant(9_000) },
        circuit: kind === 'circuit' ? { failures: 1, openMs: 9_000 } : {},
        isOnline: () => kind !== 'offline',
      });
      const isGone = async () => world.time.elapsed() >= goneAt;
      const work = serve({ ...world.call(), isGone }, world.engine, () => {});
      work.catch(() => {});
      await world.time.advance(100);
      const at = world.time.now();
      if (kind === 'hold') {
        world.book.record(KEY, { kind: 'hold-asked', at, status: 503, path: '/', until, scope: 'group' });
      }
      if (kind === 'circuit') world.book.record(KEY, { kind: 'request-failed', at, launchedAt: at });
      goneAt = 3_500;
      await world.time.until(work.catch(() => {}));
      expect([kind, world.network.sent.length]).toEqual([kind, 1]);
      expect(world.time.elapsed()).toBeLessThanOrEqual(4_600);
      expect([world.sleeper.pending(), world.steps.at(-1)]).toMatchObject([
        0,
        { type: 'gave-up', reason: 'client-gone' },
      ]);
    }
  });

  test('one that is parked still goes as soon as it is called', async () => {
    const world = createWorld({ script: ['reset', 200, 200], circuit: { failures: 1, openMs: 9_000 } });
    const first = world.time.now();
    world.book.record(KEY, { kind: 'request-failed', at: first, launchedAt: first });
    await world.time.advance(1);
    const parked = serve({ ...world.call(), isGone: async () => false }, world.engine, () => {});
    await world.time.advance(2_500);
    await world.serve();
    expect((await world.time.until(parked)).status).toBe(200);
    expect(world.time.elapsed()).toBeLessThan(2_700);
  });

  test('is asked for before each further attempt and each second, and never before the first', async () => {
    const world = createWorld({ script: [502, 502, 200], policy: { backoff: constant(700) } });
    let asked = 0;
    const answer = await ask(world, async () => {
      asked += 1;
      return false;
    });
    expect([answer.status, asked]).toEqual([200, 2]);
  });

  test.each([
    { name: 'does not answer', isGone: () => new Promise<never>(() => {}), lateMs: 100 },
    { name: 'fails', isGone: () => Promise.reject(new Error('no clients')), lateMs: 0 },
  ])('a browser that $name has not said so', async ({ isGone, lateMs }) => {
    const world = createWorld({ script: [502, 200] });
    expect((await ask(world, isGone)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 500 + lateMs]);
  });

  test('leaves a request with keepalive one more attempt, within 10 s', async () => {
    const soon = createWorld({ script: [502] });
    await ask(soon, async () => true, { facts: { keepalive: true } }).catch(() => {});
    expect(soon.network.sent).toHaveLength(2);
    const late = createWorld({ script: [502], policy: { backoff: constant(10_000) } });
    await ask(late, async () => true, { facts: { keepalive: true } }).catch(() => {});
    expect(late.network.sent).toHaveLength(1);
  });
});

describe('a book that breaks in the middle', () => {
  const breakAfter = (world: World, ms: number): void => {
    const { look } = world.book;
    world.book.look = (key) => {
      if (world.time.elapsed() > ms) throw new Error('broken');
      return look(key);
    };
  };

  test('of two attempts that are under way the first to answer is taken', async () => {
    const world = createWorld({ script: [{ status: 200, afterMs: 25_000 }, 'hang'] });
    breakAfter(world, 15_000);
    const response = await world.serve(get());
    expect([response.status, world.faults.length, world.network.sent.length]).toEqual([200, 1, 2]);
  });

  test('what is left of an answer is better than the error of asking once more', async () => {
    const world = createWorld({ script: [{ status: 503, body: BIG }, 'reset'] });
    breakAfter(world, 500);
    const response = await world.serve(get());
    expect([response.status, world.faults.length, world.network.sent.length]).toEqual([503, 1, 2]);
  });
});
