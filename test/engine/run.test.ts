import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import { constant, exponential, list } from '../../src/policy/backoff.ts';
import { createWorld, NAVIGATION, rejection, type Told, type WorldOptions } from '../support/engine-world.ts';
import { imf } from '../support/http-dates.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { type Answer, watchedBody } from '../support/scripted-network.ts';
import { createVirtualTime, START } from '../support/virtual-time.ts';

const types = (steps: readonly Told[]) => steps.map(({ type }) => type);

describe('row 18: attempts and their times', () => {
  test.each<{ name: string; world: WorldOptions; sentAt: number[]; status: number; body: string }>([
    { name: 'first try', world: { script: [200] }, sentAt: [0], status: 200, body: 'answer 1' },
    { name: '404 is an answer', world: { script: [404, 200] }, sentAt: [0], status: 404, body: 'answer 1' },
    {
      name: '503, 503, 200',
      world: { script: [503, 503, 200] },
      sentAt: [0, 1_000, 3_000],
      status: 200,
      body: 'answer 3',
    },
    {
      name: '502, 502, 200',
      world: { script: [502, 502, 200] },
      sentAt: [0, 500, 1_500],
      status: 200,
      body: 'answer 3',
    },
    {
      name: 'two resets',
      world: { script: ['reset', 'reset', 200] },
      sentAt: [0, 500, 1_500],
      status: 200,
      body: 'answer 3',
    },
    { name: 'always 503', world: { script: [503] }, sentAt: [0, 1_000, 3_000, 7_000], status: 503, body: 'answer 4' },
    {
      name: 'B022 two retries',
      world: { script: [502], policy: { attempts: 3, backoff: constant(500) } },
      sentAt: [0, 500, 1_000],
      status: 502,
      body: 'answer 3',
    },
    {
      name: 'B048 an attempt alone',
      world: { script: [503], policy: { attempts: 1 } },
      sentAt: [0],
      status: 503,
      body: 'answer 1',
    },
    {
      name: '425 is repeated once, at once',
      world: { script: [425, 425, 200] },
      sentAt: [0, 0],
      status: 425,
      body: 'answer 2',
    },
    {
      name: 'a retry may end in a final error',
      world: { script: [503, 404] },
      sentAt: [0, 1_000],
      status: 404,
      body: 'answer 2',
    },
    {
      name: 'latency comes before the wait',
      world: { script: [{ status: 502, afterMs: 123 }, 200] },
      sentAt: [0, 623],
      status: 200,
      body: 'answer 2',
    },
    {
      name: 'the list of waits',
      world: { script: [502], policy: { backoff: list([10, 20]) } },
      sentAt: [0, 10, 30, 50],
      status: 502,
      body: 'answer 4',
    },
    {
      name: 'no wait at all',
      world: { script: [502], policy: { backoff: constant(0) } },
      sentAt: [0, 0, 0, 0],
      status: 502,
      body: 'answer 4',
    },
  ])('$name', async ({ world: options, sentAt, status, body }) => {
    const world = createWorld(options);
    const response = await world.serve();
    expect(world.network.times()).toEqual(sentAt);
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(body);
    expect(world.sleeper.pending()).toBe(0);
    expect(world.faults).toEqual([]);
  });

  test('B021 the waits of one request grow; another at the same time does not disturb them', async () => {
    const time = createWorld().time;
    const [one, other] = [createWorld({ time, script: [502] }), createWorld({ time, script: [503] })];
    const answers = Promise.all([one.start(), other.start()]);
    await time.until(answers);
    expect(one.network.times()).toEqual([0, 500, 1_500, 3_500]);
    expect(other.network.times()).toEqual([0, 1_000, 3_000, 7_000]);
  });

  test('decorrelated waits grow from the wait before', async () => {
    const backoff = { kind: 'decorrelated-jitter', of: exponential({ baseMs: 100, maxMs: 10_000 }) } as const;
    const world = createWorld({ script: [502], policy: { backoff }, random: () => 0.5 });
    await world.serve();
    // base + half of the way to three times the wait before: 200, 350, 575.
    expect(world.network.times()).toEqual([0, 200, 550, 1_125]);
  });
});

