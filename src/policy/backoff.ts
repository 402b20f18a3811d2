/**
 * How long to wait before a retry, as plain data. Build it with {@link exponential}, {@link fullJitter} and their
 * neighbours or write it by hand; {@link delayMs} is the one function that evaluates it. All durations are
 * milliseconds.
 */
export type Backoff =
  | { readonly kind: 'constant'; readonly delayMs: number }
  | { readonly kind: 'linear'; readonly stepMs: number; readonly maxMs: number }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number; readonly maxMs: number }
  | { readonly kind: 'list'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'full-jitter'; readonly of: Backoff }
  | { readonly kind: 'equal-jitter'; readonly of: Backoff }
  | { readonly kind: 'decorrelated-jitter'; readonly of: Backoff }
  | { readonly kind: 'additive-jitter'; readonly of: Backoff; readonly upToMs: number; readonly order: JitterOrder }
  | { readonly kind: 'proportional-jitter'; readonly of: Backoff; readonly ratio: number; readonly order: JitterOrder };

/** Whether the cap of the wrapped backoff also bounds the jittered wait (`before-cap`) or not (`after-cap`). */
export type JitterOrder = 'before-cap' | 'after-cap';

/** The longest wait any backoff may ask for: timers take a signed 32-bit number and fire at once above it. */
export const MAX_DELAY_MS = 2_147_483_647;

/** The same wait before every retry. */
/* @__NO_SIDE_EFFECTS__ */
export const constant = (delayMs: number): Backoff => ({ kind: 'constant', delayMs });

/** `stepMs` before the first retry, twice that before the second, and so on up to `maxMs`. */
/* @__NO_SIDE_EFFECTS__ */
export const linear = ({ stepMs, maxMs = MAX_DELAY_MS }: { stepMs: number; maxMs?: number }): Backoff => ({
  kind: 'linear',
  stepMs,
  maxMs,
});

/** `baseMs × factor^(retry − 1)`, never above `maxMs`. `factor` is 2 unless given. */
/* @__NO_SIDE_EFFECTS__ */
export const exponential = ({
  baseMs,
  factor = 2,
  maxMs = MAX_DELAY_MS,
}: {
  baseMs: number;
  factor?: number;
  maxMs?: number;
}): Backoff => ({ kind: 'exponential', baseMs, factor, maxMs });

/** Explicit waits, one per retry; the last one repeats. */
/* @__NO_SIDE_EFFECTS__ */
export const list = (delaysMs: readonly number[]): Backoff => ({ kind: 'list', delaysMs });

/** Spreads a wait over [0, delay) so that clients which failed together do not return together. */
/* @__NO_SIDE_EFFECTS__ */
export const fullJitter = (of: Backoff): Backoff => ({ kind: 'full-jitter', of });

/** Keeps half of the wait and spreads the other half: [delay / 2, delay). */
/* @__NO_SIDE_EFFECTS__ */
export const equalJitter = (of: Backoff): Backoff => ({ kind: 'equal-jitter', of });

/** Somewhere between the first wait and three times the previous one, within the cap of the wrapped backoff. */
/* @__NO_SIDE_EFFECTS__ */
export const decorrelatedJitter = (of: Backoff): Backoff => ({ kind: 'decorrelated-jitter', of });

/** Adds [0, `upToMs`) to the wait. */
/* @__NO_SIDE_EFFECTS__ */
export const additiveJitter = (of: Backoff, upToMs: number, order: JitterOrder = 'before-cap'): Backoff => ({
  kind: 'additive-jitter',
  of,
  upToMs,
  order,
});

/** Multiplies the wait by something in [1 − `ratio`, 1 + `ratio`). */
/* @__NO_SIDE_EFFECTS__ */
export const proportionalJitter = (of: Backoff, ratio: number, order: JitterOrder = 'before-cap'): Backoff => ({
  kind: 'proportional-jitter',
  of,
  ratio,
  order,
});

/**
 * The wait before retry number `retry` (1-based) in whole milliseconds: finite, never negative, never above the cap.
 *
 * @param random - gives a number in [0, 1)
 * @param previousMs - the wait before the previous retry, for decorrelated jitter
 */
export function delayMs(backoff: Backoff, retry: number, random: () => number, previousMs?: number): number {
  const { ms, capMs } = evaluate(backoff, { retry, random, previousMs });
  const capped = Math.min(ms, capMs, MAX_DELAY_MS);
  // NaN can only come from a broken source of chance; the cap is then the wait that harms nobody but ourselves.
  return Number.isNaN(capped) ? Math.min(capMs, MAX_DELAY_MS) : Math.max(0, Math.round(capped));
}

interface Step {
  readonly retry: number;
  readonly random: () => number;
  readonly previousMs: number | undefined;
}

/** `ms` may still be above `capMs`: each wrapper decides on which side of the cap it works. */
function evaluate(backoff: Backoff, step: Step): { ms: number; capMs: number } {
  switch (backoff.kind) {
    case 'constant':
      return { ms: backoff.delayMs, capMs: MAX_DELAY_MS };
    case 'linear':
      return { ms: backoff.stepMs * step.retry, capMs: backoff.maxMs };
    case 'exponential':
      // 0 × Infinity is not a number: a base of nothing stays nothing however often it is doubled, and what is
      // doubled without end is still a number.
      return {
        ms: backoff.baseMs === 0 ? 0 : Math.min(backoff.baseMs * backoff.factor ** (step.retry - 1), Number.MAX_VALUE),
        capMs: backoff.maxMs,
      };
    case 'list':
      return { ms: backoff.delaysMs[Math.min(step.retry, backoff.delaysMs.length) - 1] ?? 0, capMs: MAX_DELAY_MS };
    case 'full-jitter': {
      const { ms, capMs } = evaluate(backoff.of, step);
      return { ms: step.random() * Math.min(ms, capMs), capMs };
    }
    case 'equal-jitter': {
      const { ms, capMs } = evaluate(backoff.of, step);
      return { ms: (0.5 + step.random() / 2) * Math.min(ms, capMs), capMs };
    }
    case 'decorrelated-jitter': {
      const { ms, capMs } = evaluate(backoff.of, { ...step, retry: 1 });
      const baseMs = Math.min(ms, capMs);
      const upToMs = Math.max(baseMs, 3 * (step.previousMs ?? baseMs));
      return { ms: baseMs + step.random() * (upToMs - baseMs), capMs };
    }
    case 'additive-jitter': {
      const { ms, capMs } = evaluate(backoff.of, step);
      const extraMs = step.random() * backoff.upToMs;
      return backoff.order === 'before-cap'
        ? { ms: ms + extraMs, capMs }
        : { ms: Math.min(ms, capMs) + extraMs, capMs: capMs + backoff.upToMs };
    }
    case 'proportional-jitter': {
      const { ms, capMs } = evaluate(backoff.of, step);
      const scale = 1 + backoff.ratio * (2 * step.random() - 1);
      return backoff.order === 'before-cap'
        ? { ms: ms * scale, capMs }
        : { ms: Math.min(ms, capMs) * scale, capMs: capMs * (1 + backoff.ratio) };
    }
  }
}
