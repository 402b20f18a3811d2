import '../support/worker-scope.ts';

import { beforeEach, describe, expect, test } from 'vitest';
import type { LayerEvent, RequestEvent } from '../../src/protocol/events.ts';
import { createMailbox } from '../../src/worker/mailbox.ts';
import { createClients, settle } from '../support/worker-scope.ts';

let now: number;
beforeEach(() => {
  now = 1_000_000;
});

const event = (attempts: number): RequestEvent => ({
  type: 'recovered',
  id: 'id',
  at: now,
  method: 'GET',
  url: 'https://app.test/',
  group: 'data',
  elapsedMs: 1,
  attempts,
  status: 200,
});
const exhausted: LayerEvent = { type: 'budget-exhausted', at: 0, origin: 'https://app.test', group: 'data' };

function open() {
  const pages = createClients();
  const problems: unknown[] = [];
  const mailbox = createMailbox(
    pages.clients,
    () => now,
    (problem) => problems.push(problem),
  );
  return { ...pages, problems, mailbox };
}
const attemptsOf = (messages: readonly unknown[]) =>
  messages.map((message) => (message as { event: { attempts?: number } }).event.attempts);
const seqs = (messages: readonly unknown[]) => messages.map((message) => (message as { seq: string }).seq);

describe('an event', () => {
  test('goes to the page that asked, as a message of ours, and to no other', async () => {
    const { mailbox, open: page, problems } = open();
    const [mine, other] = [page('mine'), page('other')];
    mailbox.post('mine', event(2));
    await settle();
    expect(mine.received).toEqual([{ steadfetch: 1, kind: 'event', seq: expect.any(String), event: event(2) }]);
    expect(other.received).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('for nobody is nobody’s', async () => {
    const { mailbox, asked, open: page } = open();
    const { received } = page('a');
    mailbox.post('', event(2));
    await settle();
    expect([asked, received]).toEqual([[], []]);
  });

  test('is one of at most twenty a second for a page; the others are counted', async () => {
    const { mailbox, open: page } = open();
    const [busy, calm] = [page('busy'), page('calm')];
    for (const { id } of [busy, calm]) mailbox.welcome({ id, postMessage: () => {} } as unknown as Client);
    for (let attempts = 1; attempts <= 30; attempts += 1) mailbox.post('busy', event(attempts));
    mailbox.post('calm', event(1));
    await settle();
    expect([busy.received.length, calm.received.length, mailbox.untold()]).toEqual([20, 1, 10]);
    now += 1_000;
    mailbox.post('busy', event(31));
    await settle();
    expect([attemptsOf(busy.received).at(-1), mailbox.untold()]).toEqual([31, 10]);
  });

  test('for a page that is gone is forgotten', async () => {
    const { mailbox, problems } = open();
    mailbox.post('gone', event(2));
    await settle();
    expect(problems).toEqual([]);
  });

  test('for all goes to every page', async () => {
    const { mailbox, open: page } = open();
    const pages = [page('a'), page('b')];
    mailbox.broadcast(exhausted);
    await settle();
    for (const { received } of pages) expect(received).toMatchObject([{ kind: 'event', event: exhausted }]);
  });

  test('arrives in order', async () => {
    const { mailbox, open: page } = open();
    const { received } = page('a');
    for (let attempts = 1; attempts <= 10; attempts += 1) mailbox.post('a', event(attempts));
    await settle();
    expect(attemptsOf(received)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('has a number of its own, also in the next run of the worker', async () => {
    const first = open();
    const { received } = first.open('a');
    for (let count = 0; count < 3; count += 1) first.mailbox.post('a', event(count));
    first.mailbox.broadcast(exhausted);
    now += 1;
    const next = createMailbox(
      first.clients,
      () => now,
      () => {},
    );
    next.post('a', event(9));
    await settle();
    expect(new Set(seqs(received)).size).toBe(5);
  });
});

describe('a page that is still loading', () => {
  test('gets what it missed when it says hello', async () => {
    const { mailbox, open: page } = open();
    mailbox.post('a', event(1));
    mailbox.post('b', event(7));
    mailbox.post('a', event(2));
    await settle();
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    expect(attemptsOf(client.received)).toEqual([1, 2]);
  });

  test('gets under the same number what it had already', async () => {
    const { mailbox, open: page } = open();
    const client = page('a');
    mailbox.post('a', event(1));
    await settle();
    mailbox.welcome(client as unknown as Client);
    const [live, again] = seqs(client.received);
    expect(again).toBe(live);
  });

  test('S16 gets the last 50, in order', async () => {
    const { mailbox, open: page } = open();
    for (let attempts = 1; attempts <= 60; attempts += 1) mailbox.post('a', event(attempts));
    await settle();
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    expect(attemptsOf(client.received)).toEqual(Array.from({ length: 50 }, (_, index) => index + 11));
  });

  test.each([
    { ageMs: 59_999, kept: [1] },
    { ageMs: 60_000, kept: [] },
    { ageMs: 3_600_000, kept: [] },
  ])('gets nothing that is older than a minute: $ageMs ms', async ({ ageMs, kept }) => {
    const { mailbox, open: page } = open();
    mailbox.post('a', event(1));
    now += ageMs;
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    expect(attemptsOf(client.received)).toEqual(kept);
  });

  test('gets what is young enough and not what is older', async () => {
    const { mailbox, open: page } = open();
    mailbox.post('a', event(1));
    now += 40_000;
    mailbox.post('a', event(2));
    now += 30_000;
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    expect(attemptsOf(client.received)).toEqual([2]);
  });

  test('is sent everything only once', async () => {
    const { mailbox, open: page } = open();
    mailbox.post('a', event(1));
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    mailbox.welcome(client as unknown as Client);
    await settle();
    const before = client.received.length;
    mailbox.welcome(client as unknown as Client);
    expect(client.received).toHaveLength(before);
    expect(new Set(seqs(client.received)).size).toBe(1);
  });

  test('hears live what comes after its hello, and nothing is kept for it any more', async () => {
    const { mailbox, open: page } = open();
    const client = page('a');
    mailbox.welcome(client as unknown as Client);
    mailbox.post('a', event(3));
    await settle();
    mailbox.welcome(client as unknown as Client);
    expect(attemptsOf(client.received)).toEqual([3]);
  });
});

describe('nothing that happens here can fail a request', () => {
  test.each([
    { name: 'clients.get rejects', get: () => Promise.reject(new Error('get')) },
    {
      name: 'clients.get throws',
      get: () => {
        throw new Error('get');
      },
    },
    {
      name: 'postMessage throws',
      get: async () => ({
        postMessage: () => {
          throw new DOMException('could not be cloned', 'DataCloneError');
        },
      }),
    },
  ])('$name', async ({ get }) => {
    const problems: unknown[] = [];
    const mailbox = createMailbox(
      { get } as never,
      () => now,
      (problem) => problems.push(problem),
    );
    expect(() => mailbox.post('a', event(1))).not.toThrow();
    await settle();
    expect(problems).toHaveLength(1);
  });

  test('matchAll rejects', async () => {
    const problems: unknown[] = [];
    const matchAll = () => Promise.reject(new Error('matchAll'));
    const mailbox = createMailbox(
      { matchAll } as never,
      () => now,
      (problem) => problems.push(problem),
    );
    mailbox.broadcast(exhausted);
    await settle();
    expect(problems).toHaveLength(1);
  });

  test('one page that cannot be told is not the next one’s loss', async () => {
    const { mailbox, clients, open: page } = open();
    const broken = page('broken');
    broken.postMessage = () => {
      throw new Error('broken');
    };
    const { received } = page('fine');
    expect(await clients.matchAll()).toHaveLength(2);
    mailbox.broadcast(exhausted);
    await settle();
    expect(received).toHaveLength(1);
  });

  test('a page that is gone when its hello is read', () => {
    const { mailbox } = open();
    mailbox.post('a', event(1));
    const gone = {
      id: 'a',
      postMessage: () => {
        throw new Error('gone');
      },
    };
    expect(() => mailbox.welcome(gone as unknown as Client)).not.toThrow();
  });

  test('clients.get that never answers', async () => {
    const mailbox = createMailbox(
      { get: () => new Promise(() => {}) } as never,
      () => now,
      () => {},
    );
    for (let count = 0; count < 1_000; count += 1) mailbox.post('a', event(count));
    await settle();
    const received: unknown[] = [];
    mailbox.welcome({ id: 'a', postMessage: (message: unknown) => received.push(message) } as never);
    expect(received).toHaveLength(50);
  });
});
