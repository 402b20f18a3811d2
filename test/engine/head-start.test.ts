import { expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { createWorld, EXACT, rejection, type WorldOptions } from '../support/engine-world.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const KEY = { origin: 'https://app.test', group: 'data' };

test('a good answer of a server of which nothing is known leaves nothing behind', async () => {
  const world = createWorld();
  expect((await world.serve()).status).toBe(200);
  expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  expect(world.book.status().origins).toEqual([]);
  expect(world.sleeper.pending()).toBe(0);
  expect(world.kept).toEqual([]);
});

test('a good answer of such a server makes nothing that only trouble needs', async () => {
  const world = createWorld();
  world.book.look = () => {
    throw new Error('a run has been made');
  };
  expect((await world.serve()).status).toBe(200);
  expect(world.faults).toEqual([]);
});

test('the first attempt is sent before anything else is waited for', async () => {
  const world = createWorld();
  await world.book.loading();
  world.start();
  expect(world.network.sent).toHaveLength(1);
});

test.each([
  { first: 503, waits: 1_000 },
  { first: 'reset', waits: 500 },
] as const)('what fails first ($first) is retried as if a run had sent it', async ({ first, waits }) => {
  const world = createWorld({ script: [first, 200] });
  expect((await world.serve()).status).toBe(200);
  expect(world.network.times()).toEqual([0, waits]);
  expect(world.steps.map(({ type }) => type)).toEqual(['attempt', 'retry-scheduled', 'attempt', 'recovered']);
});

test('a fetch that throws is a lost connection', async () => {
  const world = createWorld();
  const { fetch } = world.ports;
  let throws = true;
  world.ports.fetch = (request, init) => {
    if (!throws) return fetch(request, init);
    throws = false;
    throw new TypeError('not now');
  };
  expect((await world.serve()).status).toBe(200);
  expect(world.network.times()).toEqual([500]);
  expect(world.steps.map(({ type }) => type)).toEqual(['attempt', 'retry-scheduled', 'attempt', 'recovered']);
  expect(world.faults).toEqual([]);
});

test('the time of a request begins with it, and not with its trouble', async () => {
  const script: WorldOptions['script'] = [{ status: 503, afterMs: 4_000 }];
  const world = createWorld({ script, policy: { totalMs: 6_000, hardTotal: true } });
  expect((await world.serve()).status).toBe(503);
  expect(world.time.elapsed()).toBe(6_000);
});

test('a time that gets shorter is the one that counts', async () => {
  const world = createWorld({ script: ['hang'], policy: { hardTotal: true } });
  await world.book.loading();
  const answer = serve({ ...world.call(), ceilingMs: () => 2_000 }, world.engine, () => {});
  await rejection(world.time.until(answer));
  expect(world.time.elapsed()).toBe(2_000);
});

test('a clock that is set back before the trouble makes nothing longer', async () => {
  const world = createWorld({
    script: [{ status: 503, afterMs: 4_000 }, 'hang'],
    policy: { totalMs: 6_000, hardTotal: true },
  });
  const answer = world.start();
  await world.time.advance(2_000);
  world.time.setClock(-3_600_000);
  await world.time.until(answer);
  expect(world.time.elapsed()).toBe(6_000);
});

test('an attempt that stalls is overtaken at its time', async () => {
  const world = createWorld({ script: ['hang', 200] });
  expect((await world.serve()).status).toBe(200);
  expect(world.network.times()).toEqual([0, EXACT.attemptTimeoutMs + 500]);
});

test('a hold that others tell of meanwhile is not ended by an answer to what was sent before', async () => {
  const world = createWorld({ script: [{ status: 200, afterMs: 1_000 }] });
  const answer = world.start();
  await world.time.advance(500);
  const at = world.time.now();
  const until = at + 10_000;
  world.book.record(KEY, { kind: 'hold-asked', at, status: 503, path: '/api/other', until, scope: 'auto' });
  expect((await world.time.until(answer)).status).toBe(200);
  expect(world.book.status().origins).toMatchObject([{ heldUntil: until }]);
});

test('a circuit that opens meanwhile is not closed by an answer to what was sent before', async () => {
  const world = createWorld({ script: [{ status: 200, afterMs: 1_000 }], circuit: { failures: 1, openMs: 60_000 } });
  const answer = world.start();
  await world.time.advance(500);
  const at = world.time.now();
  world.book.record(KEY, { kind: 'request-failed', at, launchedAt: at });
  expect((await world.time.until(answer)).status).toBe(200);
  expect(world.book.status().origins).toMatchObject([{ circuit: 'open' }]);
});

test('a first attempt is no probe: it takes nobody’s place', async () => {
  const world = createWorld({ script: [{ status: 200, afterMs: 1_000 }], circuit: { failures: 1 } });
  const at = world.time.now();
  world.book.record(KEY, { kind: 'request-failed', at, launchedAt: at });
  await world.time.advance(3_000);
  const answer = world.start();
  await world.time.advance(500);
  expect(world.book.look(KEY).circuit.probes).toEqual([]);
  expect((await world.time.until(answer)).status).toBe(200);
});

test('a clock that was set back is found out by a request to a server of which nothing is known, too', async () => {
  const world = createWorld();
  await world.book.loading();
  const at = world.time.now();
  const hold = { kind: 'hold-asked', at, status: 503, path: '/', until: at + 10_000, scope: 'auto' } as const;
  world.book.record({ ...KEY, group: 'asset' }, hold);
  world.time.setClock(-24 * 3_600_000);
  await world.serve();
  const [held] = world.book.status().origins;
  expect((held?.heldUntil ?? 0) - world.time.now()).toBeLessThanOrEqual(3_600_000);
});

test('what others have spent meanwhile gets its share of a success', async () => {
  const world = createWorld({ script: [{ status: 200, afterMs: 1_000 }], budget: { capacity: 10 } });
  const answer = world.start();
  await world.time.advance(500);
  const at = world.time.now();
  world.book.record(KEY, { kind: 'retry-reserved', at, cost: 5 });
  await world.time.until(answer);
  const { tokens } = world.book.status().origins[0] ?? {};
  // A first try that succeeds gives something back.
  expect(tokens).toBeGreaterThan(5);
});
