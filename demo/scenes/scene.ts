import type { Phase } from '../misbehaving-server.ts';

/** The three ways to ask that are compared, in this order. */
export const LANES = ['none', 'naive', 'steadfetch'] as const;
export type LaneName = (typeof LANES)[number];

/** A piece of bad luck as data: what the server does as time goes by, and what is asked of it meanwhile. */
export interface Scene {
  readonly id: string;
  readonly name: string;
  /** What happens, in one sentence. */
  readonly story: string;
  /** What to look for in the three lanes. */
  readonly expect: string;
  /** As long as `lengthMs` together; `perSecond` is what each lane asks for. */
  phases(lengthMs: number, perSecond: number): readonly ScenePhase[];
  /** The first part of the wire id of the lane with steadfetch, by which the worker knows its route. @defaultValue scene */
  readonly route?: 'hedged';
}

export interface ScenePhase extends Phase {
  /** Said of it in the charts; absent: all is well. */
  readonly trouble?: string;
  /** How many times the usual traffic is asked for. @defaultValue 1 */
  readonly rush?: number;
}

/** A time within a run in which something was wrong. */
export interface Band {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly trouble: string;
}

export function bandsOf(phases: readonly ScenePhase[]): readonly Band[] {
  let fromMs = 0;
  return phases.flatMap(({ forMs, trouble }) => {
    const band = { fromMs, untilMs: fromMs + forMs };
    fromMs += forMs;
    return trouble === undefined ? [] : [{ ...band, trouble }];
  });
}

/** What the server is to be told: it knows of no words and of no traffic. */
export const toWeather = (phases: readonly ScenePhase[]): readonly Phase[] =>
  phases.map(({ trouble: _, rush: __, ...phase }) => phase);

/** How many requests a lane has sent when the run is `elapsedMs` old. */
export function dueBy(phases: readonly ScenePhase[], perSecond: number, elapsedMs: number): number {
  let [left, due] = [elapsedMs, 0];
  for (const { forMs, rush = 1 } of phases) {
    due += (Math.min(forMs, Math.max(0, left)) / 1_000) * perSecond * rush;
    left -= forMs;
  }
  return Math.floor(due);
}

export const lengthOf = (phases: readonly ScenePhase[]): number => phases.reduce((sum, { forMs }) => sum + forMs, 0);
