import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOriginBook, type OriginKey } from '../../src/engine/origin-book.ts';
import { BUDGET_DEFAULTS, type BudgetPolicy } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS } from '../../src/policy/circuit.ts';
import type { OriginRecord } from '../../src/policy/origin-record.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';
import { recordOf } from '../support/records.ts';
import { createVirtualTime, START, type VirtualTime, virtualPorts } from '../support/virtual-time.ts';

const KEY: OriginKey = { origin: 'https://app.test', group: 'data' };
const ID = 'https://app.test data';
const FROZEN: BudgetPolicy = { ...BUDGET_DEFAULTS, refillPerSecond: 0 };
const never = new Promise<never>(() => {});

/** A worker's book on a store that others may share. */
function open(store: MemoryStore, time: VirtualTime = createVirtualTime(), budget: BudgetPolicy = FROZEN) {
  const problems: unknown[] = [];
  const sleeper = time.sleeper();
  const ports = virtualPorts(time, sleeper, () => never);
  const book = createOriginBook(store, ports, { budget, circuit: CIRCUIT_DEFAULTS }, (problem) =>
    problems.push(problem),
  );
  return {
    book,
    time,
    problems,
    sleeper,
    reserve: (cost = 1, key = KEY) => book.record(key, { kind: 'retry-reserved', at: time.now(), cost }),
    refund: (cost = 1, key = KEY) =>
      book.record(key, { kind: 'retry-refunded', at: time.now(), cost, launched: false, reservedAt: 0 }),
    credit: (key = KEY) => book.record(key, { kind: 'first-try-succeeded', at: time.now() }),
    tokens: (key = KEY) => book.status().origins.find(({ group }) => group === key.group)?.tokens,
  };
}

const record = (tokens: number, at = START, key = KEY): OriginRecord => recordOf(tokens, at, key);
const storedTokens = (store: MemoryStore, id = ID) => (store.stored.get(id) as OriginRecord | undefined)?.budget.tokens;
const holding = (...records: OriginRecord[]) =>
  new Map<string, unknown>(records.map((one) => [`${one.origin} ${one.group}`, one]));

