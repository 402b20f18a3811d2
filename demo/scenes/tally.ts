import type { Got } from './ask.ts';

/** What is known of one lane of a run: what its page got, and what its server was asked. */
export interface Tally {
  readonly sent: number;
  readonly good: number;
  readonly bad: number;
  /** Neither: it was called off. */
  readonly stopped: number;
  /** Of what is over, in milliseconds. */
  readonly tookMs: readonly number[];
  readonly hits: number;
  /** How many requests these hits are of: what waits in the browser is not among them. */
  readonly asked: number;
  /** By second of the run, from its beginning. */
  readonly load: readonly Second[];
}

/** What the server was asked in one second. */
export interface Second {
  readonly hits: number;
  /** Of these, what was answered well. */
  readonly good: number;
}

export const EMPTY: Tally = { sent: 0, good: 0, bad: 0, stopped: 0, tookMs: [], hits: 0, asked: 0, load: [] };

export const withSent = (tally: Tally): Tally => ({ ...tally, sent: tally.sent + 1 });

/** What was called off is no success and no failure; the server was asked for it all the same. */
export function withGot(tally: Tally, { ok, tookMs, stopped }: Got): Tally {
  if (stopped) return { ...tally, stopped: tally.stopped + 1 };
  return {
    ...tally,
    good: tally.good + (ok ? 1 : 0),
    bad: tally.bad + (ok ? 0 : 1),
    tookMs: [...tally.tookMs, tookMs],
  };
}

/** `isFirst`: the server has not been asked for this request before. */
export function withHit(tally: Tally, isFirst: boolean, afterMs: number, status: number | null): Tally {
  const second = Math.max(0, Math.floor(afterMs / 1_000));
  const load = Array.from(
    { length: Math.max(tally.load.length, second + 1) },
    (_, at) => tally.load[at] ?? { hits: 0, good: 0 },
  );
  const { hits, good } = load[second] ?? { hits: 0, good: 0 };
  load[second] = { hits: hits + 1, good: good + (status !== null && status < 400 ? 1 : 0) };
  return { ...tally, hits: tally.hits + 1, asked: tally.asked + (isFirst ? 1 : 0), load };
}

export const openOf = ({ sent, good, bad, stopped }: Tally): number => sent - good - bad - stopped;

/** In words, `–` for what is not known. */
export function figuresOf({ sent, good, bad, tookMs, hits, asked, load }: Tally) {
  const over = good + bad;
  return {
    success: over === 0 ? '–' : `${percent(good / over)} %`,
    attempts: asked === 0 ? '–' : (hits / asked).toFixed(2),
    peak: load.length === 0 ? '–' : String(Math.max(...load.map((second) => second.hits))),
    slowest: over === 0 ? '–' : seconds(quantile(tookMs, 0.99)),
    hits: String(hits),
    sent: String(sent),
  };
}

export type Figures = ReturnType<typeof figuresOf>;

/** Never rounded up to everything. */
const percent = (share: number): string => (share === 1 ? '100' : Math.min(99.9, share * 100).toFixed(1));

const seconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
