import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createListeners } from '../../src/page/listeners.ts';
import { EVENT_TYPES } from '../../src/protocol/event-shapes.ts';
import { PROTOCOL } from '../../src/protocol/version.ts';

let reported: unknown[];
beforeEach(() => {
  reported = [];
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true });
const mostly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: anything });
const text = mostly(fc.oneof(fc.string(), fc.constantFrom('constructor', '__proto__', 'toString')));
const number = mostly(fc.double());
const event = fc.record({
  type: mostly(fc.constantFrom(...EVENT_TYPES)),
  id: text,
  at: number,
  method: text,
  url: text,
  group: text,
  elapsedMs: number,
  attempt: number,
  attempts: number,
  delayMs: number,
  cause: text,
  by: text,
  status: number,
  reason: text,
  origin: text,
  until: number,
  from: text,
  to: text,
});
const message = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      steadfetch: mostly(fc.constant(PROTOCOL)),
      kind: mostly(fc.constant('event')),
      seq: text,
      event: mostly(event),
    }),
  },
  { weight: 1, arbitrary: anything },
);

test('S02 property: whatever a worker says, a page throws nothing, and its listeners see only events as they are described', () => {
  let heard = 0;
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), fc.nat({ max: 20 }), (all, openAt) => {
      const warned: string[] = [];
      const listeners = createListeners((problem) => warned.push(problem));
      for (const type of EVENT_TYPES) {
        listeners.on(type, (told) => {
          heard += 1;
          expect(told.type).toBe(type);
          expect(told.at).toBeTypeOf('number');
          expect('outbox' in told ? told.outbox : told.group).toBeTypeOf('string');
          if ('url' in told && 'id' in told && type === 'recovered') expect(told.url).toBeTypeOf('string');
        });
      }
      for (const [n, data] of all.entries()) {
        if (n === openAt) listeners.open();
        expect(() => listeners.receive(data)).not.toThrow();
      }
      listeners.open();
    }),
    { numRuns: 500 },
  );
  expect(reported).toEqual([]);
  expect(heard).toBeGreaterThan(500);
});
