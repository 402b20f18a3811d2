import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask } from '../../src/page/questions.ts';
import { toMessage } from '../../src/protocol/messages.ts';
import { createWorker, type FakeWorker, ours, timed } from '../support/page-scope.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const hello = (worker: FakeWorker, answerMs?: number) =>
  ask(worker as unknown as ServiceWorker, { kind: 'hello', version: '0.1.0' }, 'welcome', answerMs);

describe('a question', () => {
  test('is a message of ours with a port for the answer', async () => {
    const worker = ours();
    const { value, ms } = await timed(hello(worker), 0);
    expect(value).toEqual({ kind: 'welcome', version: '0.1.0', nonce: 'nonce', fragments: true, waiting: 0 });
    expect(worker.heard).toEqual([{ steadfetch: 1, kind: 'hello', version: '0.1.0' }]);
    expect([ms, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test.each<{ name: string; answer: unknown }>([
    { name: 'somebody else', answer: { type: 'pong' } },
    { name: 'a version that is not understood', answer: { steadfetch: 99, kind: 'welcome' } },
    { name: 'an answer to something else', answer: toMessage({ kind: 'status' }) },
    { name: 'a null', answer: null },
  ])('that is answered by $name has no answer', async ({ answer }) => {
    const { value } = await timed(hello(createWorker('activated', () => answer)), 0);
    expect(value).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that nobody answers ends in time', async () => {
    const worker = createWorker('activated');
    expect(await timed(hello(worker), 5_000)).toEqual({ value: undefined, ms: 2_000 });
    expect(await timed(hello(worker, 300), 5_000)).toEqual({ value: undefined, ms: 300 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('to a worker that takes none has no answer', async () => {
    const worker = createWorker('redundant', () => {
      throw new DOMException('redundant', 'InvalidStateError');
    });
    expect(await timed(hello(worker), 0)).toEqual({ value: undefined, ms: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that is answered late harms nothing', async () => {
    let port: MessagePort | undefined;
    const worker = createWorker('activated');
    worker.postMessage = (_message, ports) => {
      port = ports?.[0];
    };
    const { value } = await timed(hello(worker, 100), 1_000);
    expect(value).toBeUndefined();
    expect(() =>
      port?.postMessage(toMessage({ kind: 'welcome', version: '0.1.0', nonce: 'nonce', fragments: true, waiting: 0 })),
    ).not.toThrow();
  });
});
