import { vi } from 'vitest';
import { toMessage, type WorkerMessage } from '../../src/protocol/messages.ts';

/** A worker as a page sees it. */
export interface FakeWorker extends EventTarget {
  state: ServiceWorkerState;
  readonly scriptURL: string;
  /** What pages said to it. */
  readonly heard: unknown[];
  postMessage(message: unknown, ports?: readonly MessagePort[]): void;
  /** Moves it on and tells those who listen. */
  become(state: ServiceWorkerState): void;
}

/** `answers` gives what it says to a message; `undefined`: nothing at all. */
export function createWorker(
  state: ServiceWorkerState,
  answers: (message: { kind?: string }) => unknown = () => undefined,
): FakeWorker {
  const target = new EventTarget();
  const heard: unknown[] = [];
  return Object.assign(target, {
    state,
    scriptURL: 'https://app.test/sw.js',
    heard,
    postMessage(this: FakeWorker, message: unknown, ports: readonly MessagePort[] = []) {
      heard.push(structuredClone(message));
      const answer = answers(message as { kind?: string });
      if (answer !== undefined) ports[0]?.postMessage(answer);
    },
    become(this: FakeWorker, next: ServiceWorkerState) {
      this.state = next;
      this.dispatchEvent(new Event('statechange'));
    },
  });
}

/** A worker of ours in this version. */
export const ours = (version = '0.1.0', status: unknown = undefined) =>
  createWorker('activated', ({ kind }) => {
    if (kind === 'hello') return toMessage({ kind: 'welcome', version, nonce: 'nonce', fragments: true, waiting: 0 });
    if (kind === 'status' && status !== undefined) return toMessage({ kind: 'status', status } as WorkerMessage);
    return undefined;
  });

export interface FakeRegistration {
  installing: FakeWorker | null;
  waiting: FakeWorker | null;
  active: FakeWorker | null;
  unregister(): Promise<boolean>;
}

export const registered = (workers: Partial<FakeRegistration> = {}): FakeRegistration => ({
  installing: null,
  waiting: null,
  active: null,
  unregister: async () => true,
  ...workers,
});

export interface FakeContainer extends EventTarget {
  controller: FakeWorker | null;
  register: ReturnType<typeof vi.fn>;
  startMessages: ReturnType<typeof vi.fn>;
  /** A worker claims the page. */
  claim(worker: FakeWorker): void;
  /** A worker sends a message. */
  say(data: unknown): void;
}

/** Gives the page a `navigator.serviceWorker`. */
export function stubContainer(
  register: () => unknown = async () => registered(),
  controller: FakeWorker | null = null,
): FakeContainer {
  const container: FakeContainer = Object.assign(new EventTarget(), {
    controller,
    register: vi.fn(register),
    startMessages: vi.fn(),
    claim(this: FakeContainer, worker: FakeWorker) {
      this.controller = worker;
      this.dispatchEvent(new Event('controllerchange'));
    },
    say(this: FakeContainer, data: unknown) {
      this.dispatchEvent(new MessageEvent('message', { data }));
    },
  });
  vi.stubGlobal('navigator', { serviceWorker: container });
  return container;
}

/** Lets messages and promises arrive; timers stand still. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Lets time pass step by step until `work` has ended, for `limitMs` at most; tells how long it took. */
export async function timed<T>(work: Promise<T>, limitMs: number): Promise<{ value: T; ms: number }> {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  await settle();
  let ms = 0;
  for (; !over && ms < limitMs; ms += 50) {
    await vi.advanceTimersByTimeAsync(50);
    await settle();
  }
  if (!over) throw new Error(`has not ended after ${limitMs} ms`);
  return { value: await work, ms };
}
