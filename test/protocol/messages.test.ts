import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, type LayerEvent } from '../../src/protocol/index.ts';
import {
  type PageMessage,
  parsePageMessage,
  parseWorkerMessage,
  toMessage,
  type WorkerMessage,
} from '../../src/protocol/messages.ts';
import type { OutboxItem } from '../../src/protocol/outbox.ts';
import type { LayerStatus } from '../../src/protocol/status.ts';
import { PROTOCOL } from '../../src/protocol/version.ts';

const about = {
  id: 'e7c1',
  at: 1_000,
  method: 'GET',
  url: 'https://app.test/api/items',
  group: 'data',
  elapsedMs: 20,
} as const;
const kept = { at: 1_000, id: 'o1', outbox: 'orders', method: 'POST', url: 'https://app.test/api/orders' } as const;
const EVENTS: LayerEvent[] = [
  { type: 'retry-scheduled', ...about, attempt: 1, delayMs: 500, cause: 'status', status: 503, by: 'backoff' },
  { type: 'retry-scheduled', ...about, attempt: 1, delayMs: 500, cause: 'network-error', by: 'retry-after' },
  { type: 'hedge-launched', ...about, attempt: 2 },
  { type: 'resumed', ...about, resumptions: 1, fromByte: 65_536 },
  { type: 'waiting', ...about, cause: 'offline' },
  { type: 'released', ...about, cause: 'offline' },
  { type: 'recovered', ...about, attempts: 2, status: 200 },
  { type: 'gave-up', ...about, attempts: 4, lastStatus: 503, reason: 'attempts' },
  { type: 'gave-up', ...about, attempts: 4, reason: 'offline' },
  { type: 'budget-exhausted', at: 1_000, origin: 'https://app.test', group: 'data' },
  { type: 'hold-started', at: 1_000, origin: 'https://app.test', group: 'data', until: 4_000, path: '/api' },
  { type: 'hold-ended', at: 4_000, origin: 'https://app.test', group: 'data' },
  { type: 'circuit-changed', at: 1_000, origin: 'https://app.test', group: 'data', from: 'closed', to: 'open' },
  { type: 'queued', ...kept },
  { type: 'queue-sent', ...kept, status: 201, sends: 2 },
  { type: 'queue-failed', ...kept, reason: 'refused', status: 422, sends: 1 },
  { type: 'queue-failed', ...kept, id: '', reason: 'not-stored', sends: 0 },
];
const ITEM: OutboxItem = {
  id: 'o1',
  outbox: 'orders',
  method: 'POST',
  url: 'https://app.test/api/orders',
  bytes: 3,
  state: 'waiting',
  queuedAt: 1_000,
  expiresAt: 9_000,
  sends: 0,
  notBefore: 1_000,
};
const STATUS: LayerStatus = {
  version: '0.1.0',
  storage: 'indexeddb',
  counters: {
    untold: 0,
    requests: 3,
    attempts: 4,
    retries: 0,
    hedges: 0,
    amplification: 1,
    recovered: 1,
    gaveUp: { attempts: 1 },
  },
  origins: [
    {
      origin: 'https://app.test',
      group: 'data',
      tokens: 19,
      capacity: 20,
      circuit: 'closed',
      openUntil: 0,
      heldUntil: 0,
      heldPaths: {},
      parked: 0,
    },
  ],
};

