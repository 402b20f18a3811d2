/** "Not before": until when the server of an origin and group has asked not to be asked again. */
export interface Hold {
  /** Holds every path of the group (epoch milliseconds); 0 is none. */
  readonly until: number;
  /** Holds single paths, for a while longer than they last: two of them soon after each other hold the group. */
  readonly paths: Readonly<Record<string, PathHold>>;
}

export interface PathHold {
  readonly until: number;
  /** When the server said so. */
  readonly at: number;
}

/**
 * What a `Retry-After` speaks for. `auto`: the whole group on 503 (the server is down), the path on 429 (a rate limit),
 * and the group once two paths were told so within ten seconds.
 */
export type HoldScope = 'auto' | 'path' | 'group';

export const NO_HOLD: Hold = /* @__PURE__ */ Object.freeze({ until: 0, paths: /* @__PURE__ */ Object.freeze({}) });

/** Two paths that are limited this soon after each other are one limit. */
const TWO_PATHS_MS = 10_000;
/** A hold is never longer, whatever a server says; a single request may go through meanwhile and end it. */
export const MAX_HOLD_MS = 3_600_000;
/** Over this long those that waited for the end of a hold come back, behind one that goes at once. */
export const HOLD_SPREAD_MS = 2_000;
const MAX_PATHS = 20;

/** A server named a time: `status` and `path` say whom it spoke to. */
export interface HoldAsked {
  readonly at: number;
  readonly status: number;
  readonly path: string;
  readonly until: number;
  readonly scope: HoldScope;
}

export function holdFor(hold: Hold, { at, status, path, until: asked, scope }: HoldAsked): Hold {
  const until = Math.min(asked, at + MAX_HOLD_MS);
  if (scope === 'group' || (scope === 'auto' && status !== 429)) return { ...hold, until: Math.max(hold.until, until) };
  const others = Object.entries(hold.paths).filter(([other, told]) => other !== path && isRecent(told, at));
  const both = scope === 'auto' && others.some(([, told]) => Math.abs(at - told.at) <= TWO_PATHS_MS);
  const before = toldOf(hold, path)?.until ?? 0;
  const paths = [...others, [path, { until: Math.max(before, until), at }] as const].slice(-MAX_PATHS);
  return { until: both ? Math.max(hold.until, until) : hold.until, paths: Object.fromEntries(paths) };
}

/** The instant before which this path is not to be asked; in the past if it is not held. */
export const heldUntil = (hold: Hold, path: string): number => Math.max(hold.until, toldOf(hold, path)?.until ?? 0);

/** A path may have the name of something that every object has. */
export const toldOf = ({ paths }: Hold, path: string): PathHold | undefined =>
  Object.hasOwn(paths, path) ? paths[path] : undefined;

/** As many as are remembered, of those that were told last. In one order for all, so that nobody keeps others. */
export const lastTold = (paths: Hold['paths']): Hold['paths'] =>
  Object.fromEntries(
    Object.entries(paths)
      .sort(([one, a], [other, b]) => a.at - b.at || (one < other ? -1 : 1))
      .slice(-MAX_PATHS),
  );

/** A request that went through all the same was answered well: the server has changed its mind about its path, or all. */
export function endHold(hold: Hold, path: string): Hold {
  const { [path]: _, ...others } = hold.paths;
  return { until: 0, paths: others };
}

/** Does it say anything at `at`? */
export const isHolding = (hold: Hold, at: number): boolean =>
  hold.until > at || Object.values(hold.paths).some((told) => isRecent(told, at));

const isRecent = (told: PathHold, at: number): boolean => told.until > at || at - told.at <= TWO_PATHS_MS;