describe('loading', () => {
  test('is done once, at once, and leaves no timer', async () => {
    const store = createMemoryStore(undefined, holding(record(3)));
    const { book, time, sleeper, tokens } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    expect(tokens()).toBe(3);
    expect(store.loads()).toBe(1);
    expect([time.elapsed(), sleeper.pending()]).toEqual([0, 0]);
  });

  test('nothing is written for nothing', async () => {
    const store = createMemoryStore(undefined, holding(record(3)));
    const { time } = open(store);
    await time.advance(60_000);
    expect(store.updates()).toBe(0);
  });

  test.each([
    { name: 'nothing that is a record', value: null },
    { name: 'a text', value: 'x' },
    { name: 'dates as texts', value: { ...KEY, budget: { tokens: 0, at: '2026-01-01' } } },
    { name: 'tokens that are not a number', value: { ...KEY, budget: { tokens: Number.NaN, at: START } } },
    { name: 'no bucket', value: { ...KEY } },
    { name: 'no origin', value: { group: 'data', budget: { tokens: 0, at: START } } },
  ])('a record that is broken is as none: $name', async ({ value }) => {
    const { book, time, problems } = open(createMemoryStore(undefined, new Map([[ID, value]])));
    await time.until(Promise.resolve(book.loading(20)));
    expect(book.affords(KEY, 20)).toBe(true);
    expect(problems).toEqual([]);
  });

  test('tokens are clamped, and a time in the future is now', async () => {
    const store = createMemoryStore(
      undefined,
      holding(
        record(99, START, { ...KEY, group: 'a' }),
        record(-5, START, { ...KEY, group: 'b' }),
        record(0, START + 3_600_000, { ...KEY, group: 'c' }),
      ),
    );
    const { book, time, tokens } = open(store, createVirtualTime(), BUDGET_DEFAULTS);
    await time.until(Promise.resolve(book.loading(20)));
    // A full one is nothing to tell.
    expect(tokens({ ...KEY, group: 'a' })).toBeUndefined();
    expect(tokens({ ...KEY, group: 'b' })).toBe(0);
    await time.advance(10_000);
    expect(tokens({ ...KEY, group: 'c' })).toBe(1);
  });

  test('time that passed while no worker ran pays', async () => {
    const store = createMemoryStore(undefined, holding(record(0, START - 50_000)));
    const { book, time } = open(store, createVirtualTime(), BUDGET_DEFAULTS);
    await time.until(Promise.resolve(book.loading(20)));
    expect([book.affords(KEY, 5), book.affords(KEY, 5.1)]).toEqual([true, false]);
  });

  test('late: nobody waits longer than 20 ms, and it counts when it comes', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore(
      async (operation) => {
        if (operation === 'load') await time.after(300);
      },
      holding(record(5)),
    );
    const { book, reserve, tokens, problems } = open(store, time);
    await time.until(Promise.resolve(book.loading(20)));
    expect(time.elapsed()).toBe(20);
    expect(book.affords(KEY, 20)).toBe(true);
    reserve(2);
    await time.advance(280);
    expect(tokens()).toBe(3);
    expect(book.status().storage).toBe('indexeddb');
    expect(problems).toEqual([]);
    await time.advance(1_000);
    expect(storedTokens(store)).toBe(3);
  });

  test('later than a write has begun: what is being written still counts', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore((operation) => time.after(operation === 'load' ? 600 : 400), holding(record(15)));
    const { reserve, tokens } = open(store, time);
    reserve(2);
    await time.advance(700);
    expect(tokens()).toBe(13);
    await time.advance(300);
    expect([storedTokens(store), tokens()]).toEqual([13, 13]);
  });

  test.each([
    {
      name: 'fails',
      before: () => {
        throw new Error('no database');
      },
      readyAt: 0,
      saidAt: 0,
    },
    { name: 'hangs', before: () => never, readyAt: 20, saidAt: 2_000 },
  ])('$name: everything works in memory, and it is said once', async ({ before, readyAt, saidAt }) => {
    const store = createMemoryStore(before);
    const { book, time, problems, reserve, tokens } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    expect(time.elapsed()).toBe(readyAt);
    reserve(20);
    expect(book.affords(KEY, 1)).toBe(false);
    await time.advance(saidAt - time.elapsed() - 1);
    expect(problems).toHaveLength(saidAt > 0 ? 0 : 1);
    await time.advance(1);
    expect(problems).toHaveLength(1);
    expect(book.status().storage).toBe('memory');
    reserve(1);
    await time.advance(60_000);
    expect(problems).toHaveLength(1);
    expect(tokens()).toBe(0);
  });

  test('a store that throws instead of rejecting is no difference', async () => {
    const broken = {
      load: () => {
        throw new Error('load');
      },
      update: () => {
        throw new Error('update');
      },
    };
    const { book, time, problems } = open({ ...createMemoryStore(), ...broken });
    await time.until(Promise.resolve(book.loading(20)));
    expect(problems).toHaveLength(1);
    expect(book.status().storage).toBe('memory');
  });
});

