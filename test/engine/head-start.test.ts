import { expect, test } from 'vitest';
import { createWorld, EXACT, type WorldOptions } from '../support/engine-world.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

test('a good answer of a server of which nothing is known leaves nothing behind', async () => {
  const world = createWorld();
  expect((await world.serve()).status).toBe(200);
  expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  expect(world.book.status().origins).toEqual([]);
  expect(world.sleeper.pending()).toBe(0);
  expect(world.kept).toEqual([]);
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

test('the time of a request begins with it, and not with its trouble', async () => {
  const script: WorldOptions['script'] = [{ status: 503, afterMs: 4_000 }];
  const world = createWorld({ script, policy: { totalMs: 6_000, hardTotal: true } });
  expect((await world.serve()).status).toBe(503);
  expect(world.time.elapsed()).toBe(6_000);
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

test('what others have spent meanwhile gets its share of a success', async () => {
  const world = createWorld({ script: [{ status: 200, afterMs: 1_000 }], budget: { capacity: 10 } });
  const key = { origin: 'https://app.test', group: 'data' };
  const answer = world.start();
  await world.time.advance(500);
  const at = world.time.now();
  world.book.record(key, { kind: 'retry-reserved', at, cost: 5 });
  await world.time.until(answer);
  const { tokens } = world.book.status().origins[0] ?? {};
  // A first try that succeeds gives something back.
  expect(tokens).toBeGreaterThan(5);
});