describe('what the page gets', () => {
  test('is the very answer of the network, at the first try and at a later one', async () => {
    for (const script of [[200], [503, 200], [503], ['reset', 404]] as Answer[][]) {
      const world = createWorld({ script });
      const response = await world.serve();
      expect(response).toBe(world.network.sent.at(-1)?.response);
      expect(response.bodyUsed).toBe(false);
    }
  });

  test('is the last answer when only network errors follow it', async () => {
    const script: Answer[] = [{ status: 503, headers: { 'X-Why': 'busy' }, body: 'come back' }, 'reset'];
    const world = createWorld({ script });
    const response = await world.serve();
    expect(world.network.times()).toEqual([0, 1_000, 2_000, 4_000]);
    expect(response.status).toBe(503);
    expect(response.headers.get('X-Why')).toBe('busy');
    expect(await response.text()).toBe('come back');
  });

  test('is the later of two answers when network errors follow them', async () => {
    const response = await createWorld({ script: [503, 502, 'reset'] }).serve();
    expect([response.status, await response.text()]).toEqual([502, 'answer 2']);
  });

  test('is an earlier answer, if a later one was too large to keep', async () => {
    const world = createWorld({ script: [503, { status: 502, body: 'x'.repeat(100_000) }, 'reset'] });
    const response = await world.serve();
    expect([response.status, await response.text()]).toEqual([503, 'answer 1']);
  });

  test('is an earlier answer, if the body of a later one broke off', async () => {
    const breaks = () =>
      new ReadableStream<Uint8Array>({
        start: (to) => to.enqueue(new TextEncoder().encode('half')),
        pull: (to) => to.error(new TypeError('cut')),
      });
    const world = createWorld({ script: [503, { status: 502, body: breaks }, 'reset'] });
    const response = await world.serve();
    expect([response.status, await response.text()]).toEqual([503, 'answer 1']);
  });

  test('a limit of retries counts the failures of attempts that were overtaken, too', async () => {
    const script: Answer[] = [{ reset: true, afterMs: 10_200 }, { reset: true, afterMs: 100 }, 200];
    const world = createWorld({ script });
    await rejection(world.serve({ facts: { choosy: true } }));
    expect(world.network.sent).toHaveLength(2);
  });

  test.each([65_536, 65_537])('an answer of %i bytes is kept, and whole only if it is small', async (bytes) => {
    const world = createWorld({ script: [{ status: 503, body: 'x'.repeat(bytes) }, 'reset'] });
    if (bytes === 65_536) {
      expect(await (await world.serve()).text()).toHaveLength(bytes);
    } else {
      const response = await world.serve();
      expect([response.status, response.headers.get('Content-Type')]).toEqual([503, 'text/plain;charset=UTF-8']);
      expect(await rejection(response.text())).toMatchObject({ message: 'the rest of this answer was not waited for' });
    }
    expect(world.network.sent).toHaveLength(4);
  });

  const HTML = { 'Content-Type': 'Text/HTML; charset=utf-8' };
  const ATTACHED = { ...HTML, 'Content-Disposition': 'Attachment; filename="a.html"' };
  test.each([
    { what: 'an error page', answer: { headers: HTML }, ends: true },
    { what: 'an error page, inline', answer: { headers: { ...HTML, 'Content-Disposition': 'inline' } }, ends: true },
    { what: 'an error page for a script', answer: { headers: HTML }, facts: {}, ends: false },
    { what: 'a page that is good', answer: { headers: HTML, status: 200 }, ends: false },
    { what: 'a download', answer: { headers: ATTACHED }, ends: false },
    { what: 'a table', answer: { headers: { 'Content-Type': 'text/csv' } }, ends: false },
    { what: 'what is like HTML', answer: { headers: { 'Content-Type': 'application/text/html' } }, ends: false },
    { what: 'what is not named', answer: { body: new TextEncoder().encode('x'.repeat(65_537)) }, ends: false },
  ])('of $what that was not waited for: does it end where it was left? $ends', async ({ answer, facts, ends }) => {
    const large = 'x'.repeat(65_537);
    const script: Answer[] = [{ status: 503, body: large, ...answer }, 'reset'];
    const world = createWorld({ script, classify: async () => 'retry' });
    const response = await world.serve({ facts: facts ?? NAVIGATION });
    const read = await response.text().catch(() => undefined);
    // Chromium loads a document that breaks off for ever; a file that was cut short would seem whole.
    expect([world.network.sent.length, read === undefined ? undefined : large.startsWith(read)]).toEqual([
      facts ? 4 : 3,
      ends ? true : undefined,
    ]);
  });

  test('is the last network error itself, if there was never an answer', async () => {
    const world = createWorld({ script: ['reset'] });
    const error = await rejection(world.serve());
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toBe(world.network.sent[3]?.error);
  });

  test('is whatever the network threw, even if that is no error', async () => {
    for (const thrown of [undefined, null, 0, 'nothing']) {
      const world = createWorld({ policy: { attempts: 2 } });
      const engine = { ...world.engine, ports: { ...world.ports, fetch: () => Promise.reject(thrown) } };
      expect(await rejection(world.time.until(serve(world.call(), engine, () => {})))).toBe(thrown);
    }
  });

  test('B061 keeps no timer whatever the ending', async () => {
    const endings: WorldOptions[] = [
      { script: [200] },
      { script: [503, 503, 503, 200] },
      { script: [503] },
      { script: ['reset'] },
      { script: [{ status: 503, headers: { 'Retry-After': '60' } }] },
      { script: [{ status: 200, afterMs: 12_000 }, 'hang'] },
      { script: [503], budget: { capacity: 1 } },
      { script: ['reset'], isOnline: () => false },
      { script: [{ status: 503, body: watchedBody(['x']).open }, 200] },
    ];
    for (const options of endings) {
      const world = createWorld(options);
      await world.serve().catch(() => {});
      expect(world.sleeper.pending()).toBe(0);
      expect(world.faults).toEqual([]);
    }
  });

  test('every duration it sleeps is one that timers can take', async () => {
    const world = createWorld({
      script: [
        { status: 503, headers: { 'Retry-After': '2592000' } },
        { status: 503, afterMs: 1 },
      ],
      policy: { retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 1e300, overMax: 'truncate' } },
    });
    await world.serve();
    for (const ms of world.sleeper.asked) expect(ms).toSatisfy((it: number) => it >= 0 && it <= 2_147_483_647);
  });
});

