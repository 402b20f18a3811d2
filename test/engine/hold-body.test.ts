import { describe, expect, test } from 'vitest';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { cutAfter } from '../support/broken-bodies.ts';
import { type CallOptions, createWorld, rejection, URL_OF_ITEMS, type WorldOptions } from '../support/engine-world.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';
import { expectNothingUnhandled } from '../support/unhandled.ts';

expectNothingUnhandled();

const JSON_BODY = '{"items":[1,2,3]}';
const LENGTH = { 'Content-Length': String(JSON_BODY.length) };
const WHOLE: Answer = { headers: LENGTH, body: JSON_BODY };
const CUT: Answer = { headers: LENGTH, body: cutAfter('{"items":[1,') };
const SHORT: Answer = { headers: LENGTH, body: '{"items":[1,' };

const holding = (script: readonly Answer[], policy: Partial<RetryPolicy> = {}, options: WorldOptions = {}) =>
  createWorld({ script, policy: { holdBody: { maxBytes: 1_000 }, ...policy }, ...options });

describe('an answer that breaks off is none', () => {
  test.each([
    { name: 'a lost connection', answer: CUT },
    { name: 'a body that is too short', answer: SHORT },
    { name: 'a body that is too long', answer: { headers: LENGTH, body: `${JSON_BODY} ` } },
  ])('$name: the page gets the next, whole', async ({ answer }) => {
    const world = holding([answer, WHOLE]);
    const response = await world.serve();
    expect(response).toBe(world.network.sent[1]?.response);
    expect(await response.json()).toEqual({ items: [1, 2, 3] });
    expect(world.network.times()).toEqual([0, 500]);
    expect(world.steps).toMatchObject([
      { type: 'attempt' },
      { type: 'retry-scheduled', outcome: { kind: 'network-error' } },
      { type: 'attempt' },
      { type: 'recovered', attempts: 2, status: 200 },
    ]);
  });

  test('if all of them do, the page gets the error', async () => {
    const world = holding([CUT]);
    expect(await rejection(world.time.until(world.start()))).toMatchObject({
      message: expect.stringContaining('lost'),
    });
    expect(world.network.sent).toHaveLength(4);
  });

  test('an earlier answer that is whole is better', async () => {
    const world = holding([{ status: 503, body: 'busy' }, CUT]);
    const response = await world.serve();
    expect([response.status, await response.text()]).toEqual([503, 'busy']);
  });

  test('so is one by a keyed POST', async () => {
    const world = holding([CUT, WHOLE]);
    const request = new Request(URL_OF_ITEMS, { method: 'POST', body: 'x', headers: { 'Idempotency-Key': '1' } });
    expect(await (await world.serve({ request })).text()).toBe(JSON_BODY);
  });

  test('an encoded one counts as whole whatever its length, unless its connection was lost', async () => {
    const encoded = { ...LENGTH, 'Content-Encoding': 'br' };
    const world = holding([
      { headers: encoded, body: cutAfter('{') },
      { headers: encoded, body: 'longer than it was when it was encoded' },
    ]);
    expect(await (await world.serve()).text()).toMatch(/^longer/);
    expect(world.network.sent).toHaveLength(2);
  });

  test('one of another origin may be encoded', async () => {
    const prepare = (response: Response) => Object.defineProperty(response, 'type', { value: 'cors' });
    const world = holding([SHORT], {}, { prepare });
    expect(await (await world.serve()).text()).toBe('{"items":[1,');
  });

  test('one that does not come is overdue', async () => {
    const slow: Answer = { headers: LENGTH, body: watchedBody(['{']).open };
    const world = holding([slow, WHOLE], { attemptTimeoutMs: 2_000 });
    expect(await (await world.serve()).text()).toBe(JSON_BODY);
    expect(world.network.times()).toEqual([0, 2_500]);
  });
});

describe('what is not held', () => {
  /** Delivered although its body has not come, and will not. */
  const delivered = async (answer: Answer & object, call: CallOptions = {}, policy: Partial<RetryPolicy> = {}) => {
    const body = watchedBody(['x']);
    const world = holding([{ body: body.open, ...answer }], policy);
    const response = world.start(call);
    await world.time.settle();
    expect(await response).toBe(world.network.sent[0]?.response);
    expect(world.network.sent).toHaveLength(1);
  };

  test('anything, by default', () => delivered({ headers: LENGTH }, {}, { holdBody: false }));
  test('a body without a declared length', () => delivered({}));
  test('a length that is none', () => delivered({ headers: { 'Content-Length': '1e2' } }));
  test('a body that is too long', () => delivered({ headers: { 'Content-Length': '1001' } }));
  test('an event stream', () =>
    delivered({ headers: { 'Content-Length': '10', 'Content-Type': 'text/event-stream; charset=utf-8' } }));
  test('no body: a 204', () => delivered({ status: 204, headers: LENGTH, body: null }));
  test('no body: the answer to a HEAD', () =>
    delivered({ headers: LENGTH, body: null }, { request: new Request(URL_OF_ITEMS, { method: 'HEAD' }) }));
  test('one that only looks small: the rest goes through as it comes', async () => {
    const world = holding([
      { headers: { 'Content-Length': '9', 'Content-Encoding': 'gzip' }, body: 'x'.repeat(5_000) },
    ]);
    expect(await (await world.serve()).text()).toHaveLength(5_000);
  });
  test('an answer that is retried anyway', async () => {
    const busy = watchedBody(['busy']);
    const world = holding([{ status: 503, headers: { 'Content-Length': '100' }, body: busy.open }, WHOLE]);
    expect((await world.serve()).status).toBe(200);
  });
});
