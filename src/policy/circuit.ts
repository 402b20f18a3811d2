/**
 * The circuit of one origin and group, as one plain value. It stores instants and never a flag, so that no worker that
 * is stopped at the wrong moment leaves it stuck.
 */
export interface Circuit {
  /** 0: closed. Before it: open. From then on: half-open. */
  readonly openUntil: number;
  /** How long it was open the last time. */
  readonly openMs: number;
  /** Until when each probe may be under way, soonest first: as many are taken as there are, and no more start. */
  readonly probes: readonly number[];
  /** When it last opened, half-opened or closed: attempts launched before say nothing about the state since. */
  readonly changedAt: number;
  /** Requests that failed one after the other. */
  readonly failures: number;
  readonly failedAt: number;
  /** The last attempts, oldest first: `1` succeeded, `0` failed. */
  readonly recent: string;
}

export interface CircuitPolicy {
  /** Consecutive failed requests that open it. @defaultValue 2 */
  readonly failures: number;
  /** So many of the last attempts are looked back on. @defaultValue 10 */
  readonly window: number;
  /** Share of those that must have failed to open it. @defaultValue 0.9 */
  readonly failureRatio: number;
  /** How long it is open the first time. @defaultValue 2 000 */
  readonly openMs: number;
  /** Each time it opens again it stays open this much longer. @defaultValue 2 */
  readonly openFactor: number;
  /** It is never open for longer. @defaultValue 120 000 */
  readonly maxOpenMs: number;
  /** Once it was closed for this long, it opens for `openMs` again. @defaultValue 10 000 */
  readonly resetMs: number;
  /** How long a probe may take before another may go. @defaultValue 10 000 */
  readonly probeMs: number;
  /** Probes that may be under way at once while it is half-open. @defaultValue 1 */
  readonly probes: number;
  /** Requests that fail while it is not closed wait for a success; `false`: they get what there is. @defaultValue true */
  readonly parking: boolean;
  /** Requests that fail within this time of each other are one failure. @defaultValue 250 */
  readonly sameFailureMs: number;
  /** Each consecutive failed request divides the attempts of the next ones by this. 1: never. @defaultValue 2 */
  readonly attemptsDivisor: number;
}

export const CIRCUIT_DEFAULTS: CircuitPolicy = /* @__PURE__ */ Object.freeze({
  failures: 2,
  window: 10,
  failureRatio: 0.9,
  openMs: 2_000,
  openFactor: 2,
  maxOpenMs: 120_000,
  resetMs: 10_000,
  probeMs: 10_000,
  probes: 1,
  parking: true,
  sameFailureMs: 250,
  attemptsDivisor: 2,
});

export const CLOSED: Circuit = /* @__PURE__ */ Object.freeze({
  openUntil: 0,
  openMs: 0,
  probes: /* @__PURE__ */ Object.freeze([]),
  changedAt: 0,
  failures: 0,
  failedAt: 0,
  recent: '',
});

export type CircuitState = 'closed' | 'open' | 'half-open';

export function circuitState(circuit: Circuit, now: number): CircuitState {
  if (circuit.openUntil === 0) return 'closed';
  return now < circuit.openUntil ? 'open' : 'half-open';
}

/** Most attempts of a request, as long as requests keep failing: 4, then 2, then 1. */
export const attemptsAllowed = (circuit: Circuit, attempts: number, { attemptsDivisor }: CircuitPolicy): number =>
  Math.max(1, Math.ceil(attempts / attemptsDivisor ** circuit.failures));

/** May a probe go now? Nothing else starts by itself while the circuit is not closed. */
export const mayProbe = (circuit: Circuit, now: number, policy: CircuitPolicy): boolean =>
  circuitState(circuit, now) === 'half-open' && now >= probeAt(circuit, policy);

/** When the next probe may go, if none comes to an end before. */
export const probeAt = ({ openUntil, probes }: Circuit, policy: CircuitPolicy): number =>
  Math.max(openUntil, probes.at(-policy.probes) ?? 0);

/** A probe goes, and may take until `until`. */
export const probing = (circuit: Circuit, now: number, until: number): Circuit => ({
  ...circuit,
  probes: [...underWay(circuit, now), until].sort((a, b) => a - b),
});

/** A probe is over: its place is free, unless its time was over before and another has taken it. */
export function probed(circuit: Circuit, until: number): Circuit {
  const index = circuit.probes.indexOf(until);
  return index < 0 ? circuit : { ...circuit, probes: circuit.probes.filter((_, other) => other !== index) };
}

const underWay = ({ probes }: Circuit, now: number): readonly number[] => probes.filter((until) => until > now);