const pageMessages: PageMessage[] = [
  { kind: 'hello', version: '0.1.0' },
  { kind: 'status' },
  { kind: 'beat' },
  { kind: 'online' },
  { kind: 'retry-now' },
  { kind: 'retry-now', origin: 'https://app.test' },
  { kind: 'abort', id: 'a-1' },
  { kind: 'call', id: 'c-1', url: 'https://app.test/x', method: 'GET', asked: '~sf=a1' },
  { kind: 'withdraw', id: 'c-1' },
  { kind: 'pause' },
  { kind: 'resume' },
  { kind: 'retire' },
  { kind: 'reset' },
  { kind: 'reset', origin: 'https://app.test' },
  { kind: 'outbox', wish: { do: 'list', id: 'o1', outbox: 'orders', owner: 'ann' } },
];
const workerMessages: WorkerMessage[] = [
  { kind: 'welcome', version: '0.1.0', nonce: 'nonce', fragments: true, waiting: 0 },
  { kind: 'welcome', version: '0.1.0', nonce: '', fragments: false, waiting: 2 },
  { kind: 'done' },
  { kind: 'status', status: STATUS },
  { kind: 'outbox', items: [ITEM, { ...ITEM, state: 'sent', status: 201, answer: 'taken' }], waiting: 1 },
  { kind: 'outbox', items: [], waiting: 0 },
  ...EVENTS.map((event): WorkerMessage => ({ kind: 'event', seq: 'k3-1', event })),
];

/** As the other side receives it. */
const sent = <T>(message: T): T => structuredClone(message);

