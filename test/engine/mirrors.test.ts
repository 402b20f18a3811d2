import { describe, expect, test } from 'vitest';
import { serve } from '../../src/engine/serve.ts';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { createWorld, NAVIGATION, URL_OF_ITEMS, type World, type WorldOptions } from '../support/engine-world.ts';
import type { Answer } from '../support/scripted-network.ts';

const MIRRORS = ['https://b.test', 'https://c.test'];
const OWN = 'https://app.test';

const mirrored = ({ policy, ...rest }: WorldOptions = {}): World =>
  createWorld({ ...rest, policy: { mirrors: MIRRORS, ...policy } });

/** Answers by origin, each in turn; the last one repeats. */
const byOrigin = (answers: Record<string, readonly Answer[]>) => {
  const asked = new Map<string, number>();
  return (request: Request): Answer => {
    const { origin } = new URL(request.url);
    const earlier = asked.get(origin) ?? 0;
    asked.set(origin, earlier + 1);
    return answers[origin]?.[earlier] ?? answers[origin]?.at(-1) ?? 200;
  };
};

const originsOf = (world: World): string[] => world.network.sent.map(({ request }) => new URL(request.url).origin);

const open = (world: World, origin: string): void => {
  const at = world.time.now();
  for (const group of ['data']) world.book.record({ origin, group }, { kind: 'request-failed', at, launchedAt: at });
};
const OPENS = { failures: 1, window: 1_000, attemptsDivisor: 1 };

describe('the origins take turns', () => {
  test('row 48: after a lost connection the next one is asked, with path and query', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'] }) });
    const response = await world.serve({ request: new Request(`${URL_OF_ITEMS}?a=1`) });
    expect(response.status).toBe(200);
    expect(world.network.sent.map(({ request }) => request.url)).toEqual([
      'https://app.test/api/items?a=1',
      'https://b.test/api/items?a=1',
    ]);
    expect(world.steps).toContainEqual(
      expect.objectContaining({ type: 'retry-scheduled', attempt: 1, mirror: 'https://b.test' }),
    );
  });

  test('row 48: attempts rise to the number of origins, and each is asked', async () => {
    const mirrors = ['https://b.test', 'https://c.test', 'https://d.test', 'https://e.test'];
    const world = mirrored({ script: ['reset'], policy: { mirrors, attempts: 1, totalMs: 50_000 } });
    await world.serve().catch(() => {});
    expect(originsOf(world)).toEqual([OWN, ...mirrors]);
  });

  test('row 48: at most ten because of them, and no fewer than were asked for', async () => {
    const mirrors = Array.from({ length: 15 }, (_, index) => `https://m${index}.test`);
    const quick = { backoff: { kind: 'constant', delayMs: 1 } } as const;
    const many = mirrored({ script: ['reset'], policy: { mirrors, ...quick } });
    await many.serve().catch(() => {});
    expect(many.network.sent).toHaveLength(10);
    const more = mirrored({ script: ['reset'], policy: { attempts: 12, ...quick } });
    await more.serve().catch(() => {});
    expect(more.network.sent).toHaveLength(12);
  });

  test('after the last the first is asked again', async () => {
    const world = mirrored({ script: ['reset'], policy: { attempts: 5, totalMs: 50_000 } });
    await world.serve().catch(() => {});
    expect(originsOf(world)).toEqual([OWN, ...MIRRORS, OWN, MIRRORS[0]]);
  });

  test('chosen statuses only', async () => {
    const script = () => 503;
    const all = mirrored({ script, policy: { attempts: 3 } });
    await all.serve();
    expect(originsOf(all)).toEqual([OWN, ...MIRRORS]);
    const chosen = mirrored({ script, policy: { attempts: 3, mirrorStatuses: [502] } });
    await chosen.serve();
    expect(originsOf(chosen)).toEqual([OWN, OWN, OWN]);
  });

  test('a slow one is raced by the next', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['hang'] }) });
    expect((await world.serve()).status).toBe(200);
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
    // Another URL is another entry of the cache, so there is nothing to go around.
    expect(world.network.sent[1]?.init?.cache).toBeUndefined();
  });

  test('a final answer of a mirror is the answer', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'], 'https://b.test': [404] }) });
    expect((await world.serve()).status).toBe(404);
  });
});

