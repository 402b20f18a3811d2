import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { circuitState } from '../../src/policy/circuit.ts';
import { createWorld, rejection, type World } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const KEY = { origin: 'https://app.test', group: 'data' };

/** A request that its maker may call off, and its answer. */
function abortable(world: World, signal?: AbortSignal) {
  const controller = new AbortController();
  const call = { ...world.call(), signal: signal ?? controller.signal };
  const answer = serve(call, world.engine, (fault) => world.faults.push(fault));
  answer.catch(() => {});
  return { controller, answer };
}

describe('called off', () => {
  test.each<{ id: string; script: Answer[]; atMs: number }>([
    { id: 'undici-132', script: [500, 200], atMs: 250 },
    { id: 'go-retryablehttp-174', script: [{ status: 500, afterMs: 1 }, 200], atMs: 0 },
    { id: 'nurago-229', script: [{ status: 500, afterMs: 200 }, 200], atMs: 20 },
    { id: 'cockatiel-338', script: [{ reset: true, afterMs: 50 }, 200], atMs: 50 },
  ])('$id after $atMs ms: one attempt, at once, with the reason that was given', async ({ script, atMs }) => {
    const world = createWorld({ script });
    const { controller, answer } = abortable(world);
    await world.time.advance(atMs);
    controller.abort('off');
    expect(await rejection(world.time.until(answer))).toBe('off');
    expect(world.time.elapsed()).toBe(atMs);
    await world.time.advance(60_000);
    expect([world.network.sent.length, world.sleeper.pending(), world.faults]).toEqual([1, 0, []]);
  });

  test('nurago-234 before the call: no attempt', async () => {
    const world = createWorld();
    expect(await rejection(abortable(world, AbortSignal.abort('off')).answer)).toBe('off');
    expect(world.network.sent).toEqual([]);
  });

  test('cockatiel-350 while another one runs: no attempt of it, and the other is answered', async () => {
    const world = createWorld({ script: [{ afterMs: 100 }] });
    const running = world.start();
    expect(await rejection(abortable(world, AbortSignal.abort('off')).answer)).toBe('off');
    expect((await world.time.until(running)).status).toBe(200);
    expect(world.network.sent).toHaveLength(1);
  });

  test.each([
    { name: 'before it came', beforeMs: undefined },
    { name: 'while it was parked', beforeMs: 10 },
  ])('cockatiel-321 $name, beside a probe that succeeds: closed, and nothing of it is sent', async ({ beforeMs }) => {
    const world = createWorld({
      script: ['reset', { reset: true, afterMs: 1 }, { afterMs: 100 }, 200],
      circuit: { failures: 1, openMs: 1_000 },
      policy: { attempts: 2 },
    });
    const state = () => circuitState(world.book.look(KEY).circuit, world.time.now());
    await world.serve().catch(() => {});
    expect(state()).toBe('open');
    const before = world.network.sent.length;
    const { controller, answer } = abortable(world, beforeMs === undefined ? AbortSignal.abort('off') : undefined);
    if (beforeMs !== undefined) {
      await world.time.advance(beforeMs);
      controller.abort('off');
    }
    expect(await rejection(world.time.until(answer))).toBe('off');
    // A first attempt goes out whatever the circuit is, and is all that there may be.
    expect(world.network.sent.length - before).toBeLessThanOrEqual(beforeMs === undefined ? 0 : 1);
    await world.time.advance(1_000);
    expect((await world.serve()).status).toBe(200);
    expect(state()).toBe('closed');
  });
});
