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

  /** A is parked and becomes the probe, which takes 100 ms; B is called off while it runs. */
  test.each([
    { name: 'B comes with a signal that is aborted', comesAtMs: 1_040, abortsAtMs: undefined, sends: 0 },
    { name: 'B was parked before, and is called off then', comesAtMs: 20, abortsAtMs: 1_050, sends: 1 },
  ])('cockatiel-321 behind a probe that succeeds: $name', async ({ comesAtMs, abortsAtMs, sends }) => {
    const world = createWorld({
      script: (request, earlier) => {
        if (earlier < 2) return { reset: true };
        const ofB = request.url.endsWith('?b');
        return ofB ? { reset: true, afterMs: 1 } : request.url.endsWith('?a') ? ofA() : 200;
      },
      circuit: { failures: 1, openMs: 1_000 },
      policy: { attempts: 2 },
    });
    let askedByA = 0;
    const ofA = (): Answer => {
      askedByA += 1;
      return askedByA === 1 ? { reset: true, afterMs: 1 } : { afterMs: 100 };
    };
    const start = (query: string, signal?: AbortSignal) => {
      const call = world.call({ request: new Request(`https://app.test/api/items?${query}`) });
      const answer = serve({ ...call, ...(signal ? { signal } : {}) }, world.engine, (fault) =>
        world.faults.push(fault),
      );
      answer.catch(() => {});
      return answer;
    };
    const sentOf = (query: string) => world.network.sent.filter(({ request }) => request.url.endsWith(`?${query}`));
    const state = () => circuitState(world.book.look(KEY).circuit, world.time.now());
    await world.serve().catch(() => {});
    const openedAt = world.time.elapsed();
    expect(state()).toBe('open');
    const at = (ms: number) => world.time.advance(openedAt + ms - world.time.elapsed());

    await at(10);
    const a = start('a');
    await at(Math.min(comesAtMs, 1_040));
    if (comesAtMs > 1_000) expect(sentOf('a')).toHaveLength(2);
    const controller = new AbortController();
    if (abortsAtMs === undefined) controller.abort('off');
    const b = start('b', controller.signal);
    await at(1_050);
    // The probe runs, and B has to wait for what comes of it.
    expect([state(), sentOf('a').length, sentOf('b').length]).toEqual(['half-open', 2, sends]);
    if (abortsAtMs !== undefined) {
      expect(world.engine.parking.isEmpty(KEY)).toBe(false);
      controller.abort('off');
    }
    expect(await rejection(world.time.until(b))).toBe('off');
    expect(world.time.elapsed() - openedAt).toBe(1_050);
    expect((await world.time.until(a)).status).toBe(200);
    await world.time.advance(60_000);
    expect([state(), sentOf('b').length, world.engine.parking.isEmpty(KEY)]).toEqual(['closed', sends, true]);
    expect([world.sleeper.pending(), world.faults]).toEqual([0, []]);
  });
});
