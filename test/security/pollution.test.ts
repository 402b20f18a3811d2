import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseContentRange } from '../../src/policy/content-range.ts';
import { connectSources } from '../../src/policy/csp.ts';
import { mergeRecords } from '../../src/policy/merge.ts';
import { reviveEntry } from '../../src/policy/revive-entry.ts';
import { reviveRecord } from '../../src/policy/revive-record.ts';
import { parseGossip, parseOverride, parsePageMessage, parseWorkerMessage } from '../../src/protocol/index.ts';
import { checkLayerOptions } from '../../src/worker/options.ts';
import { GUARDS } from '../support/records.ts';

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

/** What `JSON.parse`, a database or a message gives: with such names as own properties, at any depth. */
const poison = fc
  .json({ maxDepth: 4 })
  .chain((text) =>
    fc
      .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES))
      .map(([outer, inner]) =>
        JSON.parse(`{ "${outer}": { "${inner}": { "polluted": true }, "polluted": true }, "rest": ${text} }`),
      ),
  );

const ENTRIES: Readonly<Record<string, (given: Record<string, unknown>) => unknown>> = {
  options: (given) => checkLayerOptions({ defaults: given, budget: given, circuit: given, routes: [given] }),
  'a message of a page': (given) => parsePageMessage({ steadfetch: 1, kind: 'outbox', wish: given, ...given }),
  'a message of a worker': (given) => parseWorkerMessage({ steadfetch: 1, kind: 'event', seq: 's', event: given }),
  'a status of a worker': (given) => parseWorkerMessage({ steadfetch: 1, kind: 'status', status: given }),
  gossip: (given) => parseGossip({ steadfetch: 1, kind: 'guards', record: given }),
  'a record': (given) => {
    const record = reviveRecord(
      {
        origin: 'https://a.test',
        group: '__proto__',
        budget: given,
        hold: { until: 0, paths: { ...given, __proto__: given } },
        circuit: given,
        usedAt: 1,
        ...given,
      },
      1,
      GUARDS,
    );
    return record && mergeRecords(record, record, GUARDS);
  },
  'an entry of the outbox': (given) => reviveEntry({ request: given, ...given }, 1),
  'a fragment': (given) => parseOverride(`#~sf=${Object.keys(given).join('.')}`),
  'a header': (given) => [connectSources(Object.keys(given).join(' ')), parseContentRange(Object.keys(given).join())],
};

const before = new Map([Object.prototype, Array.prototype, Function.prototype].map((one) => [one, shapeOf(one)]));

function shapeOf(one: object): string {
  return Reflect.ownKeys(one).map(String).sort().join();
}

test.each(Object.keys(ENTRIES))('S06 property: %s with the names of prototypes changes none', (name) => {
  const take = ENTRIES[name] as (given: Record<string, unknown>) => unknown;
  fc.assert(
    fc.property(poison, (given) => {
      try {
        take(given);
      } catch (refusal) {
        expect((refusal as Error).name).toBe('RetryLayerError');
      }
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      for (const [one, shape] of before) expect(shapeOf(one)).toBe(shape);
    }),
  );
});
