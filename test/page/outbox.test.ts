import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AskOutbox, createPageOutbox } from '../../src/page/outbox.ts';
import type { OutboxNotice } from '../../src/protocol/events.ts';
import { type OutboxItem, type OutboxWish, toItem } from '../../src/protocol/outbox.ts';
import { entryOf } from '../support/outbox-entries.ts';
import { settle } from '../support/page-scope.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const item = (over: Partial<OutboxItem> = {}): OutboxItem => ({ ...toItem(entryOf()), ...over });
const about = { at: 0, id: 'o1', outbox: 'outbox', method: 'POST', url: 'https://app.test/api/orders' };
const QUEUED: OutboxNotice = { type: 'queued', ...about };
const SENT: OutboxNotice = { type: 'queue-sent', ...about, status: 201, sends: 1 };
const FAILED: OutboxNotice = { type: 'queue-failed', ...about, reason: 'refused', sends: 1 };

/** A worker that gives `answer` to every wish; `undefined`: none. */
function page(answer: () => Awaited<ReturnType<AskOutbox>> = () => ({ items: [], waiting: 0 })) {
  const wishes: OutboxWish[] = [];
  const line = createPageOutbox(async (wish) => {
    wishes.push(wish);
    return answer();
  });
  return { ...line, wishes };
}

describe('what a page wants is asked of the worker', () => {
  test('each in its words', async () => {
    const { outbox, wishes } = page(() => ({ items: [item()], waiting: 0 }));
    expect(await outbox.list()).toEqual([item()]);
    expect(await outbox.list('orders')).toEqual([item()]);
    expect(await outbox.get('o1')).toEqual(item());
    expect(await outbox.retry()).toEqual([item()]);
    expect(await outbox.retry('o1')).toEqual([item()]);
    expect(await outbox.cancel('o1')).toEqual([item()]);
    expect(await outbox.clear()).toEqual([item()]);
    expect(await outbox.clear('orders')).toEqual([item()]);
    expect(await outbox.setOwner('ann')).toBe(true);
    expect(await outbox.setOwner()).toBe(true);
    expect(wishes).toEqual([
      { do: 'list' },
      { do: 'list', outbox: 'orders' },
      { do: 'list', id: 'o1' },
      { do: 'retry' },
      { do: 'retry', id: 'o1' },
      { do: 'cancel', id: 'o1' },
      { do: 'cancel' },
      { do: 'cancel', outbox: 'orders' },
      { do: 'owner', owner: 'ann' },
      { do: 'owner' },
    ]);
  });

  test('how many wait, without a list of them', async () => {
    const { outbox, wishes } = page(() => ({ items: [], waiting: 3 }));
    expect(await outbox.depth()).toBe(3);
    expect(wishes).toEqual([{ do: 'list', id: '' }]);
  });

  test('of one entry only, also if its id was forgotten: without one all of them would be meant', async () => {
    const { outbox, wishes } = page();
    const { id } = {} as { id: string };
    await Promise.all([outbox.get(id), outbox.cancel(id), outbox.follow(id)]);
    expect(new Set(wishes.map((wish) => wish.id))).toEqual(new Set(['undefined']));
  });

  test.each([42, null, {}])('but not whose entries they are, if that is no text: %j', async (owner) => {
    const { outbox, wishes } = page();
    await expect(outbox.setOwner(owner as never)).rejects.toMatchObject({
      code: 'bad-option',
      message: expect.stringContaining('owner must be a text'),
    });
    expect(wishes).toEqual([]);
  });

  test('of one that does not answer there is nothing to be had', async () => {
    const { outbox } = page(() => undefined);
    expect(await outbox.list()).toEqual([]);
    expect(await outbox.get('o1')).toBeUndefined();
    expect(await outbox.depth()).toBe(0);
    expect(await outbox.setOwner('ann')).toBe(false);
  });
});

