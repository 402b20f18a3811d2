import type { Step } from '../../demo/misbehaving-server.ts';
import { createRandom, type Random } from '../../src/sim/random.ts';
import { FAULTS, goodStep } from './faults.ts';

/** All that a run does, in order. The same seed makes the same plan; how long everything takes is the machine's. */
export interface Plan {
  readonly seed: number;
  readonly guards: Guards;
  readonly actions: readonly Action[];
}

/** `roomy`: guards that never interfere, so that retries happen; `strict`: those of a user, with shorter times. */
export type Guards = 'roomy' | 'strict';

export type Action =
  | { readonly do: 'issue'; readonly issue: Issue }
  /** The worker is stopped, as a browser may do at any moment. */
  | { readonly do: 'kill' }
  | { readonly do: 'flip'; readonly offlineMs: number }
  /** A user who does not want to wait: what waits goes now. */
  | { readonly do: 'hurry' }
  /** The tab of that number is closed with all that it waits for, and opened again. */
  | { readonly do: 'close'; readonly tab: number }
  /** No kills from here on: what the worker's memory holds now is what it is held to at the end. */
  | { readonly do: 'weigh' };

/** How a page asks. */
export type Kind = 'fetch' | 'xhr' | 'stream' | 'bridge' | 'abort' | 'cancel' | 'image' | 'script' | 'style' | 'frame';

/** Which route of `chaos.sw.ts` takes it; `left`: one that is never touched. */
export type Route =
  | 'plain'
  | 'left'
  | 'resume'
  | 'hold'
  | 'hedge'
  | 'reject'
  | 'cut'
  | 'box'
  | 'boxed-in-order'
  | 'box-adds-key';

/** One request of a page, and all that its server will do about it. */
export interface Issue {
  readonly id: string;
  readonly kind: Kind;
  readonly route: Route;
  /** Which of the records of its route it comes under. */
  readonly shard: number;
  readonly method: string;
  readonly origin: 'first' | 'second';
  readonly keepalive: boolean;
  readonly key?: string;
  /** See `requestBody`; absent: it has none. */
  readonly bodyBytes?: number;
  readonly tab: number;
  /** By their names, for the trace. */
  readonly faults: readonly string[];
  readonly steps: readonly Step[];
  /** What the place that it is sent on to answers. */
  readonly onward?: readonly Step[];
}

export const TABS = 3;
const SHARDS = 4;

/** What the server of an id that a redirect leads to is called. */
export const onwardOf = (id: string): string => `${id}-on`;

export function createPlan(seed: number, requests: number): Plan {
  const random = createRandom(seed);
  const guards: Guards = seed % 2 === 0 ? 'strict' : 'roomy';
  const actions: Action[] = [];
  // A worker that was just stopped has no memory to be held to.
  const weighAt = Math.floor(requests * 0.6);
  for (let n = 1; n <= requests; n += 1) {
    if (n === weighAt) actions.push({ do: 'weigh' });
    actions.push({ do: 'issue', issue: createIssue(n, random) });
    const luck = random();
    if (luck < 0.02 && n < weighAt * 0.8) actions.push({ do: 'kill' });
    else if (luck > 0.985) actions.push({ do: 'close', tab: pick([0, 1, 2], random) });
    else if (luck > 0.965) actions.push({ do: 'hurry' });
    else if (luck > 0.955) actions.push({ do: 'flip', offlineMs: 100 + Math.floor(random() * 500) });
  }
  return { seed, guards, actions };
}

export const issuesOf = ({ actions }: Plan): readonly Issue[] =>
  actions.flatMap((action) => (action.do === 'issue' ? [action.issue] : []));

