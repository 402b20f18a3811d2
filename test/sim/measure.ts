import {
  HEDGE_SHARE,
  hedgeAfterMs,
  hedgeEarned,
  hedgeSpent,
  mayBeHedged,
  NO_HEDGE_STATS,
  timed,
} from '../../src/policy/hedge.ts';
import {
  type Backoff,
  DEFAULTS,
  decorrelatedJitter,
  equalJitter,
  exponential,
  fullJitter,
  type RetryPolicy,
  resolvePolicy,
} from '../../src/policy/index.ts';
import {
  createRandom,
  type Figures,
  failingScenario,
  type Hands,
  naive,
  type Random,
  type Scenario,
  type Strategy,
  simulate,
  steadfetch,
} from '../../src/sim/index.ts';
import { chained } from './chained.ts';

/** What a server was asked in each of equal stretches of time. */
export interface Load {
  readonly binMs: number;
  readonly counts: readonly number[];
}

const CLIENTS = 1_000;

const BASE = exponential({ baseMs: 500, factor: 2, maxMs: 10_000 });
export const JITTERS = {
  none: BASE,
  equal: equalJitter(BASE),
  full: fullJitter(BASE),
  decorrelated: decorrelatedJitter(BASE),
} as const satisfies Record<string, Backoff>;
export type Jitter = keyof typeof JITTERS;

/** A thousand clients lose the same server in the same moment and come back as their jitter says, four times each. */
export function herd(jitter: Jitter, { seed = 1, clients = CLIENTS } = {}): Load & { readonly peak: number } {
  const policy = resolvePolicy({ attempts: 5, backoff: JITTERS[jitter] }, DEFAULTS);
  // One request within the first millisecond.
  const scenario: Scenario = {
    origin: { latencyMs: 100, faults: [{ as: 'reset' }] },
    traffic: { kind: 'burst', size: 1, everyMs: 1 },
    durationMs: 1,
    clients,
  };
  const load = loadOf(scenario, naive, { seed, policy, binMs: 100, untilMs: 10_000 });
  // The first attempts come together whatever is done later.
  return { ...load, peak: Math.max(...load.counts.slice(1)) };
}

/** When the server of {@link recovery} is back, as its `Retry-After` says. */
export const BACK_AT_MS = 12_000;

/** Does what `Retry-After` says to the millisecond. */
const punctual = ({ clock, launch, giveUp }: Hands): Strategy => ({
  begin: (flight) => launch(flight, 'first'),
  succeeded() {},
  failed(flight) {
    if (clock.now() >= BACK_AT_MS) giveUp(flight);
    else clock.at(BACK_AT_MS, () => launch(flight, 'retry'));
  },
});

/** How a fleet comes back when its server names the moment at which it will. */
export const RETURNS = {
  'at the named moment': punctual,
  'each with upward jitter': naive,
  'steadfetch: hold, then spread': steadfetch(),
} as const satisfies Record<string, (hands: Hands) => Strategy>;
export type Return = keyof typeof RETURNS;

/** Each of a thousand clients asks once in five seconds. `peak`: the most a second after it was back, over any quarter of one. */
export function recovery(how: Return, seed = 1): Load & { readonly peak: number; readonly steady: number } {
  const perSecond = 0.2;
  const scenario: Scenario = {
    origin: {
      latencyMs: 100,
      faults: [{ as: 503, untilMs: BACK_AT_MS }],
      retryAfter: new Date(BACK_AT_MS).toUTCString(),
    },
    traffic: { kind: 'poisson', perSecond },
    durationMs: 30_000,
    clients: CLIENTS,
  };
  const load = loadOf(scenario, RETURNS[how], { seed, policy: DEFAULTS, binMs: 250, untilMs: 24_000 });
  const after = load.counts.slice(BACK_AT_MS / load.binMs);
  return { ...load, peak: Math.max(...after) * (1_000 / load.binMs), steady: CLIENTS * perSecond };
}

/** One or two layers of retries over a server that is down for five minutes. */
export const LAYERS = {
  'one naive layer': naive,
  'naive over naive': chained(naive, 4),
  'naive over steadfetch': chained(steadfetch(), 4),
  'steadfetch over steadfetch': steadfetch(),
} as const satisfies Record<string, (hands: Hands) => Strategy>;
export type Layers = keyof typeof LAYERS;

export function attemptsOf(layers: Layers, { seed = 1, requests = 5_000 } = {}): number {
  let attempts = 0;
  const figures = simulate(failingScenario('5 min outage', '1/s'), LAYERS[layers], {
    seed,
    requests,
    onLaunch: () => {
      attempts += 1;
    },
  });
  return attempts / figures.requests;
}

export const PERCENTILES = [50, 90, 95, 98, 99, 99.5, 99.9] as const;

/** How long requests take where one in fifty takes seconds, without and with a hedge after what 95 % take. */
export function hedgingTail({ seed = 1, requests = 50_000 } = {}) {
  const random = createRandom(seed);
  const [without, hedged]: [number[], number[]] = [[], []];
  let stats = NO_HEDGE_STATS;
  let hedges = 0;
  for (let index = 0; index < requests; index++) {
    const first = tookMs(random);
    const second = tookMs(random);
    stats = hedgeEarned(stats);
    const afterMs = hedgeAfterMs({ afterMs: 'p95', max: 1 }, stats);
    const hedge = afterMs !== undefined && first > afterMs && mayBeHedged(stats, 0);
    if (hedge) {
      stats = hedgeSpent(stats);
      hedges += 1;
    }
    const took = hedge ? Math.min(first, afterMs + second) : first;
    stats = timed(stats, took);
    without.push(first);
    hedged.push(took);
  }
  return {
    hedgeShare: hedges / requests,
    mostHedges: HEDGE_SHARE + 1 / requests,
    without: PERCENTILES.map((percentile) => quantile(without, percentile)),
    hedged: PERCENTILES.map((percentile) => quantile(hedged, percentile)),
  };
}

/** A thousand browsers for ten minutes, one of them an outage of the server: how fast that is simulated. */
export function fleet(seed = 1): Figures {
  return simulate(
    {
      origin: { latencyMs: 130, faults: [{ as: 'reset', fromMs: 120_000, untilMs: 180_000 }] },
      traffic: { kind: 'poisson', perSecond: 0.5 },
      durationMs: 600_000,
      clients: CLIENTS,
    },
    steadfetch(),
    { seed },
  );
}

function loadOf(
  scenario: Scenario,
  strategy: (hands: Hands) => Strategy,
  { seed, policy, binMs, untilMs }: { seed: number; policy: RetryPolicy; binMs: number; untilMs: number },
): Load {
  const counts: number[] = Array.from({ length: untilMs / binMs }, () => 0);
  simulate(scenario, strategy, {
    seed,
    policy,
    onLaunch({ launchedAt }) {
      const bin = Math.floor(launchedAt / binMs);
      if (bin < counts.length) counts[bin] = (counts[bin] ?? 0) + 1;
    },
  });
  return { binMs, counts };
}

/** Around 60 ms, and one in fifty seconds. */
function tookMs(random: Random): number {
  const slow = random() < 0.02;
  const spread = random();
  return slow ? 1_500 + 3_000 * spread : 40 + 60 * spread ** 2;
}

function quantile(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percentile) / 100))] ?? 0;
}