describe('Retry-After', () => {
  const retryAfter = (value: string, headers: Record<string, string> = {}): Answer => ({
    status: 503,
    headers: { 'Retry-After': value, ...headers },
  });
  const in4s = imf(START + 4_000);
  const anHourAgo = imf(START - 3_600_000);

  test.each<{ name: string; script: Answer[]; world?: WorldOptions; sentAt: number[]; status?: number }>([
    { name: 'later than the backoff', script: [retryAfter('2'), 200], sentAt: [0, 2_000] },
    { name: 'earlier than the backoff', script: [502, 502, retryAfter('1'), 200], sentAt: [0, 500, 1_500, 3_500] },
    { name: 'B004 zero is now', script: [retryAfter('0'), 200], sentAt: [0, 0] },
    { name: 'B003 malformed is absent', script: [retryAfter('soon'), 200], sentAt: [0, 1_000] },
    { name: 'negative is absent', script: [retryAfter('-1'), 200], sentAt: [0, 1_000] },
    { name: 'two lines are absent', script: [retryAfter('2, 5'), 200], sentAt: [0, 1_000] },
    {
      name: 'B005 a past date leaves the backoff',
      script: [retryAfter(anHourAgo)],
      sentAt: [0, 1_000, 3_000, 7_000],
      status: 503,
    },
    { name: 'B001 B007 a date is waited for', script: [retryAfter(in4s), 200], sentAt: [0, 4_000] },
    {
      name: 'B010 the server is an hour ahead',
      script: [retryAfter(imf(START + 3_603_000), { Date: imf(START + 3_600_000) }), 200],
      sentAt: [0, 3_000],
    },
    {
      name: 'B010 the server is an hour behind',
      script: [retryAfter(imf(START - 3_597_000), { Date: imf(START - 3_600_000) }), 200],
      sentAt: [0, 3_000],
    },
    { name: 'at most the cap is waited', script: [retryAfter('15'), 200], sentAt: [0, 15_000] },
    { name: 'B012 30 days: the answer at once', script: [retryAfter('2592000'), 200], sentAt: [0], status: 503 },
    { name: 'B013 over the cap: the answer at once', script: [retryAfter('16'), 200], sentAt: [0], status: 503 },
    {
      name: 'past the deadline',
      script: [retryAfter('5'), 200],
      world: { policy: { totalMs: 1_000 } },
      sentAt: [0],
      status: 503,
    },
    {
      name: 'B015 ignored',
      script: [retryAfter('5'), 200],
      world: { policy: { retryAfter: { mode: 'ignore', statuses: 'retried', maxMs: 15_000, overMax: 'give-up' } } },
      sentAt: [0, 1_000],
    },
    {
      name: 'instead of the backoff',
      script: [502, { status: 503, headers: { 'Retry-After': '1' } }, 200],
      world: { policy: { retryAfter: { mode: 'replace', statuses: 'retried', maxMs: 15_000, overMax: 'give-up' } } },
      sentAt: [0, 500, 1_500],
    },
    {
      name: 'cut to the cap',
      script: [retryAfter('9000'), 200],
      world: { policy: { retryAfter: { mode: 'extend', statuses: 'retried', maxMs: 2_000, overMax: 'truncate' } } },
      sentAt: [0, 2_000],
    },
    {
      name: 'only of some statuses',
      script: [retryAfter('5'), 200],
      world: { policy: { retryAfter: { mode: 'extend', statuses: [429], maxMs: 15_000, overMax: 'give-up' } } },
      sentAt: [0, 1_000],
    },
    {
      name: 'a quarter of it as upward jitter',
      script: [retryAfter('4'), 200],
      world: { random: () => 0.5 },
      sentAt: [0, 4_500],
    },
  ])('$name', async ({ script, world: options, sentAt, status = 200 }) => {
    const world = createWorld({ ...options, script });
    const response = await world.serve();
    expect(world.network.times()).toEqual(sentAt);
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(`answer ${sentAt.length}`);
    expect(world.sleeper.pending()).toBe(0);
  });

  test('B010 a Date that lay in a cache does not count, and the wait is refused for its length', async () => {
    const ahead = retryAfter(imf(START + 3_603_000), { Date: imf(START + 3_600_000), Age: '7200' });
    const world = createWorld({ script: [ahead, 200] });
    expect((await world.serve()).status).toBe(503);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'retry-after' });
  });

  test('navigations wait for 5 s at most', async () => {
    for (const [value, sentAt] of [
      ['5', [0, 5_000]],
      ['6', [0]],
    ] as const) {
      const world = createWorld({ script: [retryAfter(value), 200] });
      await world.serve({ facts: NAVIGATION });
      expect(world.network.times()).toEqual(sentAt);
    }
  });

  test('B014 the limits of the request are those of its own merged policy', async () => {
    const world = createWorld({ script: [retryAfter('5'), 200] });
    const response = await world.serve({ policy: { totalMs: 1_000 } });
    expect([response.status, world.time.elapsed()]).toEqual([503, 0]);
  });
});