/** How often each kind of request is asked for, and by which methods and routes. */
const SORTS: readonly {
  readonly weight: number;
  readonly kind: Kind;
  readonly routes: readonly Route[];
  readonly methods: readonly string[];
}[] = [
  { weight: 22, kind: 'fetch', routes: ['plain', 'hedge', 'hold', 'cut', 'reject'], methods: ['GET', 'GET', 'HEAD'] },
  { weight: 18, kind: 'fetch', routes: ['plain'], methods: ['PUT', 'DELETE', 'POST', 'PATCH'] },
  { weight: 3, kind: 'fetch', routes: ['left'], methods: ['GET', 'PUT', 'POST'] },
  { weight: 10, kind: 'xhr', routes: ['plain', 'hold', 'cut'], methods: ['GET', 'PUT', 'POST'] },
  { weight: 6, kind: 'stream', routes: ['plain'], methods: ['GET'] },
  { weight: 12, kind: 'stream', routes: ['resume'], methods: ['GET'] },
  { weight: 4, kind: 'bridge', routes: ['plain', 'hedge'], methods: ['GET', 'POST'] },
  { weight: 3, kind: 'abort', routes: ['plain', 'resume', 'box'], methods: ['GET', 'PUT'] },
  { weight: 2, kind: 'cancel', routes: ['plain'], methods: ['GET'] },
  { weight: 5, kind: 'image', routes: ['plain', 'hedge'], methods: ['GET'] },
  { weight: 4, kind: 'script', routes: ['plain'], methods: ['GET'] },
  { weight: 4, kind: 'style', routes: ['plain'], methods: ['GET'] },
  { weight: 4, kind: 'frame', routes: ['plain'], methods: ['GET'] },
  {
    weight: 15,
    kind: 'fetch',
    routes: ['box', 'boxed-in-order', 'box-adds-key'],
    methods: ['POST', 'PUT', 'DELETE', 'PATCH'],
  },
];

const ALL_WEIGHTS = SORTS.reduce((sum, { weight }) => sum + weight, 0);
const BODILESS = ['GET', 'HEAD', 'DELETE'];
const BOXES: readonly Route[] = ['box', 'boxed-in-order', 'box-adds-key'];
const SUBRESOURCES: readonly Kind[] = ['image', 'script', 'style', 'frame'];

export const isBoxed = ({ route, method }: Pick<Issue, 'route' | 'method'>): boolean =>
  BOXES.includes(route) && method !== 'GET' && method !== 'HEAD';

function createIssue(n: number, random: Random): Issue {
  const { kind, routes, methods } = sortAt(random() * ALL_WEIGHTS);
  const id = `r${n}`;
  const route = pick(routes, random);
  const method = pick(methods, random);
  const hasKey = ['POST', 'PATCH'].includes(method) && random() < 0.6;
  const hasBody = !BODILESS.includes(method);
  const base = {
    id,
    kind,
    route,
    method,
    shard: Math.floor(random() * SHARDS),
    // An answer of another origin tells subresources nothing, and keys are added to this origin's only.
    origin: !SUBRESOURCES.includes(kind) && !isBoxed({ route, method }) && random() < 0.4 ? 'second' : 'first',
    keepalive: kind === 'fetch' && random() < 0.06,
    ...(hasKey ? { key: `key-${n}` } : {}),
    ...(hasBody ? { bodyBytes: Math.floor(random() ** 3 * 500_000) } : {}),
    tab: Math.floor(random() * TABS),
  } as const;
  return { ...base, ...createSteps(base, random) };
}

type Unplanned = Omit<Issue, 'faults' | 'steps' | 'onward'>;

/** Some faults, and then (mostly) an end of them. */
function createSteps(issue: Unplanned, random: Random): Pick<Issue, 'faults' | 'steps' | 'onward'> {
  const good = goodStep(issue, random);
  const may = FAULTS.filter(({ fits }) => fits?.(issue) ?? true);
  // What is to be kept has to fail for longer than its page tries.
  const share = random() + (isBoxed(issue) ? 0.3 : 0);
  const count = share < 0.4 ? 0 : share < 0.7 ? 1 : share < 0.85 ? 2 : 1 + Math.floor(random() * 6);
  const cuts = may.filter((fault) => fault.cuts);
  const mends = issue.route === 'resume' || issue.route === 'hold';
  const faults = Array.from({ length: count }, () => pick(mends && random() < 0.5 ? cuts : may, random));
  const steps: Step[] = faults.map(({ make }) => make(good, issue, random));
  const names = faults.map(({ name }) => name);
  // The last step is that of all hits to come.
  const forGood = count > 0 && random() < 0.12;
  if (!forGood) steps.push(good);
  else names.push('for good');
  const onward = steps.some(({ redirect }) => redirect !== undefined) ? { onward: [good] } : {};
  return { faults: names, steps, ...onward };
}

function sortAt(place: number): (typeof SORTS)[number] {
  let left = place;
  for (const sort of SORTS) {
    left -= sort.weight;
    if (left < 0) return sort;
  }
  return SORTS[0] as (typeof SORTS)[number];
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[Math.floor(random() * from.length)] as T;
}