describe('writing', () => {
  test('waits half a second, and takes everything with it', async () => {
    const store = createMemoryStore();
    const { time, reserve } = open(store);
    reserve();
    await time.advance(300);
    reserve();
    reserve(1, { ...KEY, group: 'page' });
    await time.advance(199);
    expect(store.updates()).toBe(0);
    await time.advance(1);
    expect(store.updates()).toBe(1);
    expect([...store.stored.values()]).toEqual([
      record(18, START + 300),
      record(19, START + 300, { ...KEY, group: 'page' }),
    ]);
  });

  test('what only makes richer waits 10 s, or goes with the next retry', async () => {
    const store = createMemoryStore(undefined, holding(record(5)));
    const { book, time, credit, reserve } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    credit();
    await time.advance(9_999);
    expect(store.updates()).toBe(0);
    await time.advance(1);
    expect(storedTokens(store)).toBeCloseTo(5.2, 9);
    credit();
    await time.advance(1_000);
    reserve();
    await time.advance(500);
    expect([store.updates(), storedTokens(store)]).toEqual([2, 4.4]);
    await time.advance(60_000);
    expect(store.updates()).toBe(2);
  });

  test('a success in an origin that has no record costs nothing at all', async () => {
    const store = createMemoryStore();
    const { time, credit, sleeper, book } = open(store);
    await time.settle();
    const asked = sleeper.asked.length;
    for (let request = 0; request < 100; request += 1) credit();
    await time.advance(60_000);
    expect([store.updates(), sleeper.asked.length - asked, book.status().origins]).toEqual([0, 0, []]);
  });

  test('is put on top of what another worker wrote', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore();
    const [one, other] = [open(store, time), open(store, time)];
    one.reserve(3);
    other.reserve(4);
    await time.advance(500);
    expect(storedTokens(store)).toBe(13);
    // The later writer knows both.
    expect(Math.min(one.tokens() ?? 99, other.tokens() ?? 99)).toBe(13);
    one.reserve(1);
    await time.advance(500);
    expect([storedTokens(store), one.tokens()]).toEqual([12, 12]);
  });

  test('time is paid once, whoever writes it', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore(undefined, holding(record(0)));
    const [one, other] = [open(store, time, BUDGET_DEFAULTS), open(store, time, BUDGET_DEFAULTS)];
    await time.advance(100_000);
    one.reserve(1);
    await time.advance(500);
    other.reserve(1);
    await time.advance(500);
    // 10 tokens in 100 s, less 2; and the hundredths of the second after it.
    expect(storedTokens(store)).toBeCloseTo(8.05, 9);
  });

  test('time is paid once, also if another worker wrote after it happened', async () => {
    const budget = { ...BUDGET_DEFAULTS, refillPerSecond: 1 };
    const time = createVirtualTime();
    const stored = holding(record(5));
    const store = createMemoryStore(undefined, stored);
    const { book, reserve } = open(store, time, budget);
    await time.until(Promise.resolve(book.loading(20)));
    await time.advance(1_000);
    reserve(1);
    await time.advance(400);
    // Another worker has counted the time until now: 1.4 s, and spent 2.
    stored.set(ID, record(4.4, START + 1_400));
    await time.advance(100);
    expect(store.stored.get(ID)).toMatchObject({ budget: { at: START + 1_400 } });
    expect(storedTokens(store)).toBeCloseTo(3.4, 9);
  });

  test('keeps what happens while it is under way', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore(async (operation) => {
      if (operation === 'update') await time.after(400);
    });
    const { reserve, tokens } = open(store, time);
    reserve(1);
    await time.advance(600);
    reserve(2);
    expect(tokens()).toBe(17);
    await time.advance(350);
    expect([storedTokens(store), tokens()]).toEqual([19, 17]);
    await time.advance(5_000);
    expect([storedTokens(store), tokens()]).toEqual([17, 17]);
  });

  test('a slow write is not overtaken by the next one', async () => {
    const time = createVirtualTime();
    let running = 0;
    let most = 0;
    const store = createMemoryStore(async (operation) => {
      if (operation !== 'update') return;
      most = Math.max(most, ++running);
      await time.after(1_500);
      running -= 1;
    });
    const { reserve } = open(store, time);
    for (let round = 0; round < 5; round += 1) {
      reserve();
      await time.advance(600);
    }
    await time.advance(20_000);
    expect(most).toBe(1);
    expect(storedTokens(store)).toBe(15);
  });

  test('a record that is as a new one is deleted', async () => {
    const store = createMemoryStore();
    const { book, time, reserve, refund } = open(store);
    reserve();
    await time.advance(500);
    expect(store.stored.size).toBe(1);
    refund();
    await time.advance(500);
    expect(store.stored.size).toBe(0);
    expect(book.status().origins).toEqual([]);
  });

  test('a reserve that is refunded at once leaves nothing', async () => {
    const store = createMemoryStore();
    const { time, reserve, refund } = open(store);
    reserve();
    refund();
    await time.advance(1_000);
    expect(store.stored.size).toBe(0);
  });

  test('a bucket that time has filled is nothing to keep', async () => {
    const store = createMemoryStore();
    const { book, time, reserve } = open(store, createVirtualTime(), BUDGET_DEFAULTS);
    reserve();
    await time.advance(500);
    await time.advance(3_600_000);
    expect(book.status().origins.filter(({ tokens, capacity }) => tokens >= capacity)).toEqual([]);
  });

  test('S14 at most 200 records are stored', async () => {
    const store = createMemoryStore();
    const { time, reserve } = open(store);
    for (let origin = 0; origin < 250; origin += 1) reserve(1, { ...KEY, origin: `https://${origin}.test` });
    await time.advance(1_000);
    expect(store.stored.size).toBeLessThanOrEqual(200);
  });

  test('what made room for others is deleted from the store as well', async () => {
    const store = createMemoryStore();
    const { time, reserve } = open(store);
    for (let origin = 0; origin < 250; origin += 1) {
      reserve(1, { ...KEY, origin: `https://${origin}.test` });
      if (origin % 50 === 0) await time.advance(1_000);
    }
    await time.advance(1_000);
    expect(store.stored.size).toBe(200);
    // Least recently used go first.
    expect(store.stored.has('https://0.test data')).toBe(false);
    expect(store.stored.has('https://49.test data')).toBe(false);
    expect(store.stored.has('https://50.test data')).toBe(true);
    expect(store.stored.has('https://249.test data')).toBe(true);
  });

  test('what was used lately is not what makes room', async () => {
    const store = createMemoryStore();
    const { time, reserve } = open(store);
    const origin = (number: number) => ({ ...KEY, origin: `https://${number}.test` });
    for (let number = 0; number < 200; number += 1) reserve(1, origin(number));
    reserve(1, origin(0));
    reserve(1, origin(200));
    await time.advance(1_000);
    expect(store.stored.has('https://0.test data')).toBe(true);
    expect(store.stored.has('https://1.test data')).toBe(false);
  });

  test.each([
    {
      name: 'fails',
      fault: () => {
        throw new DOMException('full', 'QuotaExceededError');
      },
      saidAt: 500,
    },
    { name: 'hangs', fault: () => never, saidAt: 2_500 },
  ])('B112 $name: the budget goes on in memory, and it is said once', async ({ fault, saidAt }) => {
    const store = createMemoryStore((operation) => (operation === 'update' ? fault() : undefined), holding(record(10)));
    const { book, time, problems, reserve, tokens, sleeper } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    reserve(4);
    const written = book.written();
    await time.advance(saidAt);
    await time.until(written);
    expect(problems).toHaveLength(1);
    expect([book.status().storage, tokens()]).toEqual(['memory', 6]);
    for (let round = 0; round < 5; round += 1) {
      reserve(1);
      await time.advance(1_000);
    }
    expect(tokens()).toBe(1);
    expect(problems).toHaveLength(1);
    expect(store.updates()).toBe(1);
    // Nobody is kept waiting for the next try.
    await time.until(book.written());
    expect(time.elapsed()).toBe(saidAt + 5_000);
    expect(sleeper.pending()).toBe(1);
  });

  test('B112 a store that failed is tried again after 30 s, and then knows the poorer of both', async () => {
    let broken = true;
    const store = createMemoryStore(
      (operation) => {
        if (operation === 'update' && broken) throw new DOMException('busy', 'UnknownError');
      },
      holding(record(10)),
    );
    const { book, time, reserve, tokens } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    reserve(4);
    await time.advance(1_000);
    broken = false;
    reserve(1);
    const other: OriginKey = { ...KEY, group: 'asset' };
    store.stored.set('https://app.test asset', record(3, START, other));
    reserve(2, other);
    await time.advance(29_000);
    expect(book.status().storage).toBe('memory');
    await time.advance(1_000);
    expect(book.status().storage).toBe('indexeddb');
    expect([tokens(), storedTokens(store)]).toEqual([5, 5]);
    expect([tokens(other), storedTokens(store, 'https://app.test asset')]).toEqual([3, 3]);
    reserve(1);
    await time.advance(1_000);
    expect(storedTokens(store)).toBe(4);
  });

  test('what happens while the store is tried again is not lost', async () => {
    const time = createVirtualTime();
    let mode: 'broken' | 'slow' = 'broken';
    const store = createMemoryStore(async (operation) => {
      if (operation === 'update' && mode === 'broken') throw new DOMException('busy', 'UnknownError');
      if (operation === 'update') await time.after(500);
    });
    const { book, reserve, tokens } = open(store, time);
    reserve();
    await time.advance(1_000);
    mode = 'slow';
    reserve();
    await time.advance(29_600);
    for (let n = 0; n < 5; n++) reserve();
    const until = time.now() + 60_000;
    book.record(KEY, { kind: 'hold-asked', at: time.now(), status: 503, path: '/', until, scope: 'group' });
    await time.advance(3_000);
    expect([tokens(), book.look(KEY).hold.until, book.status().storage]).toEqual([13, until, 'indexeddb']);
    expect(store.stored.get(ID)).toMatchObject({ budget: { tokens: 13 }, hold: { until } });
  });

  test('a store that failed at the start is read when it is there again', async () => {
    let broken = true;
    const time = createVirtualTime();
    const until = time.now() + 300_000;
    const held = { ...record(20), hold: { until, paths: {} } };
    const store = createMemoryStore(() => {
      if (broken) throw new DOMException('busy', 'UnknownError');
    }, holding(held));
    const { book, reserve } = open(store, time);
    await time.advance(100);
    broken = false;
    reserve(1, { ...KEY, group: 'asset' });
    await time.advance(31_000);
    expect([book.look(KEY).hold.until, book.status().storage]).toEqual([until, 'indexeddb']);
  });

  test('what another worker tells during a write outlives it', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore((operation) => (operation === 'update' ? time.after(100) : undefined));
    const { book, reserve } = open(store, time);
    await time.until(Promise.resolve(book.loading(20)));
    reserve();
    await time.advance(550);
    const until = time.now() + 60_000;
    book.merge({ ...record(20, time.now()), hold: { until, paths: {} } });
    await time.advance(500);
    expect(book.look(KEY).hold.until).toBe(until);
  });

  test('a clock that is set back does not put the next try off', async () => {
    const time = createVirtualTime();
    let broken = true;
    const store = createMemoryStore((operation) => {
      if (operation === 'update' && broken) throw new DOMException('busy', 'UnknownError');
    });
    const { book, reserve } = open(store, time);
    reserve();
    await time.advance(1_000);
    broken = false;
    time.setClock(-3_600_000);
    reserve();
    await time.advance(31_000);
    expect(book.status().storage).toBe('indexeddb');
  });

  test('a record that somebody deletes fills no budget', async () => {
    const store = createMemoryStore(undefined, holding(record(10)));
    const { book, time, reserve, tokens } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    reserve(4);
    await time.advance(1_000);
    store.stored.clear();
    reserve(1);
    await time.advance(1_000);
    expect([tokens(), storedTokens(store)]).toEqual([5, 5]);
  });
});