describe('the deadline', () => {
  test.each([
    // The wait for attempt 3 would end at 1 500.
    { totalMs: 1_500, sentAt: [0, 500] },
    { totalMs: 1_501, sentAt: [0, 500, 1_500] },
    { totalMs: 500, sentAt: [0] },
    { totalMs: 501, sentAt: [0, 500] },
    { totalMs: 1, sentAt: [0] },
  ])('no attempt starts at or after $totalMs ms', async ({ totalMs, sentAt }) => {
    const world = createWorld({ script: [502], policy: { totalMs } });
    expect((await world.serve()).status).toBe(502);
    expect(world.network.times()).toEqual(sentAt);
    expect(world.time.elapsed()).toBe(sentAt.at(-1));
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline', attempts: sentAt.length });
  });

  test('an attempt that began before it is waited for', async () => {
    const world = createWorld({ script: [502, { status: 200, afterMs: 60_000 }], policy: { totalMs: 1_000 } });
    expect((await world.serve()).status).toBe(200);
    expect(world.time.elapsed()).toBe(60_500);
    expect(world.network.times()).toEqual([0, 500]);
  });

  test('an answer that comes after it is not retried', async () => {
    const world = createWorld({
      script: [{ status: 503, afterMs: 25_000 }, 200],
      policy: { attemptTimeoutMs: 60_000 },
    });
    expect((await world.serve()).status).toBe(503);
    expect(world.network.sent).toHaveLength(1);
  });

  test('a machine that slept through it gets what there is, and its token back', async () => {
    const world = createWorld({ script: [503, 200], budget: { refillPerSecond: 0 } });
    const answer = world.start();
    await world.time.advance(200);
    world.time.suspend(3_600_000);
    const response = await world.time.until(answer);
    expect([response.status, await response.text()]).toEqual([503, 'answer 1']);
    expect(world.network.sent).toHaveLength(1);
    expect(world.time.elapsed()).toBe(3_600_200);
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason: 'deadline' });
    expect(world.book.affords({ origin: 'https://app.test', group: 'data' }, 20)).toBe(true);
  });

  test('a machine that slept through it gets the network error, if that is all there is', async () => {
    const world = createWorld({ script: ['reset', 200] });
    const answer = world.start();
    await world.time.advance(200);
    world.time.suspend(30_000);
    expect(await rejection(world.time.until(answer))).toBe(world.network.sent[0]?.error);
    expect(world.network.sent).toHaveLength(1);
  });

  test('a machine that slept for less goes on', async () => {
    const world = createWorld({ script: [503, 200] });
    const answer = world.start();
    await world.time.advance(200);
    world.time.suspend(10_000);
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 10_200]);
  });

  test('with nothing to give at all, one more attempt is made, and only one', async () => {
    const big: Answer = { status: 503, body: 'x'.repeat(100_000) };
    const world = createWorld({ script: [big] });
    const answer = world.start();
    await world.time.advance(200);
    world.time.suspend(30_000);
    const response = await world.time.until(answer);
    expect([response.status, (await response.text()).length]).toEqual([503, 100_000]);
    expect(world.network.times()).toEqual([0, 30_200]);
  });

  test('a clock that is set back is no time that a server has named', async () => {
    const world = createWorld({ script: [503, 503, 200] });
    const answer = world.start();
    await world.time.advance(200);
    world.time.setClock(-3_600_000);
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.sent).toHaveLength(3);
    expect(world.steps.at(-1)).toMatchObject({ type: 'recovered' });
  });

  test('a clock that is set back does not lengthen a wait', async () => {
    const world = createWorld({ script: [503, 200] });
    const answer = world.start();
    await world.time.advance(200);
    world.time.setClock(-3_600_000);
    expect((await world.time.until(answer)).status).toBe(200);
    expect(world.network.times()).toEqual([0, 1_000]);
  });
});

