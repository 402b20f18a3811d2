/** A number in [0, 1). */
export type Random = () => number;

/** The same seed gives the same numbers, on every machine (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** How long until the next of events that come independently of each other, `perSecond` on average. */
export const poissonGapMs = (perSecond: number, random: Random): number =>
  (-Math.log(1 - random()) / perSecond) * 1_000;
