import { describe, expect, test } from 'vitest';
import { createOrigin, type OriginScript } from '../../src/sim/origin.ts';
import { createRandom } from '../../src/sim/random.ts';

/** What a server answers at these times: a status, or how else it fails. */
const answers = (script: Omit<OriginScript, 'latencyMs'>, times: readonly number[], path = '/') => {
  const origin = createOrigin({ latencyMs: 100, ...script }, createRandom(1));
  return times.map((at) => {
    const { outcome } = origin.reply({ at, path, timeoutMs: 1_000 });
    return outcome.kind === 'response' ? outcome.status : outcome.kind;
  });
};

describe('a server with a capacity', () => {
  test('answers a tenth of a second of it at once, and turns away what is more', () => {
    expect(answers({ capacityPerSecond: 30 }, [0, 0, 0, 0, 0])).toEqual([200, 200, 200, 503, 503]);
  });

  test('has room again at its own pace, and never for more than that', () => {
    expect(answers({ capacityPerSecond: 20 }, [0, 0, 0, 50, 50])).toEqual([200, 200, 503, 200, 503]);
    expect(answers({ capacityPerSecond: 20 }, [0, 60_000, 60_000, 60_000])).toEqual([200, 200, 200, 503]);
  });

  test('of less than ten a second answers one', () => {
    expect(answers({ capacityPerSecond: 2 }, [0, 0, 400, 500])).toEqual([200, 503, 503, 200]);
  });
});

describe('a fault', () => {
  test('is from its beginning to before its end', () => {
    const faults = [{ as: 500 as const, fromMs: 100, untilMs: 200 }];
    expect(answers({ faults }, [99, 100, 199, 200])).toEqual([200, 500, 500, 200]);
  });

  test('of one path is not another’s', () => {
    const faults = [{ as: 'reset' as const, path: '/a' }];
    expect(answers({ faults }, [0], '/a')).toEqual(['network-error']);
    expect(answers({ faults }, [0], '/b')).toEqual([200]);
  });

  test('of a share is for that share', () => {
    const failed = answers({ faults: [{ as: 503, share: 0.3 }] }, Array(10_000).fill(0)).filter((one) => one === 503);
    expect(failed.length / 10_000).toBeCloseTo(0.3, 1);
  });

  test('that hangs takes the time that the attempt has', () => {
    const origin = createOrigin({ latencyMs: 100, faults: [{ as: 'hang' }] }, createRandom(1));
    const reply = origin.reply({ at: 0, path: '/', timeoutMs: 700 });
    expect(reply).toEqual({ outcome: { kind: 'timeout', afterMs: 700 }, afterMs: 700 });
  });
});
