import { DEFAULTS, type RetryPolicy } from '../policy/policy.js';
import { createClient, type Flight, type Hands, type Strategy, type Why } from './client.js';
import { type Clock, createClock } from './clock.js';
import { createOrigin, type OriginScript } from './origin.js';
import { createRandom, poissonGapMs, type Random } from './random.js';

/** What is asked of a server, and how it behaves, as plain data. */
export interface Scenario {
  readonly origin: OriginScript;
  readonly traffic: Traffic;
  /** Requests start during this time; what is under way then is followed to its end. */
  readonly durationMs: number;
  /** Browsers that share the server. @defaultValue 1 */
  readonly clients?: number;
  /** Endpoints and their shares of the traffic. @defaultValue one endpoint */
  readonly paths?: readonly { readonly path: string; readonly share: number }[];
}

/** What one client asks for: requests that come independently, a page load now and then, or phases of the former. */
export type Traffic =
  | { readonly kind: 'poisson'; readonly perSecond: number }
  | { readonly kind: 'burst'; readonly size: number; readonly everyMs: number }
  | { readonly kind: 'phases'; readonly phases: readonly { readonly untilMs: number; readonly perSecond: number }[] };

/** What a run of {@link simulate} can be told. */
export interface SimulateOptions {
  /** The same seed gives the same figures. */
  readonly seed: number;
  /** The scenario is repeated with new clients until there were so many requests. @defaultValue one repetition */
  readonly requests?: number;
  /** @defaultValue the shipped policy */
  readonly policy?: RetryPolicy;
  /** Called as each attempt is launched. */
  readonly onLaunch?: (flight: Flight, why: Why) => void;
  /** Called as each request ends. */
  readonly onEnd?: (flight: Flight) => void;
}

/** What came of all requests of a run. */
export interface Figures {
  readonly requests: number;
  readonly succeeded: number;
  readonly attempts: number;
  /** Of all requests, 0 … 1. */
  readonly successShare: number;
  readonly attemptsPerRequest: number;
}

/** Runs `scenario` in virtual time, every client with a strategy of its own. */
export function simulate(
  scenario: Scenario,
  strategy: (hands: Hands) => Strategy,
  { seed, requests: least = 1, policy = DEFAULTS, onLaunch, onEnd }: SimulateOptions,
): Figures {
  const random = createRandom(seed);
  let [requests, succeeded, attempts] = [0, 0, 0];
  const count = (flight: Flight): void => {
    requests += 1;
    attempts += flight.attempts;
    if (flight.state === 'succeeded') succeeded += 1;
    onEnd?.(flight);
  };
  while (requests < least) {
    const clock = createClock();
    const origin = createOrigin(scenario.origin, random);
    for (let index = 0; index < (scenario.clients ?? 1); index++) {
      const client = createClient({
        clock,
        origin,
        random,
        policy,
        strategy,
        onEnd: count,
        ...(onLaunch === undefined ? {} : { onLaunch }),
      });
      send(scenario, clock, random, () => client.request(pathOf(scenario, random)));
    }
    clock.run();
  }
  return {
    requests,
    succeeded,
    attempts,
    successShare: succeeded / requests,
    attemptsPerRequest: attempts / requests,
  };
}

/** Asks the clock to call `request` as the traffic of one client says. */
function send({ traffic, durationMs }: Scenario, clock: Clock, random: Random, request: () => void): void {
  switch (traffic.kind) {
    case 'poisson':
      sendAtRate([{ untilMs: durationMs, perSecond: traffic.perSecond }], clock, random, request);
      break;
    case 'phases':
      sendAtRate(traffic.phases, clock, random, request);
      break;
    case 'burst': {
      for (let at = random() * traffic.everyMs; at < durationMs; at += traffic.everyMs) {
        for (let index = 0; index < traffic.size; index++) clock.at(at, request);
      }
    }
  }
}

function sendAtRate(
  phases: readonly { readonly untilMs: number; readonly perSecond: number }[],
  clock: Clock,
  random: Random,
  request: () => void,
): void {
  let fromMs = 0;
  for (const { untilMs, perSecond } of phases) {
    // Without memory: the first gap of a phase is as good as any.
    for (let at = fromMs + poissonGapMs(perSecond, random); at < untilMs; at += poissonGapMs(perSecond, random)) {
      clock.at(at, request);
    }
    fromMs = untilMs;
  }
}

function pathOf({ paths }: Scenario, random: Random): string {
  if (paths === undefined) return '/';
  let left = random();
  for (const { path, share } of paths) {
    left -= share;
    if (left < 0) return path;
  }
  return '/';
}