describe('written', () => {
  test('is there at once if nothing is to be written', async () => {
    const { book, time } = open(createMemoryStore());
    await time.until(book.written());
    expect(time.elapsed()).toBe(0);
  });

  test('comes when what was recorded is stored', async () => {
    const time = createVirtualTime();
    const store = createMemoryStore(async (operation) => {
      if (operation === 'update') await time.after(70);
    });
    const { book, reserve } = open(store, time);
    reserve();
    await time.until(book.written());
    expect([time.elapsed(), store.stored.size]).toEqual([570, 1]);
  });

  test('is brought forward by a retry that follows a credit', async () => {
    const store = createMemoryStore(undefined, holding(record(5)));
    const { book, time, credit, reserve } = open(store);
    await time.until(Promise.resolve(book.loading(20)));
    credit();
    const written = book.written();
    reserve();
    await time.until(written);
    expect(time.elapsed()).toBe(500);
  });
});

describe('exhaustion', () => {
  test('is noticed once until the budget is not empty', () => {
    const { book, reserve, refund } = open(createMemoryStore());
    reserve(20);
    expect(book.affords(KEY, 1)).toBe(false);
    expect([book.noticesExhaustion(KEY), book.noticesExhaustion(KEY)]).toEqual([true, false]);
    expect(book.affords(KEY, 1)).toBe(false);
    expect(book.noticesExhaustion(KEY)).toBe(false);
    refund(5);
    expect(book.affords(KEY, 1)).toBe(true);
    reserve(5);
    expect(book.affords(KEY, 1)).toBe(false);
    expect(book.noticesExhaustion(KEY)).toBe(true);
  });

  test('is each group’s own', () => {
    const { book } = open(createMemoryStore());
    expect(book.noticesExhaustion(KEY)).toBe(true);
    expect(book.noticesExhaustion({ ...KEY, group: 'page' })).toBe(true);
    expect(book.noticesExhaustion({ ...KEY, origin: 'https://b.test' })).toBe(true);
  });

  test('a budget of nothing affords nothing', () => {
    const { book } = open(createMemoryStore(), createVirtualTime(), { ...FROZEN, capacity: 0 });
    expect([book.affords(KEY, 1), book.affords(KEY, 0)]).toEqual([false, true]);
  });

  test('B080 an idle hour at full capacity is not paid out later', async () => {
    const budget = { ...BUDGET_DEFAULTS, capacity: 5, refillPerSecond: 1 };
    const store = createMemoryStore(undefined, holding(record(5)));
    const { book, time, reserve } = open(store, createVirtualTime(), budget);
    await time.until(Promise.resolve(book.loading(20)));
    await time.advance(3_600_000);
    let granted = 0;
    for (let failure = 0; failure < 10; failure += 1) {
      if (!book.affords(KEY, 1)) continue;
      reserve();
      granted += 1;
      await time.advance(1);
    }
    expect(granted).toBe(5);
  });

  test('B081 many small refills are as one', async () => {
    const budget = { ...BUDGET_DEFAULTS, refillPerSecond: 1, successCredit: 0 };
    const { time, reserve, credit, tokens } = open(createMemoryStore(), createVirtualTime(), budget);
    reserve(20);
    for (let poll = 0; poll < 100; poll += 1) {
      await time.advance(100);
      credit();
    }
    expect(tokens()).toBeCloseTo(10, 6);
  });

  test('B078 after an idle time there is a budget', async () => {
    const { book, time, reserve } = open(createMemoryStore(), createVirtualTime(), BUDGET_DEFAULTS);
    reserve(20);
    expect(book.affords(KEY, 1)).toBe(false);
    await time.advance(600_000);
    expect(book.affords(KEY, 20)).toBe(true);
  });
});