describe('as long as something waits', () => {
  test('the worker is asked to send, every ten seconds, until it says that nothing does', async () => {
    let waiting = 1;
    const { keepGoing, wishes } = page(() => ({ items: [], waiting }));
    keepGoing(0);
    expect(vi.getTimerCount()).toBe(0);
    keepGoing(2);
    keepGoing(1);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(wishes).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_001);
    expect(wishes).toEqual([{ do: 'send' }, { do: 'send' }]);
    waiting = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([wishes.length, vi.getTimerCount()]).toEqual([3, 0]);
  });

  test('which it is told by any answer, and by an event', async () => {
    let waiting = 1;
    const { outbox, hear } = page(() => ({ items: [], waiting }));
    await outbox.list();
    expect(vi.getTimerCount()).toBe(1);
    waiting = 0;
    await outbox.list();
    expect(vi.getTimerCount()).toBe(0);
    hear(SENT);
    hear(FAILED);
    expect(vi.getTimerCount()).toBe(0);
    hear(QUEUED);
    expect(vi.getTimerCount()).toBe(1);
  });

  test('but not once the worker was retired, whatever comes then', async () => {
    const { keepGoing, hear, stop, outbox } = page(() => ({ items: [], waiting: 1 }));
    keepGoing(1);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    hear(QUEUED);
    await outbox.list();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('whoever follows an entry', () => {
  const following = (states: (Partial<OutboxItem> | 'gone' | 'silent')[]) => {
    let at = 0;
    const made = page(() => {
      const state = states[Math.min(at++, states.length - 1)];
      if (state === 'silent') return undefined;
      return { items: state === 'gone' || state === undefined ? [] : [item(state)], waiting: 1 };
    });
    let ended: { item: OutboxItem | undefined } | undefined;
    void made.outbox.follow('o1').then((item) => {
      ended = { item };
    });
    return { ...made, ended: () => ended };
  };

  test.each([
    { state: 'sent', status: 201 },
    { state: 'failed', reason: 'refused' },
  ] as const)('learns at once what has become of it: $state', async (end) => {
    const { ended, wishes } = following([end]);
    await settle();
    expect(ended()).toEqual({ item: item(end) });
    expect(wishes).toEqual([{ do: 'list', id: 'o1' }]);
  });

  test.each([SENT, FAILED])('learns it when the worker tells: $type', async (event) => {
    const { hear, ended, wishes } = following([{ state: 'waiting' }, { state: 'sending' }, { state: 'sent' }]);
    await settle();
    hear({ ...event, id: 'another' });
    hear(QUEUED);
    await settle();
    expect([ended(), wishes.length]).toEqual([undefined, 1]);
    hear(event);
    await settle();
    expect([ended(), wishes.length]).toEqual([undefined, 2]);
    hear(event);
    await settle();
    expect(ended()).toEqual({ item: item({ state: 'sent' }) });
  });

  test('hears an event that comes while it asks', async () => {
    const made = page(() => {
      made.hear(SENT);
      return { items: [item({ state: made.wishes.length > 1 ? 'sent' : 'sending' })], waiting: 1 };
    });
    expect(await made.outbox.follow('o1')).toMatchObject({ state: 'sent' });
  });

  test('learns that it was cancelled', async () => {
    const { hear, ended } = following([{ state: 'waiting' }, 'gone']);
    await settle();
    hear({ ...FAILED, reason: 'cancelled' });
    await settle();
    expect(ended()).toEqual({ item: undefined });
  });

  test('looks again by itself: an event may be lost, and a worker may not have answered', async () => {
    const { ended } = following([
      'silent',
      { state: 'waiting' },
      { state: 'waiting' },
      { state: 'waiting' },
      { state: 'sent' },
    ]);
    await settle();
    expect(ended()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10_000);
    await settle();
    expect(ended()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10_000);
    await settle();
    expect(ended()).toEqual({ item: item({ state: 'sent' }) });
  });

  test('does so with others, each until its own end', async () => {
    const { outbox, hear, ended } = following([{ state: 'waiting' }]);
    const other = vi.fn();
    void outbox.follow('o2').then(other);
    await settle();
    hear({ ...SENT, id: 'o2' });
    await settle();
    expect([ended(), other.mock.calls]).toEqual([undefined, []]);
  });

  test('is left waiting by no worker that was retired', async () => {
    const { stop, ended } = following(['silent']);
    await settle();
    stop();
    await settle();
    expect(ended()).toEqual({ item: undefined });
    expect(vi.getTimerCount()).toBe(0);
  });
});