describe('which requests', () => {
  test.each<{ name: string; facts?: Partial<RequestFacts>; request?: RequestInit }>([
    { name: 'a navigation', facts: NAVIGATION },
    { name: 'a worker', facts: { destination: 'worker' } },
    { name: 'integrity without CORS', facts: { mode: 'no-cors', choosy: true } },
    { name: 'a range without CORS', facts: { mode: 'no-cors', range: true } },
    { name: 'mode same-origin', facts: { mode: 'same-origin' } },
    { name: 'PUT', request: { method: 'PUT' } },
    { name: 'OPTIONS', request: { method: 'OPTIONS' } },
  ])('not $name', async ({ facts = {}, request = {} }) => {
    const world = mirrored({ script: ['reset', 200] });
    await world.serve({ facts, request: new Request(URL_OF_ITEMS, request) });
    expect(originsOf(world)).toEqual([OWN, OWN]);
  });

  test.each([
    { destination: 'image', mode: 'no-cors' },
    { destination: 'script', mode: 'cors' },
    { destination: '', mode: 'cors' },
  ])('$destination in mode $mode', async (facts) => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'] }) });
    await world.serve({ facts });
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
  });

  test('a mirror that is the origin itself is none', async () => {
    const world = mirrored({ script: ['reset'], policy: { mirrors: [OWN], attempts: 2 } });
    await world.serve().catch(() => {});
    expect(originsOf(world)).toEqual([OWN, OWN]);
  });
});

describe('what a mirror sees', () => {
  const SECRETS = {
    Authorization: 'Bearer s',
    'Idempotency-Key': 'k',
    'X-Api-Key': 'k',
    'X-CSRF-Token': 't',
    'X-Session-Id': 's',
    'X-Secret': 's',
  };
  const ask = async (policy: WorldOptions['policy'], init: RequestInit = {}) => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'] }), ...(policy ? { policy } : {}) });
    const request = new Request(URL_OF_ITEMS, {
      headers: { ...SECRETS, Accept: 'application/json', 'X-Version': '2' },
      credentials: 'include',
      ...init,
    });
    await world.serve({ request });
    const [first, second] = world.network.sent;
    return { first: first?.request, second: second?.request };
  };

  test('no credentials, and no header of the app’s own', async () => {
    const { first, second } = await ask({});
    expect(second?.credentials).toBe('omit');
    // What a header of the app's own holds nobody can tell.
    expect(Object.fromEntries(second?.headers ?? [])).toEqual({ accept: 'application/json' });
    expect(first?.headers.get('Authorization')).toBe('Bearer s');
    expect(first?.credentials).toBe('include');
  });

  test('all of it, if the policy says so; a request without credentials has none there either', async () => {
    const { second } = await ask({ mirrorCredentials: true });
    expect(second?.credentials).toBe('include');
    expect(second?.headers.get('Authorization')).toBe('Bearer s');
    expect((await ask({ mirrorCredentials: true }, { credentials: 'omit' })).second?.credentials).toBe('omit');
  });

  test('whatever else it asks for stays', async () => {
    const init = {
      method: 'HEAD',
      cache: 'no-store',
      redirect: 'manual',
      integrity: 'sha256-x',
      keepalive: true,
      referrerPolicy: 'origin',
    } as const;
    expect((await ask({}, init)).second).toMatchObject(init);
  });
});