describe('the bodies of answers that are not delivered', () => {
  test('S12 row 5: are cancelled before the wait, if they do not end', async () => {
    const log: string[] = [];
    const body = watchedBody(['x'], { onCancel: () => log.push(`cancelled at ${world.time.elapsed()}`) });
    const world = createWorld({ script: [{ status: 503, body: body.open }, 200] });
    expect((await world.serve()).status).toBe(200);
    expect(log).toEqual(['cancelled at 100']);
    expect(world.network.times()).toEqual([0, 1_000]);
  });

  test('B056 are cancelled each and every time', async () => {
    const body = watchedBody(['x']);
    const world = createWorld({
      script: [{ status: 502, body: body.open }],
      policy: { attempts: 9, totalMs: 50_000, backoff: constant(200) },
    });
    const response = await world.serve();
    expect(world.network.sent).toHaveLength(9);
    expect([body.opened(), body.cancelled()]).toEqual([9, 8]);
    await response.body?.cancel();
    expect(body.cancelled()).toBe(9);
  });

  test('are cancelled as soon as they are too large', async () => {
    const body = watchedBody(Array.from({ length: 10 }, () => 'x'.repeat(40_000)));
    const world = createWorld({ script: [{ status: 503, body: body.open }, 200] });
    await world.serve();
    expect(body.cancelled()).toBe(1);
    // Two chunks are too many; a stream that is read twice asks for one more ahead.
    expect(body.pulled()).toBeLessThanOrEqual(120_000);
    expect(world.time.elapsed()).toBe(1_000);
  });

  test('a cancel that fails is ignored', async () => {
    const failing = () =>
      new ReadableStream<Uint8Array>({
        pull: () => {},
        cancel: () => Promise.reject(new Error('cannot be cancelled')),
      });
    const world = createWorld({ script: [{ status: 503, body: failing }, 200] });
    expect((await world.serve()).status).toBe(200);
    expect(world.faults).toEqual([]);
  });

  test('a cancel that never ends is not waited for', async () => {
    const hanging = () => new ReadableStream<Uint8Array>({ pull: () => {}, cancel: () => new Promise(() => {}) });
    const world = createWorld({ script: [{ status: 503, body: hanging }, 200] });
    await world.serve();
    expect(world.network.times()).toEqual([0, 1_000]);
  });

  test('an answer whose body broke off is still the last answer', async () => {
    const broken = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('half'));
          controller.error(new TypeError('cut'));
        },
      });
    const world = createWorld({ script: [{ status: 503, headers: { 'X-Why': 'busy' }, body: broken }, 'reset'] });
    const response = await world.serve();
    expect([response.status, response.headers.get('X-Why')]).toEqual([503, 'busy']);
    expect(world.faults).toEqual([]);
  });

  test('a body of another reader is left alone', async () => {
    const world = createWorld({
      script: [503, 200],
      prepare(response) {
        if (response.status === 503) response.body?.getReader();
        return response;
      },
    });
    expect((await world.serve()).status).toBe(200);
    expect(world.faults).toEqual([]);
  });

  test('an answer without a body is kept as it is', async () => {
    const world = createWorld({ script: [{ status: 503, body: null }, 'reset'] });
    const response = await world.serve();
    expect(response).toBe(world.network.sent[0]?.response);
  });

  test('B058 an answer that is delivered is neither cloned nor read', async () => {
    const body = watchedBody(Array.from({ length: 20 }, () => 'x'.repeat(1_048_576)));
    const world = createWorld({ script: [503, { status: 200, body: body.open }] });
    const response = await world.serve();
    expect(body.pulled()).toBe(0);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(body.pulled()).toBeLessThanOrEqual(2 * 1_048_576);
  });
});

