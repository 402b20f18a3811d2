import { readPlan, type Step } from './step.ts';

/** How a server is for a while, whoever asks how often. The last phase stays. */
export interface Phase {
  readonly forMs: number;
  /** What a hit gets; an ordinary 200 unless given. */
  readonly step?: Step;
  /** Share of the hits that get `instead`, by a chance that is the same for every id. */
  readonly share?: number;
  readonly instead?: Step;
  /** Hits in one second beyond which each gets `over`. */
  readonly perSecond?: number;
  readonly over?: Step;
}

export interface Weather {
  /** The step of the hit that arrives now. */
  next(now: number): Step;
}

/** Phases that are safe to carry out, or one sentence on why they are not. */
export function readWeather(json: unknown): { readonly phases: readonly Phase[] } | { readonly problem: string } {
  if (!Array.isArray(json) || json.length === 0) return { problem: 'weather must be a list of at least one phase' };
  for (const [index, phase] of json.entries()) {
    const problem = problemOf(phase);
    if (problem !== undefined) return { problem: `phase ${index + 1}: ${problem}` };
  }
  return { phases: [...json] };
}

export function createWeather(phases: readonly Phase[], startedAt: number): Weather {
  const chance = createChance();
  let second = 0;
  let hits = 0;
  return {
    next(now) {
      const drawn = chance();
      const { step = {}, share = 0, instead = step, perSecond = Number.POSITIVE_INFINITY, over = step } = phaseAt(now);
      const thisSecond = Math.floor((now - startedAt) / 1_000);
      hits = thisSecond === second ? hits + 1 : 1;
      second = thisSecond;
      if (hits > perSecond) return over;
      return drawn < share ? instead : step;
    },
  };

  function phaseAt(now: number): Phase {
    let left = now - startedAt;
    for (const phase of phases) {
      left -= phase.forMs;
      if (left < 0) return phase;
    }
    return phases.at(-1) ?? { forMs: 0 };
  }
}

/** The same numbers for every id, so that lanes that are compared have the same luck (mulberry32). */
function createChance(seed = 36): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NUMBERS = ['forMs', 'share', 'perSecond'];
const STEPS = ['step', 'instead', 'over'];

function problemOf(phase: unknown): string | undefined {
  if (typeof phase !== 'object' || phase === null) return 'a phase must be an object';
  if (!('forMs' in phase)) return '"forMs" is missing';
  for (const [field, value] of Object.entries(phase)) {
    if (STEPS.includes(field)) {
      const plan = readPlan([value]);
      if ('problem' in plan) return `"${field}": ${plan.problem}`;
    } else if (!NUMBERS.includes(field)) {
      return `unknown field "${field}"; the fields are ${[...NUMBERS, ...STEPS].join(', ')}`;
    } else if (typeof value !== 'number' || !(value >= 0)) {
      return `"${field}" must be a number that is not negative`;
    }
  }
  return undefined;
}
