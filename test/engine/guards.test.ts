import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant } from '../../src/policy/backoff.ts';
import { CIRCUIT_DEFAULTS } from '../../src/policy/circuit.ts';
import { createWorld, NAVIGATION, rejection } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const KEY = { origin: 'https://app.test', group: 'data' };
const retryAfter = (seconds: number, status = 503): Answer => ({
  status,
  headers: { 'Retry-After': String(seconds) },
  body: 'busy',
});
const to = (path: string) => ({ request: new Request(`https://app.test${path}`) });
/** What each request was told to do, without the times. */
const types = (steps: readonly { type: string }[]) =>
  steps.map(({ type }) => type).filter((type) => type !== 'attempt');

describe('a hold', () => {
  test('a second request waits for the end of what the first was told, and one goes before the others', async () => {
    const world = createWorld({ script: [retryAfter(3), 200, 200, 200], random: () => 0.5 });
    const first = world.start(to('/a'));
    await world.time.advance(100);
    const others = [world.start(to('/b')), world.start(to('/c'))];
    for (const answer of [first, ...others]) expect((await world.time.until(answer)).status).toBe(200);
    // The first waits with jitter of an eighth; the others behind it: one at the end, one spread over 2 s.
    expect(world.network.times()).toEqual([0, 3_000, 3_375, 4_000]);
    expect(types(world.steps)).toContain('released');
  });

  test('a request whose own limit is shorter goes through once, without retries', async () => {
    const world = createWorld({ script: [retryAfter(3), 503, 200] });
    await world.serve({ ...to('/a'), policy: { retryAfter: { ...DEFAULT_RA, maxMs: 1_000 } } });
    const response = await world.serve({ ...to('/b'), policy: { retryAfter: { ...DEFAULT_RA, maxMs: 1_000 } } });
    expect(response.status).toBe(503);
    expect(world.network.sent).toHaveLength(2);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'attempts' });
  });

  test('one that goes through and is answered well ends it for those who ask after it', async () => {
    const world = createWorld({ script: [retryAfter(10), 200, 200] });
    await world.serve({ ...to('/a'), policy: { retryAfter: { ...DEFAULT_RA, maxMs: 1_000 } } });
    await world.serve({ ...to('/b'), policy: { retryAfter: { ...DEFAULT_RA, maxMs: 1_000 } } });
    await world.serve(to('/c'));
    expect(world.network.times()).toEqual([0, 0, 0]);
  });

  test('a navigation that the browser has not sent yet waits like any other', async () => {
    const world = createWorld({ script: [200] });
    const at = world.time.now();
    const held = { kind: 'hold-asked', at, status: 503, path: '/', until: at + 3_000, scope: 'group' } as const;
    world.book.record(KEY, held);
    await world.serve({ ...to('/b'), facts: NAVIGATION, first: Promise.resolve(undefined) });
    expect(world.network.times()).toEqual([3_000]);
  });

  test('what the browser has sent already is not held back', async () => {
    const world = createWorld({ script: [retryAfter(3)] });
    await world.serve({ ...to('/a'), policy: { retryAfter: { ...DEFAULT_RA, maxMs: 1_000 } } });
    const first = Promise.resolve(new Response('preloaded'));
    expect(await (await world.serve({ ...to('/b'), first })).text()).toBe('preloaded');
    expect(world.time.elapsed()).toBe(0);
  });

  test('a retry that another’s hold has overtaken waits for it, or gives up with its own answer', async () => {
    const long = createWorld({
      script: [502, retryAfter(14), 200],
      policy: { backoff: constant(1_000), totalMs: 10_000 },
    });
    const retried = long.start(to('/a'));
    await long.time.advance(500);
    await long.time.until(long.start({ ...to('/b'), policy: { totalMs: 500 } }));
    expect((await long.time.until(retried)).status).toBe(502);
    expect(long.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'hold' });
    const status = long.book.status().origins[0];
    // What was reserved for it came back.
    expect(status?.tokens).toBe(20);
  });

  test('two paths that are limited soon after each other hold the group', async () => {
    const world = createWorld({ script: [retryAfter(20, 429), 200, retryAfter(5, 429), 200] });
    await world.serve(to('/a'));
    await world.serve(to('/free'));
    await world.serve({ ...to('/b'), policy: { totalMs: 1_000 } });
    const held = world.start(to('/free'));
    await world.time.advance(4_000);
    expect(world.network.sent).toHaveLength(3);
    expect((await world.time.until(held)).status).toBe(200);
  });
});