describe('steps', () => {
  test('nothing but its attempt is told of a first-try success', async () => {
    for (const script of [[200], [404]]) {
      const world = createWorld({ script });
      await world.serve();
      expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
      expect(world.kept).toEqual([]);
    }
  });

  test('a recovery, in order', async () => {
    const world = createWorld({ script: ['reset', { status: 503, headers: { 'Retry-After': '2' } }, 200] });
    await world.serve();
    expect(world.steps).toEqual([
      { at: 0, type: 'attempt' },
      {
        at: 0,
        type: 'retry-scheduled',
        attempt: 1,
        outcome: { kind: 'network-error' },
        decision: { do: 'retry', reason: 'network-error', delayMs: 500, by: 'backoff' },
      },
      { at: 500, type: 'attempt' },
      {
        at: 500,
        type: 'retry-scheduled',
        attempt: 2,
        outcome: {
          kind: 'response',
          status: 503,
          time: { retryAfter: '2', date: null, age: null, rateLimit: null },
          fresh: false,
        },
        decision: { do: 'retry', reason: 'status', delayMs: 2_000, by: 'retry-after' },
      },
      { at: 2_500, type: 'attempt' },
      { at: 2_500, type: 'recovered', attempts: 3, status: 200 },
    ]);
  });

  test.each<{ name: string; options: WorldOptions; reason: string; attempts: number; status: number | undefined }>([
    { name: 'attempts', options: { script: [503] }, reason: 'attempts', attempts: 4, status: 503 },
    {
      name: 'attempts, never an answer',
      options: { script: ['reset'] },
      reason: 'attempts',
      attempts: 4,
      status: undefined,
    },
    {
      name: 'deadline',
      options: { script: [503], policy: { totalMs: 2_000 } },
      reason: 'deadline',
      attempts: 2,
      status: 503,
    },
    { name: 'budget', options: { script: [503], budget: { capacity: 0 } }, reason: 'budget', attempts: 1, status: 503 },
    {
      name: 'retry-after',
      options: { script: [{ status: 429, headers: { 'Retry-After': '99' } }] },
      reason: 'retry-after',
      attempts: 1,
      status: 429,
    },
    {
      name: 'offline',
      options: { script: ['reset'], isOnline: () => false },
      reason: 'offline',
      attempts: 0,
      status: undefined,
    },
  ])('gave up: $name', async ({ options, reason, attempts, status }) => {
    const world = createWorld(options);
    await world.serve().catch(() => {});
    expect(world.steps.at(-1)).toMatchObject({ type: 'gave-up', reason, attempts, status });
    expect(types(world.steps).filter((type) => type === 'gave-up')).toHaveLength(1);
    // One that failed while the device was offline was launched, and does not count.
    const launched = reason === 'offline' ? 1 : attempts;
    expect(types(world.steps).filter((type) => type === 'attempt')).toHaveLength(launched);
  });

  test('what a step says can be told to a page', async () => {
    const world = createWorld({ script: ['reset', 503, 425, 200] });
    await world.serve();
    expect(structuredClone(world.steps)).toEqual(world.steps);
  });

  test('a wait keeps the worker alive until its price is stored', async () => {
    const world = createWorld({ script: [503, 200] });
    const answer = world.start();
    await world.time.settle();
    expect(world.kept).toHaveLength(1);
    let written = false;
    void world.kept[0]?.then(() => {
      written = true;
    });
    await world.time.advance(400);
    expect(written).toBe(false);
    await world.time.advance(600);
    expect(written).toBe(true);
    expect(world.store.stored.size).toBe(1);
    await world.time.until(answer);
  });
});

