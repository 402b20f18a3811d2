import type { Hands, Strategy } from '../../src/sim/index.ts';

/** A library in the page that retries what the layer below it has given up, without knowing of it. */
export const chained =
  (below: (hands: Hands) => Strategy, rounds: number) =>
  (hands: Hands): Strategy => {
    const { clock, policy } = hands;
    const made = new WeakMap<object, number>();
    const strategy = below({
      ...hands,
      giveUp(flight) {
        const round = (made.get(flight) ?? 1) + 1;
        if (round > rounds) return hands.giveUp(flight);
        made.set(flight, round);
        clock.at(clock.now() + 1_000, () => {
          // For the layer below this is a new request.
          Object.assign(flight, { attempts: 0, paid: 0, waitedMs: undefined, deadline: clock.now() + policy.totalMs });
          strategy.begin(flight);
        });
      },
    });
    return strategy;
  };