describe('the circuit', () => {
  const circuit = CIRCUIT_DEFAULTS;
  const policy = { backoff: constant(100), throttledBackoff: constant(100) };

  test('opens after two failed requests; what fails then is parked and released by one success after the other', async () => {
    let up = false;
    const world = createWorld({ script: () => (up ? 200 : 503), policy, circuit });
    for (const path of ['/a', '/b']) {
      await world.serve(to(path));
      // Failures closer together than a quarter of a second are one.
      await world.time.advance(300);
    }
    const before = world.network.sent.length;
    expect(world.book.look(KEY).circuit.openUntil).toBeGreaterThan(0);
    const parked = ['/c', '/d', '/e'].map((path) => world.start(to(path)));
    await world.time.advance(1_000);
    // Each has had its first attempt, and nobody retries alone.
    expect(world.network.sent).toHaveLength(before + 3);
    expect(world.book.status(world.engine.parking.count).origins).toMatchObject([{ circuit: 'open', parked: 3 }]);
    up = true;
    expect((await world.serve(to('/f'))).status).toBe(200);
    for (const answer of parked) expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.sent).toHaveLength(before + 3 + 4);
    expect(world.book.look(KEY).circuit.openUntil).toBe(0);
    expect(world.engine.parking.count(KEY)).toBe(0);
    // A release costs no token.
    const spent = 20 - (world.book.status().origins[0]?.tokens ?? 20);
    expect(spent).toBeLessThanOrEqual(before - 2);
  });

  test('when its time is over one parked request tries, and only one', async () => {
    const world = createWorld({ script: [503, 503, 503, 503, 503, 503, 503, 503, 503, 503, 503], policy, circuit });
    for (const path of ['/a', '/b']) {
      await world.serve(to(path));
      // Failures closer together than a quarter of a second are one.
      await world.time.advance(300);
    }
    const parked = ['/c', '/d', '/e'].map((path) => world.start(to(path)));
    await world.time.advance(100);
    const before = world.network.sent.length;
    const { openUntil } = world.book.look(KEY).circuit;
    await world.time.advance(openUntil - world.time.now() + 50);
    expect(world.network.sent).toHaveLength(before + 1);
    expect(world.book.look(KEY).circuit.openMs).toBe(4_000);
    await Promise.all(parked.map((answer) => world.time.until(answer)));
    expect(world.sleeper.pending()).toBe(0);
  });

  test('nobody is parked past its deadline', async () => {
    const world = createWorld({ script: Array.from({ length: 60 }, (): Answer => 503), policy, circuit });
    for (const path of ['/a', '/b']) {
      await world.serve(to(path));
      // Failures closer together than a quarter of a second are one.
      await world.time.advance(300);
    }
    const startedAt = world.time.elapsed();
    const answers = Array.from({ length: 5 }, (_, index) => world.start(to(`/${index}`)));
    for (const answer of answers) expect((await world.time.until(answer)).status).toBe(503);
    expect(world.time.elapsed() - startedAt).toBeLessThanOrEqual(25_000);
    expect(world.engine.parking.isEmpty(KEY)).toBe(true);
  });

  test('a retry that was on its way when it opened is parked as well, and its price comes back', async () => {
    const world = createWorld({
      script: Array.from({ length: 60 }, (): Answer => 503),
      policy: { backoff: constant(5_000), throttledBackoff: constant(5_000) },
      circuit: { ...circuit, failures: 100 },
    });
    const answers = Array.from({ length: 12 }, (_, index) => world.start(to(`/${index}`)));
    await world.time.advance(6_000);
    // Ten failed attempts opened it; of those that waited only the probe goes.
    expect(world.network.sent.length).toBeLessThanOrEqual(14);
    expect(world.book.status().origins[0]?.tokens).toBeGreaterThanOrEqual(19);
    await Promise.all(answers.map((answer) => world.time.until(answer)));
  });

  test('the device’s own network is nobody’s fault', async () => {
    const world = createWorld({ script: Array.from({ length: 60 }, (): Answer => 'reset'), policy, circuit });
    const urls = Array.from({ length: 20 }, (_, index) => `https://${index % 2 === 0 ? 'app' : 'cdn'}.test/${index}`);
    await Promise.all(urls.map((url) => rejection(world.time.until(world.start({ request: new Request(url) })))));
    expect(world.book.look(KEY).circuit.openUntil).toBe(0);
  });
});

const DEFAULT_RA = { mode: 'extend', statuses: 'retried', maxMs: 15_000, overMax: 'give-up' } as const;

test('a released request that is held and aborted leaves its release to the next', async () => {
  const world = createWorld({
    script: (request) => (request.url.endsWith('/held') || request.url.endsWith('/next') ? 'reset' : 200),
    circuit: { ...CIRCUIT_DEFAULTS, failures: 1, openMs: 20_000 },
    policy: { attempts: 2, backoff: constant(0) },
  });
  const { time, book } = world;
  await world.serve({ ...to('/next'), policy: { attempts: 1 } }).catch(() => {});
  const controller = new AbortController();
  const held = serve(
    { ...world.call({ ...to('/held'), facts: { path: '/held' } }), signal: controller.signal },
    world.engine,
    () => {},
  );
  held.catch(() => {});
  await time.advance(10);
  const next = world.start({ ...to('/next'), facts: { path: '/next' } });
  next.catch(() => {});
  await time.advance(10);
  const until = time.now() + 3_000;
  book.record(KEY, { kind: 'hold-asked', at: time.now(), status: 429, path: '/held', until, scope: 'path' });
  world.engine.parking.release(KEY);
  await time.advance(10);
  const before = world.network.sent.length;
  controller.abort();
  await time.advance(10);
  expect(world.network.sent.length - before).toBe(1);
  expect(world.network.sent.at(-1)?.request.url).toBe('https://app.test/next');
});

test('whoever is too late to probe takes no place', async () => {
  const circuit = { ...CIRCUIT_DEFAULTS, failures: 1, openMs: 1_000 };
  const world = createWorld({ script: ['reset'], circuit, policy: { attempts: 2, totalMs: 2_000 } });
  await world.serve({ policy: { attempts: 1 } }).catch(() => {});
  const late = world.start();
  late.catch(() => {});
  await world.time.advance(500);
  // Asleep until after its deadline: it wakes in half-open, with no time left.
  world.time.suspend(5_000);
  await world.time.until(late).catch(() => {});
  expect(world.network.sent).toHaveLength(2);
  expect(world.book.look(KEY).circuit.probes).toEqual([]);
});