describe('many at once', () => {
  test('B051 the count of attempts is each request’s own', async () => {
    const world = createWorld({
      script: (request, _earlier) => {
        const seen = (hits.get(request.url) ?? 0) + 1;
        hits.set(request.url, seen);
        return seen === 1 ? 503 : { body: request.url };
      },
      policy: { attempts: 2 },
    });
    const hits = new Map<string, number>();
    const urls = Array.from({ length: 10 }, (_, index) => `https://app.test/api/items?page=${index}`);
    const answers = Promise.all(urls.map((url) => world.start({ request: new Request(url) })));
    const bodies = await Promise.all((await world.time.until(answers)).map((response) => response.text()));
    expect(bodies).toEqual(urls);
    expect([...hits.values()]).toEqual(urls.map(() => 2));
  });

  test('row 12: 600 requests with different fates do not touch each other', { timeout: 30_000 }, async () => {
    const world = createWorld({
      script: (request) => {
        const { searchParams } = new URL(request.url);
        const seen = (hits.get(request.url) ?? 0) + 1;
        hits.set(request.url, seen);
        const failures = Number(searchParams.get('failures'));
        const body = `${searchParams.get('id')} at ${seen}`;
        const afterMs = Number(searchParams.get('id')) % 37;
        if (seen <= failures)
          return Number(searchParams.get('id')) % 2 === 0 ? { status: 502, body, afterMs } : { reset: true, afterMs };
        return { body, afterMs };
      },
      budget: { capacity: 10_000 },
    });
    const hits = new Map<string, number>();
    const requests = Array.from({ length: 600 }, (_, id) => ({ id, failures: id % 6 }));
    const answers = Promise.allSettled(
      requests.map(({ id, failures }) =>
        world.start({ request: new Request(`https://app.test/api/items?id=${id}&failures=${failures}`) }),
      ),
    );
    const settled = await world.time.until(answers);
    for (const [id, result] of settled.entries()) {
      const failures = id % 6;
      const attempts = Math.min(failures + 1, 4);
      expect(hits.get(`https://app.test/api/items?id=${id}&failures=${failures}`)).toBe(attempts);
      if (failures >= 4 && id % 2 === 1) {
        expect(result.status).toBe('rejected');
      } else {
        if (result.status !== 'fulfilled') throw result.reason;
        expect(result.value.status).toBe(failures >= 4 ? 502 : 200);
        expect(await result.value.text()).toBe(`${id} at ${attempts}`);
      }
    }
    expect(world.sleeper.pending()).toBe(0);
    expect(world.engine.ledger.keptBytes).toBe(0);
    expect(world.faults).toEqual([]);
  });
});