test('a mirror that is refused on this side is a lost connection, and the next is asked', async () => {
  const script = byOrigin({ [OWN]: ['reset'] });
  const world = mirrored({ script });
  const fetch: typeof world.ports.fetch = async (request, init) =>
    request.url.startsWith('https://b.test') ? Response.error() : world.ports.fetch(request, init);
  const engine = { ...world.engine, ports: { ...world.ports, fetch } };
  const response = await world.time.until(serve(world.call(), engine, (fault) => world.faults.push(fault)));
  expect([response.status, originsOf(world)]).toEqual([200, [OWN, 'https://c.test']]);
});

describe('each origin has its own guards', () => {
  test('one with an open circuit is passed over, at no attempt', async () => {
    const world = mirrored({ script: ['reset'], circuit: OPENS, policy: { attempts: 2 } });
    open(world, 'https://b.test');
    await world.serve().catch(() => {});
    expect(originsOf(world)[1]).toBe('https://c.test');
  });

  test('so is the page’s own origin, from the start', async () => {
    const world = mirrored({ script: [200], circuit: OPENS });
    open(world, OWN);
    await world.serve();
    expect(originsOf(world)).toEqual(['https://b.test']);
    expect(world.steps).toEqual([{ at: 0, type: 'attempt' }]);
  });

  test('one whose circuit has been open is tried by one request, and comes back', async () => {
    const world = mirrored({ script: [200], circuit: OPENS });
    open(world, OWN);
    await world.time.advance(3_000);
    await world.serve();
    expect(originsOf(world)).toEqual([OWN]);
    await world.serve();
    expect(originsOf(world)).toEqual([OWN, OWN]);
  });

  test('while one tries it, the others go elsewhere; a trial that fails costs its request no more than a retry', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: [{ reset: true, afterMs: 500 }] }), circuit: OPENS });
    open(world, OWN);
    await world.time.advance(3_000);
    const [trying, other] = [world.start(), world.start()];
    expect((await world.time.until(other)).url).toBe('');
    expect((await world.time.until(trying)).status).toBe(200);
    expect(originsOf(world)).toEqual([OWN, 'https://b.test', 'https://b.test']);
    expect(world.book.look({ origin: OWN, group: 'data' }).circuit.openUntil).toBeGreaterThan(world.time.now());
  });

  test('one that keeps failing is found out, though every request is answered elsewhere', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'] }), circuit: {} });
    for (let request = 0; request < 40; request += 1) {
      await world.serve();
      await world.time.advance(5_000);
    }
    expect(originsOf(world).filter((origin) => origin === OWN).length).toBeLessThan(25);
  });

  test('an answer counts for the server that gave it, not for the one that was to be asked next', async () => {
    const script = byOrigin({ [OWN]: [{ status: 200, afterMs: 10_200 }] });
    const world = mirrored({ script, budget: { refillPerSecond: 0 } });
    for (const origin of [OWN, 'https://b.test']) {
      world.book.record({ origin, group: 'data' }, { kind: 'retry-reserved', at: world.time.now(), cost: 5 });
    }
    await world.serve();
    expect(originsOf(world)).toEqual([OWN]);
    const tokens = Object.fromEntries(world.book.status().origins.map(({ origin, tokens }) => [origin, tokens]));
    expect(tokens).toEqual({ [OWN]: 15.2, 'https://b.test': 15 });
  });

  test('what a retry was paid with comes back to where it was taken', async () => {
    const script = byOrigin({ [OWN]: ['reset'], 'https://b.test': [{ status: 200, afterMs: 10_200 }] });
    const world = mirrored({ script, budget: { refillPerSecond: 0 } });
    expect((await world.serve()).status).toBe(200);
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
    expect(world.book.status().origins.map(({ origin, tokens }) => [origin, tokens])).not.toContainEqual([
      'https://b.test',
      19,
    ]);
  });

  test('a hold is that of the server that asked for it, whoever was asked last', async () => {
    const script = byOrigin({
      [OWN]: [{ status: 503, afterMs: 11_500, headers: { 'Retry-After': '9' } }],
      'https://b.test': [{ status: 200, afterMs: 3_000 }],
    });
    const world = mirrored({ script });
    await world.serve();
    const held = (origin: string) => world.book.look({ origin, group: 'data' }).hold.until;
    expect([held(OWN) > world.time.now(), held('https://b.test')]).toEqual([true, 0]);
  });

  test('an answer that a classifier wants again goes to the next', async () => {
    const world = mirrored({ script: [200], classify: async (_, attempt) => (attempt === 1 ? 'retry' : undefined) });
    await world.serve();
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
  });

  test('one that may not be asked is none', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'] }) });
    const call = { ...world.call(), mayAsk: (origin: string) => origin !== 'https://b.test' };
    await world.time.until(serve(call, world.engine, () => {}));
    expect(originsOf(world)).toEqual([OWN, 'https://c.test']);
  });

  test('what the browser has sent already is not sent elsewhere', async () => {
    const world = mirrored({ script: [200], circuit: OPENS });
    open(world, OWN);
    await world.time.until(serve({ ...world.call(), raced: true }, world.engine, () => {}));
    expect(originsOf(world)).toEqual([OWN]);
  });

  test('where all are open the page’s own is asked', async () => {
    const world = mirrored({ script: [200], circuit: OPENS });
    for (const origin of [OWN, ...MIRRORS]) open(world, origin);
    await world.serve();
    expect(originsOf(world)).toEqual([OWN]);
  });

  test('a Retry-After holds its own origin only', async () => {
    const script = byOrigin({ [OWN]: [{ status: 503, headers: { 'Retry-After': '10' } }] });
    const world = mirrored({ script });
    expect((await world.serve()).status).toBe(200);
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
    expect(world.network.times()[1]).toBeLessThanOrEqual(1_000);
    await world.serve();
    expect(originsOf(world)[2]).toBe('https://b.test');
  });

  test('neither does a RateLimit', async () => {
    const script = byOrigin({ [OWN]: [{ status: 503, headers: { RateLimit: '"a";r=0;t=9' } }] });
    const world = mirrored({ script });
    await world.serve();
    expect(originsOf(world)).toEqual([OWN, 'https://b.test']);
    expect(world.network.times()[1]).toBeLessThanOrEqual(1_000);
  });

  test('an over-long Retry-After does not end the request while others may answer', async () => {
    const script = byOrigin({ [OWN]: [{ status: 503, headers: { 'Retry-After': '3600' } }] });
    const world = mirrored({ script });
    expect((await world.serve()).status).toBe(200);
  });

  test('a retry is paid for where it goes, and what failed is held against its own', async () => {
    const world = mirrored({ script: ['reset'], policy: { attempts: 2 }, budget: { refillPerSecond: 0 }, circuit: {} });
    await world.serve().catch(() => {});
    const status = Object.fromEntries(world.book.status().origins.map(({ origin, tokens }) => [origin, tokens]));
    expect(status['https://b.test']).toBe(19);
    expect(status[OWN] ?? 20).toBe(20);
  });
});

describe('where every other server is busy', () => {
  const hold = (world: World, origin: string): void => {
    const at = world.time.now();
    const asked = { status: 503, path: '/', until: at + 60_000, scope: 'auto' } as const;
    world.book.record({ origin, group: 'data' }, { kind: 'hold-asked', at, ...asked });
  };

  test('one mirror is enough to stand in for its server', async () => {
    const world = mirrored({ policy: { mirrors: ['https://b.test'] } });
    hold(world, OWN);
    expect((await world.serve()).status).toBe(200);
    expect(originsOf(world)).toEqual(['https://b.test']);
  });

  test('the one that was asked last is asked again, and not the first', async () => {
    const world = mirrored({ script: byOrigin({ [OWN]: ['reset'], 'https://b.test': ['reset', 200] }) });
    const answer = world.start();
    await world.time.advance(100);
    for (const origin of [OWN, 'https://c.test']) hold(world, origin);
    expect((await world.time.until(answer)).status).toBe(200);
    expect(originsOf(world)).toEqual([OWN, 'https://b.test', 'https://b.test']);
  });
});