/**
 * Does the success of an attempt that was launched at `launchedAt` release one that is parked? One that was launched
 * before the circuit opened says nothing: of thirty that go at once, those that come through would release the others
 * into a server that has just been found failing.
 */
export const releases = (circuit: Circuit, launchedAt: number): boolean =>
  circuit.openUntil > 0 && launchedAt >= circuit.changedAt;

/** How long a probe waits after a released request that failed: a chain of successes ends, the next begins with it. */
const AFTER_RELEASE_MS = 500;

/** An attempt that is over: when it was launched, and why, unless it was the request's own doing. */
export interface Ended {
  readonly at: number;
  readonly launchedAt: number;
  readonly as?: 'probe' | 'released';
  /** The place that it had as a probe. */
  readonly probeUntil?: number;
}

/**
 * It ends no open time: one lucky answer that ended it would make the next failure double it, and soon nothing could be
 * parked any more because nothing could be released in time.
 */
export function attemptSucceeded(circuit: Circuit, { launchedAt, probeUntil }: Ended, policy: CircuitPolicy): Circuit {
  if (launchedAt < circuit.changedAt) return circuit;
  const { probes } = probeUntil === undefined ? circuit : probed(circuit, probeUntil);
  return { ...circuit, failures: 0, probes, recent: remember(circuit, '1', policy) };
}

export function attemptFailed(circuit: Circuit, { at, launchedAt, as }: Ended, policy: CircuitPolicy): Circuit {
  if (launchedAt < circuit.changedAt) return circuit;
  switch (circuitState(circuit, at)) {
    case 'half-open':
      // A success has just released it: the server is there and has bad moments. The next probe finds out more.
      if (as !== 'released') return open(circuit, at, policy);
      return { ...circuit, probes: paused(circuit, at, policy) };
    case 'open':
      return circuit;
    case 'closed': {
      const recent = remember(circuit, '0', policy);
      const failed = recent.split('0').length - 1;
      const tooMany = recent.length >= policy.window && failed >= policy.failureRatio * policy.window;
      return tooMany ? open(circuit, at, policy) : { ...circuit, recent };
    }
  }
}

/** All places taken, the free ones for a short while. */
function paused(circuit: Circuit, at: number, policy: CircuitPolicy): readonly number[] {
  const taken = underWay(circuit, at);
  const free = Array.from({ length: Math.max(0, policy.probes - taken.length) }, () => at + AFTER_RELEASE_MS);
  return [...taken.map((until) => Math.max(until, at + AFTER_RELEASE_MS)), ...free].sort((a, b) => a - b);
}

/** A request whose last attempt was launched at `launchedAt` has failed for good. */
export function requestFailed(circuit: Circuit, launchedAt: number, now: number, policy: CircuitPolicy): Circuit {
  if (launchedAt < circuit.changedAt || circuitState(circuit, now) !== 'closed') return circuit;
  if (circuit.failures > 0 && now - circuit.failedAt <= policy.sameFailureMs) return circuit;
  const next = { ...circuit, failures: circuit.failures + 1, failedAt: now };
  return next.failures >= policy.failures ? open(next, now, policy) : next;
}

/** Nothing is parked any more, and something has succeeded: back to normal. */
export const close = (circuit: Circuit, now: number): Circuit => ({
  ...CLOSED,
  openMs: circuit.openMs,
  changedAt: now,
});

/** The device is back online: what failed before says nothing about the servers. */
export const halfOpen = (circuit: Circuit, now: number): Circuit =>
  circuitState(circuit, now) === 'open' ? { ...circuit, openUntil: now, probes: [], changedAt: now } : circuit;

function open(circuit: Circuit, now: number, policy: CircuitPolicy): Circuit {
  const openMs = nextOpenMs(circuit, now, policy);
  return { ...circuit, openUntil: now + openMs, openMs, probes: [], changedAt: now, recent: '' };
}

/**
 * Longer each time that nothing has succeeded since it opened, and short again as soon as something has: a server that
 * answers one of five is there, and a long open time would only mean that nobody is parked because nobody could be
 * released in time.
 */
function nextOpenMs(circuit: Circuit, now: number, { openMs, openFactor, maxOpenMs, resetMs }: CircuitPolicy): number {
  const closed = circuit.openUntil === 0;
  const again = closed ? now - circuit.changedAt < resetMs : circuit.recent === '';
  const before = again ? circuit.openMs * (closed ? 1 : openFactor) : 0;
  return Math.min(Math.max(openMs, before), maxOpenMs);
}

const remember = ({ recent }: Circuit, attempt: '0' | '1', { window }: CircuitPolicy): string =>
  (recent + attempt).slice(-window);