describe('the budget', () => {
  const key = { origin: 'https://app.test', group: 'data' };
  const tokens = (world: ReturnType<typeof createWorld>) =>
    world.book.status().origins.find(({ group }) => group === 'data')?.tokens ?? 'full';

  test('a retry is paid for when its wait begins, and gets its price back when it succeeds', async () => {
    const world = createWorld({ script: [503, 503, 200], budget: { refillPerSecond: 0 } });
    const answer = world.start();
    await world.time.advance(999);
    expect(tokens(world)).toBe(19);
    await world.time.advance(1);
    expect(tokens(world)).toBe(18);
    await world.time.until(answer);
    expect(tokens(world)).toBe(19);
  });

  test('a failed request costs its retries', async () => {
    const world = createWorld({ script: [503], budget: { refillPerSecond: 0 } });
    await world.serve();
    expect(tokens(world)).toBe(17);
  });

  test('a first-try success earns a fifth of a retry', async () => {
    const script: Answer[] = [503, 503, 503, 503, 200, 404];
    const world = createWorld({ script, budget: { refillPerSecond: 0 } });
    await world.serve();
    await world.serve();
    expect(tokens(world)).toBeCloseTo(17.2, 9);
    await world.serve();
    expect(tokens(world)).toBeCloseTo(17.4, 9);
  });

  test('429 and 503 have a price of their own', async () => {
    for (const [status, left] of [
      [429, 15],
      [503, 15],
      [502, 18],
    ] as const) {
      const world = createWorld({
        script: [status],
        policy: { attempts: 2 },
        budget: { refillPerSecond: 0, throttledCost: 5, retryCost: 2 },
      });
      await world.serve();
      expect(tokens(world)).toBe(left);
    }
  });

  test('B077 waiting retries count: of ten that fail together two are repeated', async () => {
    const world = createWorld({ script: [503], policy: { attempts: 2 }, budget: { capacity: 2, refillPerSecond: 0 } });
    const answers = Promise.all(Array.from({ length: 10 }, () => world.start()));
    await world.time.settle();
    expect(types(world.steps).filter((type) => type === 'retry-scheduled')).toHaveLength(2);
    await world.time.until(answers);
    expect(world.network.sent).toHaveLength(12);
    expect(types(world.steps).filter((type) => type === 'gave-up')).toHaveLength(10);
  });

  test('its end is told once, and once more only after it was not empty', async () => {
    const world = createWorld({ script: [502], policy: { attempts: 2 }, budget: { capacity: 1 } });
    for (let request = 0; request < 5; request += 1) await world.serve();
    expect(types(world.steps).filter((type) => type === 'budget-exhausted')).toHaveLength(1);
    await world.time.advance(10_000);
    await world.serve();
    await world.serve();
    expect(types(world.steps).filter((type) => type === 'budget-exhausted')).toHaveLength(2);
  });

  test('B074 what failures used up time pays back', async () => {
    const world = createWorld({ script: [502, 502, 502, 502, 200], policy: { attempts: 2 }, budget: { capacity: 1 } });
    await world.serve();
    await world.serve();
    expect(world.network.sent).toHaveLength(3);
    await world.time.advance(10_000);
    expect((await world.serve()).status).toBe(200);
    expect(world.network.sent).toHaveLength(5);
  });

  test('groups pay apart', async () => {
    const world = createWorld({ script: [502], policy: { attempts: 2 }, budget: { capacity: 1, refillPerSecond: 0 } });
    await world.serve({ group: 'data' });
    await world.serve({ group: 'data' });
    await world.serve({ group: 'asset' });
    expect(world.network.sent).toHaveLength(5);
  });

  test('a budget that is empty delivers what there is at once', async () => {
    const world = createWorld({ script: [503, 200], budget: { capacity: 0 } });
    const response = await world.serve();
    expect(response).toBe(world.network.sent[0]?.response);
    expect(world.time.elapsed()).toBe(0);
  });

  test.each([
    { name: 'in time: it is heard', loadMs: 15, sent: 1, elapsedMs: 15 },
    { name: 'late: the first attempt waits 20 ms, a retry for all of it', loadMs: 300, sent: 1, elapsedMs: 300 },
  ])('a stored budget that comes $name', async ({ loadMs, sent, elapsedMs }) => {
    const time = createVirtualTime();
    const empty = { origin: 'https://app.test', group: 'data', budget: { tokens: 0, at: time.now() } };
    const store = createMemoryStore(
      (operation) => (operation === 'load' ? time.after(loadMs) : undefined),
      new Map([['https://app.test data', empty]]),
    );
    const world = createWorld({ script: [502], policy: { attempts: 2 }, budget: { refillPerSecond: 0 }, time, store });
    await world.serve();
    expect(world.network.sent).toHaveLength(sent);
    expect(time.elapsed()).toBe(elapsedMs);
  });

  test('B073 a stored zero is a zero', async () => {
    const world = createWorld({ script: [503], budget: { refillPerSecond: 0 } });
    world.book.record(key, { kind: 'retry-reserved', at: world.time.now(), cost: 20 });
    await world.time.advance(1_000);
    const next = createWorld({ script: [503], budget: { refillPerSecond: 0 }, store: world.store });
    await next.serve();
    expect(next.network.sent).toHaveLength(1);
    expect(next.steps.at(-1)).toMatchObject({ reason: 'budget' });
  });
});
