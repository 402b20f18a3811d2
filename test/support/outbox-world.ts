import type { Prepare } from '../../src/outbox/deliver.ts';
import { createOutbox, type Outbox } from '../../src/outbox/outbox.ts';
import { type OutboxPolicy, resolveOutbox } from '../../src/policy/outbox.ts';
import type { OutboxNotice } from '../../src/protocol/events.ts';
import { type CallOptions, createWorld, type World, type WorldOptions } from './engine-world.ts';
import { createMemoryOutbox, type MemoryOutbox } from './memory-outbox.ts';

export interface OutboxWorldOptions extends WorldOptions {
  readonly box?: MemoryOutbox;
  readonly withPrepare?: Prepare;
  /** `null`: there are none. */
  readonly locks?: LockManager | null;
  readonly isPaused?: () => boolean;
}

/** An outbox and everything around it, under the control of a test. */
export interface OutboxWorld extends World {
  readonly box: MemoryOutbox;
  readonly outbox: Outbox;
  readonly notices: OutboxNotice[];
  readonly outboxFaults: unknown[];
  /** How often something was put into it. */
  queued(): number;
  /** Sends a page's request through it; time stands still until the test moves it. */
  submit(options?: CallOptions & { signal?: AbortSignal }, policy?: Partial<OutboxPolicy>): Promise<Response>;
  /** The same, and lets time pass until it is answered. */
  ask(options?: CallOptions & { signal?: AbortSignal }, policy?: Partial<OutboxPolicy>): Promise<Response>;
  /** Sends what is due, and lets time pass until that is over. */
  send(hurry?: boolean): Promise<number>;
  /** The state of every entry. */
  states(): string[];
  /** What reached the network: path and body. */
  hits(): string[];
}

export function createOutboxWorld({
  box = createMemoryOutbox(),
  withPrepare,
  locks = createLocks(),
  isPaused = () => false,
  ...options
}: OutboxWorldOptions = {}): OutboxWorld {
  const world = createWorld(options);
  const notices: OutboxNotice[] = [];
  const outboxFaults: unknown[] = [];
  let queued = 0;
  const outbox = createOutbox({
    store: box,
    engine: world.engine,
    origin: 'https://app.test',
    prepare: withPrepare,
    locks: locks ?? undefined,
    isPaused,
    tell: (notice) => notices.push(notice),
    onQueued: () => {
      queued += 1;
    },
    onFault: (fault) => outboxFaults.push(fault),
  });
  const submit: OutboxWorld['submit'] = (given = {}, policy = {}) => {
    const { signal, ...options } = given;
    const call = { ...world.call(options), ...(signal ? { signal } : {}) };
    const answer = outbox.answer(call, resolveOutbox(policy));
    answer.catch(() => {});
    return answer;
  };
  return {
    ...world,
    box,
    outbox,
    notices,
    outboxFaults,
    queued: () => queued,
    submit,
    ask: (options, policy) => world.time.until(submit(options, policy)),
    send: (hurry) => world.time.until(outbox.send(hurry)),
    states: () => box.entries().map(({ state }) => state),
    hits: () =>
      world.network.sent.map(({ request, body }) => {
        const text = body === undefined ? '' : ` ${new TextDecoder().decode(body)}`;
        return new URL(request.url).pathname + text;
      }),
  };
}

/** One lock for all who are given it. */
export function createLocks(): LockManager {
  let last: Promise<unknown> = Promise.resolve();
  return {
    request: (_name: string, work: () => Promise<unknown>) => {
      const mine = last.then(work);
      last = mine.catch(() => {});
      return mine;
    },
  } as unknown as LockManager;
}