describe('what one side says the other understands', () => {
  test.each(pageMessages)('page: $kind', (message) => {
    expect(parsePageMessage(sent(toMessage(message)))).toStrictEqual(message);
  });

  test.each(workerMessages)('worker: $kind', (message) => {
    expect(parseWorkerMessage(sent(toMessage(message)))).toEqual(message);
  });

  test('there is an example here of every event', () => {
    expect(new Set(EVENTS.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
  });

  test('a message carries our name, and that alone is added', () => {
    expect(toMessage({ kind: 'status' })).toEqual({ steadfetch: PROTOCOL, kind: 'status' });
  });

  test('fields that a later version adds are no trouble', () => {
    const hello = { ...toMessage({ kind: 'hello', version: '0.2.0' }), more: 1 };
    expect(parsePageMessage(hello)).toEqual({ kind: 'hello', version: '0.2.0' });
    const recovered = { type: 'recovered', ...about, attempts: 2, status: 200 } as const;
    const event: LayerEvent & { more: number } = { ...recovered, more: 1 };
    expect(parseWorkerMessage(toMessage({ kind: 'event', seq: '1', event }))).toMatchObject({ kind: 'event', event });
  });
});

const readers = [
  { name: 'the worker', parse: parsePageMessage },
  { name: 'the page', parse: parseWorkerMessage },
];

describe.each(readers)('$name', ({ parse }) => {
  test.each([
    undefined,
    null,
    true,
    0,
    'skipWaiting',
    'steadfetch',
    Symbol('steadfetch'),
    [],
    {},
    { type: 'SKIP_WAITING' },
    { kind: 'hello', version: '0.1.0' },
    { kind: 'status' },
    new Date(0),
    new Map([['steadfetch', 1]]),
  ])('leaves %o to whom it belongs', (data) => {
    expect(parse(data)).toBe('foreign');
  });

  test.each([
    { steadfetch: PROTOCOL },
    { steadfetch: PROTOCOL, kind: 'nonsense' },
    { steadfetch: PROTOCOL, kind: null },
    { steadfetch: PROTOCOL, kind: ['status'] },
    { steadfetch: PROTOCOL + 1, kind: 'status' },
    { steadfetch: String(PROTOCOL), kind: 'status' },
    { steadfetch: undefined, kind: 'status' },
    { steadfetch: PROTOCOL, kind: 'hello' },
    { steadfetch: PROTOCOL, kind: 'hello', version: 1 },
    { steadfetch: PROTOCOL, kind: '__proto__' },
  ])('does not understand %o', (data) => {
    expect(parse(data)).toBe('malformed');
  });

  test('never throws, whatever comes', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (data) => {
        const ours = typeof data === 'object' && data !== null && 'steadfetch' in data;
        expect(parse(data)).toBe(ours ? 'malformed' : 'foreign');
      }),
      { numRuns: 2_000 },
    );
  });

  test('never throws at something that is nearly ours, and gives only what it has checked', () => {
    const kind = fc.oneof(fc.constantFrom('hello', 'status', 'welcome', 'event'), fc.anything());
    const version = fc.oneof(fc.string(), fc.anything());
    const event = fc.oneof(
      fc.record({ type: fc.oneof(fc.constantFrom(...EVENT_TYPES), fc.anything()) }),
      fc.anything(),
    );
    const nearly = fc.record(
      {
        steadfetch: fc.oneof(fc.constant(PROTOCOL), fc.anything()),
        kind,
        version,
        status: fc.anything(),
        seq: version,
        event,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(nearly, (data) => {
        const message = parse(data);
        if (typeof message === 'string') {
          expect(['foreign', 'malformed']).toContain(message);
          return;
        }
        expect(data.steadfetch).toBe(PROTOCOL);
        expect(message.kind).toBe(data.kind);
        if ('version' in message) expect(message.version).toBeTypeOf('string');
        if ('seq' in message) expect(message.seq).toBeTypeOf('string');
        if ('event' in message) expect(EVENT_TYPES).toContain(message.event.type);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the page understands', () => {
  const malformed = (fields: object) =>
    expect(parseWorkerMessage({ steadfetch: PROTOCOL, ...fields })).toBe('malformed');

  test.each<{ name: string; fields: object }>([
    { name: 'no welcome without a version', fields: { kind: 'welcome' } },
    { name: 'no event without a number', fields: { kind: 'event', event: EVENTS[0] } },
    { name: 'no event that is none', fields: { kind: 'event', seq: '1', event: 'recovered' } },
    {
      name: 'no event of an unknown type',
      fields: { kind: 'event', seq: '1', event: { ...EVENTS[0], type: 'exploded' } },
    },
    {
      name: 'no event of an inherited name',
      fields: { kind: 'event', seq: '1', event: { ...EVENTS[0], type: 'toString' } },
    },
    { name: 'no status that is a text', fields: { kind: 'status', status: 'fine' } },
    { name: 'no status that is null', fields: { kind: 'status', status: null } },
    { name: 'no outbox without items', fields: { kind: 'outbox', waiting: 0 } },
    { name: 'no outbox without a number', fields: { kind: 'outbox', items: [] } },
    { name: 'no outbox of items that are none', fields: { kind: 'outbox', items: [ITEM, { id: 'o2' }], waiting: 1 } },
    { name: 'no outbox by another name', fields: { kind: 'nonsense', items: [], waiting: 1 } },
  ])('$name', ({ fields }) => malformed(fields));

  // A listener reads the fields that its type promises.
  test.each(EVENT_TYPES)('no %s whose fields are missing', (type) =>
    malformed({ kind: 'event', seq: '1', event: { type } }),
  );

  test.each<{ name: string; status: object }>([
    { name: 'empty', status: {} },
    { name: 'without counters', status: { ...STATUS, counters: undefined } },
    { name: 'with counters of texts', status: { ...STATUS, counters: { ...STATUS.counters, requests: '3' } } },
    { name: 'without origins', status: { ...STATUS, origins: undefined } },
    { name: 'with origins that are none', status: { ...STATUS, origins: [null] } },
  ])('no status that is $name', ({ status }) => malformed({ kind: 'status', status }));
});

test('an older worker, which has neither nonce nor fragments nor an outbox, is welcome', () => {
  const welcome = { kind: 'welcome', version: '0.0.9', nonce: '', fragments: false, waiting: 0 };
  expect(parseWorkerMessage({ steadfetch: PROTOCOL, kind: 'welcome', version: '0.0.9' })).toEqual(welcome);
  const odd = { steadfetch: PROTOCOL, ...welcome, nonce: 5, fragments: 1, waiting: '3' };
  expect(parseWorkerMessage(odd)).toEqual(welcome);
});

describe('every field that a message must have', () => {
  const must = pageMessages.flatMap((message) =>
    Object.keys(message)
      // Only what is asked of one origin or of all may say neither.
      .filter((field) => field !== 'origin')
      .map((field) => ({ message, field })),
  );

  test.each(must)('$message without `$field`', ({ message, field }) => {
    for (const other of [undefined, null, 5, {}]) {
      expect(parsePageMessage({ ...toMessage(message), [field]: other })).toBe('malformed');
    }
  });

  test.each(['retry-now', 'reset'])('%s of an origin that is none', (kind) => {
    for (const origin of [null, 5, {}]) {
      expect(parsePageMessage({ steadfetch: PROTOCOL, kind, origin })).toBe('malformed');
    }
  });

  test.each([
    ...Object.keys(STATUS)
      .filter((field) => field !== 'counters')
      .map((field) => ({ name: field, status: { ...STATUS, [field]: undefined } })),
    ...Object.keys(STATUS.counters).map((field) => ({
      name: `counters.${field}`,
      status: { ...STATUS, counters: { ...STATUS.counters, [field]: undefined } },
    })),
    ...Object.keys(STATUS.origins[0] ?? {}).map((field) => ({
      name: `origins.${field}`,
      status: { ...STATUS, origins: [...STATUS.origins, { ...STATUS.origins[0], [field]: undefined }] },
    })),
    { name: 'a list of origins', status: { ...STATUS, origins: { length: 0 } } },
  ])('a status without $name', ({ status }) => {
    expect(parseWorkerMessage({ steadfetch: PROTOCOL, kind: 'status', status })).toBe('malformed');
  });

  test('a status of no origins, or of more than one, is one', () => {
    for (const origins of [[], [STATUS.origins[0], STATUS.origins[0]]]) {
      const status = { ...STATUS, origins };
      expect(parseWorkerMessage({ steadfetch: PROTOCOL, kind: 'status', status })).toEqual({ kind: 'status', status });
    }
  });

  test('neither side understands what is said to the other', () => {
    for (const message of pageMessages.filter(({ kind }) => kind !== 'status')) {
      expect(parseWorkerMessage(toMessage(message))).toBe('malformed');
    }
    for (const message of workerMessages.filter(({ kind }) => kind !== 'status')) {
      expect(parsePageMessage(toMessage(message))).toBe('malformed');
    }
  });

  test('an event needs a number and itself, a welcome nothing of an event', () => {
    const [event] = EVENTS;
    const parse = (fields: object) => parseWorkerMessage({ steadfetch: PROTOCOL, ...fields });
    expect(parse({ kind: 'event', seq: 5, event })).toBe('malformed');
    expect(parse({ kind: 'welcome', seq: '1', event, status: STATUS })).toBe('malformed');
    expect(parse({ kind: 'nonsense', version: '1.0.0', seq: '1', event, status: STATUS })).toBe('malformed');
  });
});

test('property: what a page says arrives as it was said, whatever the texts', () => {
  const text = fc.string({ unit: 'binary' });
  const message: fc.Arbitrary<PageMessage> = fc.oneof(
    fc.record({ kind: fc.constant('hello' as const), version: text }),
    fc.record({ kind: fc.constantFrom('abort' as const, 'withdraw' as const), id: text }),
    fc.record({ kind: fc.constant('call' as const), id: text, url: text, method: text, asked: text }),
    fc.record(
      { kind: fc.constantFrom('retry-now' as const, 'reset' as const), origin: text },
      { requiredKeys: ['kind'] },
    ),
    fc.record({
      kind: fc.constantFrom('status', 'beat', 'online', 'pause', 'resume', 'retire') as fc.Arbitrary<'status'>,
    }),
  );
  fc.assert(
    fc.property(message, fc.dictionary(fc.stringMatching(/^x\w*$/), fc.string()), (said, more) => {
      expect(parsePageMessage(sent({ ...more, ...toMessage(said) }))).toEqual(said);
    }),
  );
});
