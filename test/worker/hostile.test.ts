import '../support/worker-scope.ts';

import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { PROTOCOL } from '../../src/protocol/version.ts';
import { createRetryLayer } from '../../src/worker/retry-layer.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';
import { settle, stubScope } from '../support/worker-scope.ts';

expectNothingUnhandled();
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

// Any script of the origin can send a worker messages. Whatever they say, a worker goes on answering requests.

const URL_OF_ITEMS = 'https://app.test/api/items';
const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true });
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    URL_OF_ITEMS,
    'https://app.test',
    'GET',
    'constructor',
    '__proto__',
    '#~sf=a9.u1.nguess',
    '~sf=u1',
  ),
);
const mostly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: anything });
const message = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        steadfetch: mostly(fc.constant(PROTOCOL)),
        // But for `pause` and `retire`, which are meant to end the retries.
        kind: mostly(
          fc.constantFrom('hello', 'status', 'beat', 'online', 'retry-now', 'abort', 'call', 'resume', 'reset'),
        ),
        version: mostly(fc.oneof(text, fc.constant('0.1.0'))),
        origin: fc.oneof(text, fc.constant(undefined)),
        id: mostly(text),
        url: mostly(text),
        method: mostly(text),
        asked: mostly(text),
      },
      { requiredKeys: ['steadfetch', 'kind'] },
    ),
  },
  // What counts for the request that is asked for.
  {
    weight: 1,
    arbitrary: fc.record({
      steadfetch: fc.constant(PROTOCOL),
      kind: fc.constant('call'),
      id: text,
      url: fc.constant(URL_OF_ITEMS),
      method: fc.constant('GET'),
      asked: text,
    }),
  },
  { weight: 1, arbitrary: anything },
);
const source = fc.constantFrom({ id: 'page' }, { id: 'gone' }, { id: '' }, {}, null);
const said = fc.record({ data: message, from: source, withPort: fc.boolean() });

test('S01 property: whatever pages say, nothing is thrown, every question ends, and requests are answered with retries', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 12 }), async (all) => {
      const scope = stubScope();
      vi.stubGlobal('indexedDB', undefined);
      const page = scope.open('page');
      const script = [503, 'lost', 200];
      const given: Response[] = [];
      vi.stubGlobal('fetch', async () => {
        const next = script.shift() ?? 200;
        if (next === 'lost') throw new TypeError('lost');
        const response = new Response('answer', { status: Number(next) });
        given.push(response);
        return response;
      });
      createRetryLayer({ defaults: { backoff: constant(100), throttledBackoff: constant(100) } }).listen();
      const ends: Promise<unknown>[] = [];
      let answer: Promise<Response> | undefined;
      const half = Math.ceil(all.length / 2);
      const say = ({ data, from, withPort }: (typeof all)[number]) => {
        const port = { postMessage: () => (answered += 1) };
        const waitUntil = (work: Promise<unknown>) => ends.push(work);
        const own = from && 'id' in from && from.id === 'page' ? { ...page } : from;
        expect(() =>
          scope.dispatch('message', { data, source: own, ports: withPort ? [port] : [], waitUntil }),
        ).not.toThrow();
      };
      for (const one of all.slice(0, half)) say(one);
      scope.dispatch('fetch', {
        request: new Request(URL_OF_ITEMS),
        clientId: 'page',
        resultingClientId: '',
        respondWith: (given: Promise<Response>) => {
          answer = given;
        },
        waitUntil: (work: Promise<unknown>) => ends.push(work),
      });
      for (const one of all.slice(half)) say(one);
      for (let step = 0; step < 8; step += 1) {
        await settle();
        await vi.advanceTimersByTimeAsync(2_000);
      }
      // A call that is announced may ask for fewer attempts, and never for none.
      const response = await answer;
      expect(given.map(({ status }) => status)).toContain(response?.status);
      expect(await response?.text()).toBe('answer');
      await Promise.all(ends);
    }),
    { numRuns: 60 },
  );
  expect(answered).toBeGreaterThan(50);
});
