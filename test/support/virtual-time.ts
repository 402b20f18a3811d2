import type { Ports, Sleep } from '../../src/engine/ports.ts';

/** Where the clock starts unless a test says otherwise: a whole second, so that HTTP-dates can name it. */
export const START = Date.UTC(2026, 0, 15, 12, 0, 0);

/** A clock that moves only when a test moves it, exact to the millisecond. Nothing here waits for real. */
export interface VirtualTime {
  now(): number;
  /** Milliseconds that have passed since the clock was made, whatever it was set to meanwhile. */
  elapsed(): number;
  /** The same without the time that the machine slept. */
  awake(): number;
  /** A source of sleeps whose pending timers are counted by themselves. */
  sleeper(): Sleeper;
  /** Something that the world does in `ms`. It is nobody's timer. */
  after(ms: number): Promise<void>;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Lets time pass, firing each timer at its own instant. */
  advance(ms: number): Promise<void>;
  /** The machine sleeps: the clock goes on, and no timer fires before it wakes. */
  suspend(ms: number): void;
  /** Somebody sets the clock; no time passes. */
  setClock(byMs: number): void;
  /** Lets time pass until `work` has come to an end. Throws if that cannot happen any more. */
  until<T>(work: Promise<T>): Promise<T>;
}

export interface Sleeper {
  sleep(ms: number): Sleep;
  /** Timers that neither fired nor were cancelled. */
  pending(): number;
  /** Every duration that was asked for, in order. */
  readonly asked: readonly number[];
}

interface Timer {
  readonly at: number;
  fire(): void;
}

/** A body that is read or cloned takes turns of the event loop; so many are more than any of ours needs. */
const TURNS = 5;
const MOST_EVENTS = 200_000;

export function createVirtualTime(startAt = START): VirtualTime {
  /** Timers know nothing of the wall clock. */
  let passed = 0;
  let slept = 0;
  let offset = startAt;
  const timers = new Set<Timer>();

  const arm = (ms: number): { done: Promise<void>; timer: Timer } => {
    const { promise, resolve } = withResolvers();
    // As the platform has it: whole milliseconds, and never early.
    const timer = { at: passed + Math.ceil(ms), fire: resolve };
    timers.add(timer);
    return { done: promise, timer };
  };

  /** The earliest timer; of those with the same time the one that was set first. */
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  };

  const fire = async (timer: Timer): Promise<void> => {
    timers.delete(timer);
    passed = Math.max(passed, timer.at);
    timer.fire();
    await settle();
  };

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  return {
    now: () => offset + passed,
    elapsed: () => passed,
    awake: () => passed - slept,
    sleeper() {
      const own = new Set<Timer>();
      const asked: number[] = [];
      return {
        sleep(ms) {
          asked.push(ms);
          const { done, timer } = arm(ms);
          own.add(timer);
          return {
            done,
            cancel() {
              timers.delete(timer);
              own.delete(timer);
            },
          };
        },
        pending: () => [...own].filter((timer) => timers.has(timer)).length,
        asked,
      };
    },
    after: (ms) => arm(ms).done,
    settle,
    async advance(ms) {
      const end = passed + ms;
      await settle();
      for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) await fire(timer);
      passed = end;
    },
    suspend(ms) {
      passed += ms;
      slept += ms;
    },
    setClock(byMs) {
      offset += byMs;
    },
    async until(work) {
      let over = false;
      const end = () => {
        over = true;
      };
      work.then(end, end);
      await settle();
      for (let events = 0; !over; events += 1) {
        const timer = next();
        if (timer === undefined) throw new Error(`hangs: nothing is left to happen at ${passed} ms`);
        if (events > MOST_EVENTS) throw new Error(`does not end: ${events} timers fired by ${passed} ms`);
        await fire(timer);
      }
      return work;
    },
  };
}

/** The engine's ports on a virtual clock. */
export const virtualPorts = (
  time: VirtualTime,
  { sleep }: Sleeper,
  fetch: Ports['fetch'],
  {
    random = () => 0,
    isOnline = () => true,
    savesData = () => false,
  }: Partial<Pick<Ports, 'random' | 'isOnline' | 'savesData'>> = {},
): Ports => ({ fetch, now: time.now, monotonic: time.awake, random, sleep, isOnline, savesData });

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settled) => {
    resolve = settled;
  });
  return { promise, resolve };
}