describe('two workers on one store', () => {
  test('B083 50 retries at once in each of two: all are accounted for', async () => {
    const budget = { ...FROZEN, capacity: 100 };
    const time = createVirtualTime();
    const store = createMemoryStore(() => time.after(7));
    const workers = [open(store, time, budget), open(store, time, budget)];
    let spent = 0;
    for (let failure = 0; failure < 50; failure += 1) {
      for (const { book, reserve } of workers) {
        if (!book.affords(KEY, 1)) continue;
        reserve();
        spent += 1;
      }
    }
    await time.advance(5_000);
    expect(spent).toBe(100);
    expect(storedTokens(store)).toBe(0);
  });

  const step = fc.record({
    worker: fc.nat({ max: 1 }),
    what: fc.constantFrom('reserve' as const, 'refund' as const, 'credit' as const, 'wait' as const),
    ms: fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 3_000 })),
  });

  test('whatever they do in whatever order, tokens stay within their bounds and no spend is lost', {
    timeout: 30_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.nat({ max: 900 }),
        fc.nat({ max: 30 }),
        async (steps, latencyMs, loadMs) => {
          const budget = { ...FROZEN, capacity: 1_000, successCredit: 0.25 };
          const time = createVirtualTime();
          const store = createMemoryStore(
            (operation) => time.after(operation === 'load' ? loadMs : latencyMs),
            holding(record(500)),
          );
          const workers = [open(store, time, budget), open(store, time, budget)];
          // No step before the stored record is known, or a credit of nothing would be lost on purpose.
          await time.advance(loadMs);
          let expected = 500;
          const reserved = [0, 0];
          for (const { worker, what, ms } of steps) {
            const one = workers[worker];
            if (one === undefined) throw new Error('there are two workers');
            if (what === 'wait') await time.advance(ms);
            if (what === 'reserve') {
              one.reserve(2);
              reserved[worker] = (reserved[worker] ?? 0) + 1;
              expected -= 2;
            }
            if (what === 'refund' && (reserved[worker] ?? 0) > 0) {
              one.refund(2);
              reserved[worker] = (reserved[worker] ?? 0) - 1;
              expected += 2;
            }
            if (what === 'credit') {
              one.credit();
              expected += 0.25;
            }
            for (const { tokens } of workers) {
              expect(tokens() ?? 500).toBeGreaterThanOrEqual(0);
              expect(tokens() ?? 500).toBeLessThanOrEqual(1_000);
            }
          }
          await time.advance(60_000);
          expect(storedTokens(store) ?? 1_000).toBeCloseTo(expected, 6);
          for (const { problems, sleeper } of workers) {
            expect(problems).toEqual([]);
            expect(sleeper.pending()).toBe(0);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('with little money and running time, tokens are never negative and never above the capacity', {
    timeout: 30_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.nat({ max: 900 }),
        async (steps, latencyMs) => {
          const budget = { ...BUDGET_DEFAULTS, capacity: 3, refillPerSecond: 0.7 };
          const time = createVirtualTime();
          const store = createMemoryStore(() => time.after(latencyMs));
          const workers = [open(store, time, budget), open(store, time, budget)];
          const within = (tokens: number | undefined) => tokens === undefined || (tokens >= 0 && tokens <= 3);
          for (const { worker, what, ms } of steps) {
            const one = workers[worker];
            if (what === 'wait') await time.advance(ms);
            if (what === 'reserve') one?.reserve();
            if (what === 'refund') one?.refund();
            if (what === 'credit') one?.credit();
            for (const { tokens } of workers) expect(tokens()).toSatisfy(within);
            expect(storedTokens(store)).toSatisfy(within);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
