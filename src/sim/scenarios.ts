import type { Fault, FaultKind } from './origin.js';
import type { Scenario, Traffic } from './simulate.js';

/** From the launch of an attempt to its answer, good or bad. */
const LATENCY_MS = 130;
const MINUTE_MS = 60_000;

/** How a server fails: for a while, for as long as is looked at, or by chance. */
export const FAILINGS = Object.freeze({
  '10 s blip': { fault: { untilMs: 10_000 }, durationMs: MINUTE_MS },
  '30 s blip': { fault: { untilMs: 30_000 }, durationMs: MINUTE_MS },
  '5 min outage': { fault: {}, durationMs: 5 * MINUTE_MS },
  '10 % random': { fault: { share: 0.1 }, durationMs: 5 * MINUTE_MS },
  '30 % random': { fault: { share: 0.3 }, durationMs: 5 * MINUTE_MS },
  '50 % random': { fault: { share: 0.5 }, durationMs: 5 * MINUTE_MS },
  '80 % random': { fault: { share: 0.8 }, durationMs: 5 * MINUTE_MS },
  '95 % random': { fault: { share: 0.95 }, durationMs: 5 * MINUTE_MS },
} satisfies Record<string, { fault: Partial<Fault>; durationMs: number }>);

/** What one client asks for. */
export const TRAFFICS = Object.freeze({
  '0.1/s': { kind: 'poisson', perSecond: 0.1 },
  '1/s': { kind: 'poisson', perSecond: 1 },
  '5/s': { kind: 'poisson', perSecond: 5 },
  '30 a minute at once': { kind: 'burst', size: 30, everyMs: MINUTE_MS },
} satisfies Record<string, Traffic>);

/** A name in {@link FAILINGS}. */
export type Failing = keyof typeof FAILINGS;
/** A name in {@link TRAFFICS}. */
export type TrafficName = keyof typeof TRAFFICS;

/** One client whose server fails from the start: the first minute of a blip, or five minutes of the rest. */
export function failingScenario(failing: Failing, traffic: TrafficName, as: FaultKind = 'reset'): Scenario {
  const { fault, durationMs } = FAILINGS[failing];
  return { origin: { latencyMs: LATENCY_MS, faults: [{ as, ...fault }] }, traffic: TRAFFICS[traffic], durationMs };
}

/** One endpoint of several always fails, and this share of the traffic asks for it. */
export const brokenEndpoint = (share: number, traffic: TrafficName = '1/s'): Scenario => ({
  origin: { latencyMs: LATENCY_MS, faults: [{ as: 500, path: BROKEN_PATH }] },
  traffic: TRAFFICS[traffic],
  durationMs: 5 * MINUTE_MS,
  paths: [
    { path: BROKEN_PATH, share },
    { path: '/works', share: 1 - share },
  ],
});

/** The endpoint that fails in {@link brokenEndpoint}. */
export const BROKEN_PATH = '/broken';

/** A hundred clients ask for more than the server can do, for a minute; before and after that for `calm` of it. */
export function overload({ capacityPerSecond = 100, demand = 1.3, calm = 0.7 } = {}): Scenario {
  const clients = 100;
  const perClient = (share: number): number => (share * capacityPerSecond) / clients;
  return {
    origin: { latencyMs: LATENCY_MS, capacityPerSecond },
    traffic: {
      kind: 'phases',
      phases: [
        { untilMs: OVERLOAD.fromMs, perSecond: perClient(calm) },
        { untilMs: OVERLOAD.untilMs, perSecond: perClient(demand) },
        { untilMs: OVERLOAD.untilMs + MINUTE_MS, perSecond: perClient(calm) },
      ],
    },
    durationMs: OVERLOAD.untilMs + MINUTE_MS,
    clients,
  };
}

/** When {@link overload} is one. */
export const OVERLOAD = Object.freeze({ fromMs: MINUTE_MS, untilMs: 2 * MINUTE_MS });
