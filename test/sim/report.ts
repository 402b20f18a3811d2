import {
  BROKEN_PATH,
  brokenEndpoint,
  classic,
  FAILINGS,
  type Failing,
  type FaultKind,
  type Figures,
  failingScenario,
  type Hands,
  naive,
  OVERLOAD,
  overload,
  type Strategy,
  simulate,
  steadfetch,
  TRAFFICS,
  type TrafficName,
} from '../../src/sim/index.ts';
import { BOUNDS, KNOWN_CELLS, OVERLOAD_MISS, STEADFETCH } from './expected.ts';

export interface Row {
  readonly name: string;
  readonly text: string;
  readonly ok: boolean;
  /** Where a bound is missed and it is known why: it may be missed by no more than it is. */
  readonly known?: string;
  /** What a cell of the table was computed from. */
  readonly cell?: Cell;
}

/** A way to fail and a traffic, and what each strategy makes of them. */
export interface Cell {
  readonly failing: Failing;
  readonly traffic: TrafficName;
  readonly figures: Readonly<Record<keyof typeof STRATEGIES, Figures>>;
}

const STRATEGIES: Record<'steadfetch' | 'naive' | 'classic', (hands: Hands) => Strategy> = {
  steadfetch: steadfetch(),
  naive,
  classic: classic(),
};

const failings = Object.keys(FAILINGS) as Failing[];
const traffics = Object.keys(TRAFFICS) as TrafficName[];

/** The table's cells, one after the other. `slack`: points that a small sample may be further off. */
export function* cells(requests: number, slack = 0): Generator<Row> {
  for (const [index, failing] of failings.entries()) {
    for (const [column, traffic] of traffics.entries()) {
      const seed = 1_000 + index * traffics.length + column;
      const run = (strategy: keyof typeof STRATEGIES) =>
        simulate(failingScenario(failing, traffic), STRATEGIES[strategy], { seed, requests });
      const figures = { steadfetch: run('steadfetch'), naive: run('naive'), classic: run('classic') };
      const ours = figures.steadfetch;
      const [success, attempts] = STEADFETCH[failing][traffic];
      const close =
        Math.abs(percent(ours) - success) <= BOUNDS.points + slack &&
        Math.abs(ours.attemptsPerRequest - attempts) <= BOUNDS.attempts;
      const others = `${print(figures.naive)}; ${print(figures.classic)}`;
      const text = `${print(ours)} (${others}), expected ${success.toFixed(1)} % at ${attempts.toFixed(2)}`;
      const name = `${failing}, ${traffic}`;
      const known = KNOWN_CELLS[name];
      const asKnown = known && Math.abs(percent(ours) - known.points) <= BOUNDS.points + slack;
      const cell = { failing, traffic, figures };
      yield { name, text, ok: close, cell, ...(asKnown ? { known: known.why } : {}) };
    }
  }
}

/** What else the guards have to hold. */
export function* furtherRows(requests: number): Generator<Row> {
  for (const as of [503, 'reset', 'hang'] satisfies FaultKind[]) {
    for (const failing of ['10 s blip', '30 s blip'] satisfies Failing[]) {
      const scenario = failingScenario(failing, '1/s', as);
      const ours = simulate(scenario, STRATEGIES.steadfetch, { seed: 1, requests });
      const theirs = simulate(scenario, STRATEGIES.naive, { seed: 1, requests });
      yield {
        name: `${failing} as ${as}, 1/s`,
        text: `${print(ours)} (${print(theirs)}), no worse than naive at no more attempts`,
        ok: percent(ours) >= percent(theirs) - 0.5 && ours.attemptsPerRequest <= theirs.attemptsPerRequest + 0.01,
      };
    }
  }
  for (const [share, most] of [
    [0.5, 0.6],
    [0.8, 0.4],
  ] as const) {
    const ours = broken(share, 'steadfetch', requests);
    const theirs = broken(share, 'naive', requests);
    const text = `healthy ${ours.healthy.toFixed(2)} %, ${ours.retries.toFixed(2)} retries a request (naive ${theirs.retries.toFixed(2)}), at least 99.9 % and at most ${most}`;
    yield {
      name: `one endpoint down, ${share * 100} % of 5/s`,
      text,
      ok: ours.healthy >= 99.9 && ours.retries <= most,
    };
  }
  const load = overloaded();
  yield {
    name: '100 clients, 1.3 of the capacity',
    text: `goodput ${load.goodput.toFixed(3)} at ${load.attempts.toFixed(2)}, 10 s later ${load.after.toFixed(1)} %; at least 0.95 at 1.40, 99 %`,
    ok: load.goodput >= 0.95 && load.attempts <= 1.4 && load.after >= 99,
    ...(load.goodput >= 0.95 && load.attempts <= 2 && load.after >= 99 ? { known: OVERLOAD_MISS } : {}),
  };
}

const percent = ({ successShare }: Figures): number => successShare * 100;
const print = (figures: Figures): string =>
  `${percent(figures).toFixed(1)} % at ${figures.attemptsPerRequest.toFixed(2)}`;

function broken(share: number, strategy: 'steadfetch' | 'naive', requests: number) {
  let [healthy, good] = [0, 0];
  const figures = simulate(brokenEndpoint(share, '5/s'), STRATEGIES[strategy], {
    seed: 2,
    requests,
    onEnd({ path, state }) {
      if (path === BROKEN_PATH) return;
      healthy += 1;
      if (state === 'succeeded') good += 1;
    },
  });
  return { healthy: (100 * good) / healthy, retries: figures.attemptsPerRequest - 1 };
}

function overloaded() {
  const capacityPerSecond = 500;
  let [goodput, requests, attempts, later, laterGood] = [0, 0, 0, 0, 0];
  const { fromMs, untilMs } = OVERLOAD;
  simulate(overload({ capacityPerSecond, calm: 0.5 }), STRATEGIES.steadfetch, {
    seed: 3,
    onEnd(flight) {
      const good = flight.state === 'succeeded';
      if (good && flight.endedAt >= fromMs && flight.endedAt < untilMs) goodput += 1;
      if (flight.startedAt >= fromMs && flight.startedAt < untilMs) {
        requests += 1;
        attempts += flight.attempts;
      } else if (flight.startedAt >= untilMs + 10_000) {
        later += 1;
        if (good) laterGood += 1;
      }
    },
  });
  const offered = (capacityPerSecond * (untilMs - fromMs)) / 1_000;
  return { goodput: goodput / offered, attempts: attempts / requests, after: (100 * laterGood) / later };
}
