/** Everything the engine takes from the world; tests and the simulator bring their own. */
export interface Ports {
  /** `init` is absent unless the request has to be rebuilt: any init at all changes what the server sees. */
  fetch(request: Request, init?: RequestInit): Promise<Response>;
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Milliseconds since some instant; nobody can set it. May stand still while the machine sleeps. */
  monotonic(): number;
  /** In [0, 1). */
  random(): number;
  sleep(ms: number): Sleep;
  /** False only if the device says that it is offline; true proves nothing. */
  isOnline(): boolean;
  /** Does the user ask for less traffic (Save-Data)? False where nobody can tell. */
  savesData(): boolean;
}

/** A wait that can be ended early without leaving a timer behind; cancelling leaves `done` pending. */
export interface Sleep {
  readonly done: Promise<void>;
  cancel(): void;
}

/** Sleeps that the platform's timers measure; `made` is given each timer. */
const sleeper =
  (made: (timer: ReturnType<typeof setTimeout>) => void = () => {}) =>
  (ms: number): Sleep => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const done = new Promise<void>((resolve) => {
      // Timers cut fractions off, and a wait must not end early.
      timer = setTimeout(resolve, Math.ceil(ms));
      made(timer);
    });
    return { done, cancel: () => clearTimeout(timer) };
  };

/** The real clock, chance and network. */
export const platformPorts: Ports = {
  fetch: (request, init) => (init === undefined ? fetch(request) : fetch(request, init)),
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  sleep: sleeper(),
  isOnline: () => globalThis.navigator?.onLine !== false,
  // Chromium only.
  savesData: () => (globalThis.navigator as { connection?: { saveData?: boolean } })?.connection?.saveData === true,
};

/** The same for what is done beside requests: its timers keep no process alive that has nothing else to do (Node). */
export const idlePorts: Ports = {
  ...platformPorts,
  sleep: sleeper((timer) => (timer as { unref?: () => void }).unref?.()),
};
