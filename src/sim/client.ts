import { deadlineAt } from '../policy/deadline.js';
import { isFinal } from '../policy/decide.js';
import type { RequestFacts } from '../policy/eligibility.js';
import type { Outcome } from '../policy/outcome.js';
import type { RetryPolicy } from '../policy/policy.js';
import type { Clock } from './clock.js';
import type { Origin } from './origin.js';
import type { Random } from './random.js';

/** A request that is under way. */
export interface Flight {
  readonly path: string;
  /** All instants are milliseconds since the scenario began. */
  readonly startedAt: number;
  readonly deadline: number;
  attempts: number;
  /** When its latest attempt was launched. */
  launchedAt: number;
  /** What its latest attempt was paid with. */
  paid: number;
  /** The wait before its latest retry, which decorrelated jitter looks back on. */
  waitedMs: number | undefined;
  state: 'running' | 'succeeded' | 'failed';
  endedAt: number;
}

/** Why an attempt was launched. */
export type Why = 'first' | 'retry' | 'probe' | 'released';

/** What a strategy may do with the requests of its client. */
export interface Hands {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: RetryPolicy;
  /** Sends an attempt; what comes of it is told to the strategy. */
  launch(flight: Flight, why: Why): void;
  /** Ends a request that has failed. */
  giveUp(flight: Flight): void;
}

/** What stands between a client's requests and its server. One for each client: it may remember. */
export interface Strategy {
  /** A request begins; nothing has been sent. */
  begin(flight: Flight): void;
  /** An attempt had an answer that is the page's, and the request is over. */
  succeeded(flight: Flight): void;
  /** An attempt failed in a way that may be retried. */
  failed(flight: Flight, outcome: Outcome): void;
}

export interface World {
  readonly clock: Clock;
  readonly origin: Origin;
  readonly random: Random;
  readonly policy: RetryPolicy;
  readonly strategy: (hands: Hands) => Strategy;
  readonly onLaunch?: (flight: Flight, why: Why) => void;
  readonly onEnd: (flight: Flight) => void;
}

/** One browser. All its tabs are one client: that is what the worker is for. */
export function createClient(world: World): { request(path: string): void } {
  const { clock, origin, random, policy } = world;

  function launch(flight: Flight, why: Why): void {
    flight.attempts += 1;
    flight.launchedAt = clock.now();
    world.onLaunch?.(flight, why);
    const attempt = { at: flight.launchedAt, path: flight.path, timeoutMs: policy.attemptTimeoutMs };
    const { outcome, afterMs } = origin.reply(attempt);
    clock.at(flight.launchedAt + afterMs, () => landed(flight, outcome));
  }

  function landed(flight: Flight, outcome: Outcome): void {
    if (isFinal(outcome, FACTS, policy)) {
      end(flight, 'succeeded');
      strategy.succeeded(flight);
    } else {
      strategy.failed(flight, outcome);
    }
  }

  function end(flight: Flight, state: 'succeeded' | 'failed'): void {
    flight.state = state;
    flight.endedAt = clock.now();
    world.onEnd(flight);
  }

  const strategy = world.strategy({ clock, random, policy, launch, giveUp: (flight) => end(flight, 'failed') });

  return {
    request(path) {
      const startedAt = clock.now();
      const deadline = deadlineAt(startedAt, policy.totalMs);
      strategy.begin({ path, startedAt, deadline, ...FRESH });
    },
  };
}

const FRESH = { attempts: 0, launchedAt: 0, paid: 0, waitedMs: undefined, state: 'running', endedAt: 0 } as const;

/** Every simulated request is a page's own `fetch` of something it may ask for again. */
export const FACTS: RequestFacts = Object.freeze({
  method: 'GET',
  url: 'https://app.test/',
  protocol: 'https:',
  origin: 'https://app.test',
  path: '/',
  sameOrigin: true,
  navigation: false,
  mode: 'cors',
  destination: '',
  cache: 'default',
  keyed: false,
  eventStream: false,
  range: false,
  hasBody: false,
  choosy: false,
  sameReferrer: true,
  polling: false,
  keepalive: false,
  reloaded: false,
});

/** What {@link afterFailure} is told of every simulated request. */
export const situation = (flight: Flight, outcome: Outcome, { clock, random, policy }: Hands) => ({
  outcome,
  request: FACTS,
  policy,
  attempt: flight.attempts,
  now: clock.now(),
  deadline: flight.deadline,
  replayable: true,
  online: true,
  previousDelayMs: flight.waitedMs,
  random,
});
