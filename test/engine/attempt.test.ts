import { expect, test } from 'vitest';
import { createWorld } from '../support/engine-world.ts';

const LIMITED = { status: 429, headers: { RateLimit: '"burst";r=9;t=1, "daily";r=0;t=4' } };

test('a RateLimit that has nothing left lengthens the wait of the request that was told, and holds no other', async () => {
  const world = createWorld({ script: [LIMITED, 200] });
  const limited = world.start();
  await world.time.advance(10);
  expect((await world.serve()).status).toBe(200);
  expect(world.network.times()).toEqual([0, 10]);
  expect((await world.time.until(limited)).status).toBe(200);
  expect(world.network.times()).toEqual([0, 10, 4_000]);
  expect(world.steps).toContainEqual(
    expect.objectContaining({
      type: 'retry-scheduled',
      decision: { do: 'retry', reason: 'status', delayMs: 4_000, by: 'rate-limit' },
    }),
  );
  expect(world.steps).not.toContainEqual(expect.objectContaining({ type: 'waiting' }));
});

test('a RateLimit that asks for more than may be is passed over', async () => {
  const world = createWorld({ script: [{ status: 429, headers: { RateLimit: '"daily";r=0;t=3600' } }, 200] });
  expect((await world.serve()).status).toBe(200);
  expect(world.network.times()).toEqual([0, 1_000]);
});
