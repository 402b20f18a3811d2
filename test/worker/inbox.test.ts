import '../support/worker-scope.ts';

import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createWarner } from '../../src/engine/warner.ts';
import { toMessage } from '../../src/protocol/messages.ts';
import type { LayerStatus } from '../../src/protocol/status.ts';
import { VERSION } from '../../src/protocol/version.ts';
import { createInbox } from '../../src/worker/inbox.ts';
import { createMailbox } from '../../src/worker/mailbox.ts';
import { createClients, settle } from '../support/worker-scope.ts';

const STATUS: LayerStatus = {
  version: VERSION,
  storage: 'memory',
  counters: { requests: 1, attempts: 2, retries: 0, hedges: 0, untold: 0, amplification: 1, recovered: 1, gaveUp: {} },
  origins: [],
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** What a wish sets going may outlast the answer. */
const KEPT_ALIVE = expect.objectContaining({ waitUntil: expect.any(Function) });

function open(onProblem: (problem: string, detail?: unknown) => void = () => {}) {
  const pages = createClients();
  const mailbox = createMailbox(
    pages.clients,
    () => 0,
    () => {},
  );
  const wishes: unknown[] = [];
  const receive = createInbox(
    mailbox,
    {
      welcome: async () => ({ nonce: 'nonce', fragments: true, waiting: 3 }),
      status: () => STATUS,
      outbox: async (...wish) => {
        wishes.push(wish);
        return { items: [], waiting: 2 };
      },
      carryOut: (...wish) => void wishes.push(wish),
    },
    onProblem,
  );
  const answers: unknown[] = [];
  const waits: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => waits.push(work);

  const port = { postMessage: (message: unknown) => answers.push(structuredClone(message)) };
  return {
    ...pages,
    mailbox,
    wishes,
    answers,
    waits,
    send: (data: unknown, { source = null as unknown, ports = [port] as unknown[] } = {}) =>
      receive({
        data,
        source,
        ports,
        waitUntil,
      } as unknown as ExtendableMessageEvent),
  };
}

describe('a hello', () => {
  test('is answered with a welcome, and what was kept follows', async () => {
    const { mailbox, open: page, answers, send } = open();
    const event = {
      type: 'waiting',
      cause: 'offline',
      id: '1',
      at: 0,
      method: 'GET',
      url: 'https://app.test/',
      group: 'data',
      elapsedMs: 0,
    } as const;
    mailbox.post('a', event);
    await settle();
    const client = page('a');
    send(toMessage({ kind: 'hello', version: VERSION }), { source: client });
    await settle();
    expect(answers).toEqual([
      toMessage({ kind: 'welcome', version: VERSION, nonce: 'nonce', fragments: true, waiting: 3 }),
    ]);
    expect(client.received).toMatchObject([{ kind: 'event', event }]);
  });

  test.each([
    { name: 'without a port', ports: [], source: null },
    { name: 'from another worker’s port', ports: undefined, source: { postMessage: () => {} } },
    { name: 'from nobody', ports: undefined, source: null },
  ])('$name is no trouble', ({ ports, source }) => {
    const { send } = open();
    expect(() =>
      send(toMessage({ kind: 'hello', version: VERSION }), { source, ...(ports ? { ports } : {}) }),
    ).not.toThrow();
  });

  test.each([
    ['0.1.7', 0],
    ['0.2.0', 0],
    ['0.3.0', 1],
    ['9.0.0', 1],
    ['nonsense', 1],
  ])('of version %s: %i warning(s), and a welcome', async (version, warnings) => {
    const problems: unknown[][] = [];
    const { send, answers } = open((...problem) => problems.push(problem));
    send(toMessage({ kind: 'hello', version }));
    await settle();
    expect(problems).toHaveLength(warnings);
    // Both versions are named, wherever in the line.
    for (const problem of problems) expect(problem.join(' ')).toContain(version);
    for (const problem of problems) expect(problem.join(' ')).toContain(VERSION);
    expect(answers).toEqual([
      toMessage({ kind: 'welcome', version: VERSION, nonce: 'nonce', fragments: true, waiting: 3 }),
    ]);
  });
});

test('what a page wants is done, for the page that wants it, and answered when it is done', async () => {
  const { wishes, open: page, answers, send } = open();
  send(toMessage({ kind: 'abort', id: 'x' }), { source: page('a') });
  send(toMessage({ kind: 'pause' }));
  await settle();
  expect(wishes).toEqual([
    [{ kind: 'abort', id: 'x' }, 'a', KEPT_ALIVE],
    [{ kind: 'pause' }, '', KEPT_ALIVE],
  ]);
  expect(answers).toEqual([toMessage({ kind: 'done' }), toMessage({ kind: 'done' })]);
});

test('a wish about the outbox is answered with its entries, and with how many wait', async () => {
  const { wishes, answers, waits, send } = open();
  send(toMessage({ kind: 'outbox', wish: { do: 'list', outbox: 'orders' } }));
  await settle();
  expect(wishes).toEqual([[{ do: 'list', outbox: 'orders' }, KEPT_ALIVE]]);
  expect(answers).toEqual([toMessage({ kind: 'outbox', items: [], waiting: 2 })]);
  expect(waits).toHaveLength(1);
});

test('the status is told when it is asked for', async () => {
  const { send, answers } = open();
  send(toMessage({ kind: 'status' }));
  await settle();
  expect(answers).toEqual([toMessage({ kind: 'status', status: STATUS })]);
});

test('messages of others are left alone, without a word', () => {
  const problems: string[] = [];
  const { send, answers } = open((problem) => problems.push(problem));
  for (const data of [undefined, null, 'SKIP_WAITING', { type: 'CACHE_URLS' }, 5]) send(data);
  expect([problems, answers]).toEqual([[], []]);
});

describe('hostile pages', () => {
  test('broken messages are warned of once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { send, answers } = open(createWarner());
    for (let count = 0; count < 100; count += 1) send({ steadfetch: 1, kind: `nonsense ${count}` });
    expect(warn).toHaveBeenCalledTimes(1);
    expect(answers).toEqual([]);
  });

  test('a hundred different versions do not fill the console', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { send } = open(createWarner());
    for (let count = 0; count < 100; count += 1) send(toMessage({ kind: 'hello', version: `${count + 5}.0.0` }));
    expect(warn.mock.calls.length).toBeLessThanOrEqual(5);
  });

  test('a version as long as a book is not printed', () => {
    const problems: unknown[][] = [];
    const { send } = open((...problem) => problems.push(problem));
    send(toMessage({ kind: 'hello', version: 'x'.repeat(1_000_000) }));
    expect(problems).toHaveLength(1);
    expect(problems.join(' ').length).toBeLessThan(1_000);
  });

  test('whatever comes, nothing is thrown', () => {
    const { send } = open();
    fc.assert(
      fc.property(
        fc.record({
          steadfetch: fc.oneof(fc.constant(1), fc.anything()),
          kind: fc.oneof(fc.constantFrom('hello', 'status', 'event'), fc.anything()),
          version: fc.anything(),
        }),
        (data) => {
          expect(() => send(data)).not.toThrow();
        },
      ),
    );
  });
});
