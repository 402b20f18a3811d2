import { OTHERWISE, type Otherwise } from './otherwise.ts';
import { type Played, play, Unplayable, type Way } from './play.ts';
import type { Bound, Expected, NetworkStep, Row } from './row.ts';
import { toPolicy } from './to-policy.ts';

export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'not-applicable'; readonly why: string };

/** Where chance has a say, its least, its middle and its most. */
const CHANCES = [0, 0.5, 1 - 2 ** -53];

/** Runs a row and says whether what it expects is what came. Never throws. */
export async function judge(
  row: Row,
  otherwise: Readonly<Record<string, Otherwise>> = OTHERWISE,
  way: Way = 'worker',
): Promise<Verdict> {
  const mapped = toPolicy(row);
  if ('cannot' in mapped) return { kind: 'not-applicable', why: mapped.cannot };
  const all: Plays = [];
  try {
    for (const chance of chancesOf(row, mapped.chancy)) {
      all.push(await inZone(row.given.TZ, () => play(row, mapped.policy, chance, way)));
    }
  } catch (error) {
    if (error instanceof Unplayable) return { kind: 'not-applicable', why: error.message };
    return { kind: 'failed', why: `broke: ${error}` };
  }
  const different = differencesIn(row, row.then, all);
  const why = inWords(different);
  const decided = Object.hasOwn(otherwise, row.id) ? otherwise[row.id] : undefined;
  if (decided === undefined) {
    if (why === '') return { kind: 'passed' };
    if (row.optional) return { kind: 'not-applicable', why: `a matter of taste, and ours is another: ${why}` };
    if (all.every(({ waitedFor }) => waitedFor) && different.flat().every(({ name }) => OF_THE_END.includes(name))) {
      return { kind: 'not-applicable', why: `${WAITED_FOR} (${why})` };
    }
    return { kind: 'failed', why };
  }
  if (why === '') return { kind: 'failed', why: 'passes, though it is listed as decided otherwise' };
  const neither = inWords(differencesIn(row, decided.then, all));
  return neither === ''
    ? { kind: 'not-applicable', why: `decided otherwise: ${decided.why} (${why})` }
    : { kind: 'failed', why: `neither as it expects nor as it is decided here: ${neither}` };
}

/** What came at each chance, the least first. */
type Plays = Played[];

const WAITED_FOR =
  'an attempt that none follows is waited for, as it would be without retries; what cuts it off here is the end of the whole (`total_ms`, with two attempts or more)';

/** What an attempt that is waited for can make different. */
const OF_THE_END = ['status', 'error', 'body', 'elapsed ms'];

function chancesOf(row: Row, chancy: boolean): readonly number[] {
  if (row.given.random !== undefined) return [row.given.random];
  return chancy || row.when.some(namesTime) ? CHANCES : [0];
}

const namesTime = (step: NetworkStep | undefined): boolean =>
  typeof step === 'object' && /retry-after|ratelimit/i.test(Object.keys(step.h ?? {}).join());

/** In the time zone that a row names. */
async function inZone<T>(zone: string | undefined, work: () => Promise<T>): Promise<T> {
  if (zone === undefined) return work();
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

interface Difference {
  readonly name: string;
  readonly words: string;
}

/** Of the first time that there are any: the others say the same of other chances. */
const inWords = (different: readonly (readonly Difference[])[]): string =>
  (different.find(({ length }) => length > 0) ?? []).map(({ words }) => words).join('; ');

/** What came otherwise than it was expected, at each chance. */
function differencesIn({ when }: Row, then: Expected, all: Plays): Difference[][] {
  const [exact] = all;
  return all.map((played) => differencesOf(then, played, played === exact ? [] : spreadsOf(when, exact)));
}

/**
 * By how much each wait may be longer than without luck: a time that the server names is spread upwards, whatever the
 * jitter of the backoff, by a quarter and 5 s at most (docs/troubleshooting.md).
 */
const spreadsOf = (when: readonly NetworkStep[], exact: Played | undefined): number[] =>
  (exact?.delaysMs ?? []).map((ms, index) => (namesTime(when[index]) ? Math.ceil(Math.min(ms / 4, 5_000)) : 0));

function differencesOf(then: Expected, played: Played, spreads: readonly number[]): Difference[] {
  const found: Difference[] = [];
  const expect = (name: string, fits: boolean, wanted: unknown, got: unknown) => {
    if (!fits) found.push({ name, words: `${name} ${shown(wanted)} expected, ${shown(got)} seen` });
  };
  if (then.attempts !== undefined) {
    expect('attempts', within(then.attempts, played.attempts), then.attempts, played.attempts);
  }
  const end = 'error' in played ? String(played.error) : played.status;
  if (then.status !== undefined) expect('status', played.status === then.status, then.status, end);
  if (then.body !== undefined) expect('body', played.answered === then.body, then.body, played.answered);
  if (then.retryable !== undefined) {
    expect('retryable', then.retryable === played.attempts > 1, then.retryable, played.attempts > 1);
  }
  if (then.error !== undefined) expect('error', isError(then.error, played), then.error, end);
  if (then.delays_ms !== undefined) {
    const fit =
      played.delaysMs.length === then.delays_ms.length &&
      then.delays_ms.every((bound, index) => within(bound, played.delaysMs[index], spreads[index]));
    expect('delays', fit, then.delays_ms, played.delaysMs);
  }
  if (then.body_each !== undefined) {
    const wanted = then.body_each === 'same' ? played.body : then.body_each;
    const fit = played.bodies.length > 0 && played.bodies.every((body) => body === wanted);
    expect('bodies', fit, wanted, played.bodies);
  }
  if (then.elapsed_ms !== undefined) {
    const spread = spreads.reduce((sum, ms) => sum + ms, 0);
    expect('elapsed ms', within(then.elapsed_ms, played.elapsedMs, spread), then.elapsed_ms, played.elapsedMs);
  }
  if (then.hook_calls !== undefined) {
    expect('retries told', then.hook_calls === played.retriesTold, then.hook_calls, played.retriesTold);
  }
  return found;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** `spread`: how much more it may be. */
function within(bound: Bound, value: number | undefined, spread = 0): boolean {
  if (value === undefined) return false;
  const [least, most] = typeof bound === 'number' ? [bound, bound] : bound;
  return value >= least && value <= (most ?? Number.POSITIVE_INFINITY) + spread;
}

/** A page tells errors apart by their names only; of a lost connection every browser says TypeError. */
function isError(wanted: string | null, { error }: Played): boolean {
  if (wanted === null || error === undefined) return wanted === null && error === undefined;
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (/^network/i.test(wanted)) return name === 'TypeError';
  if (/timeout|deadline/i.test(wanted)) return name === 'TimeoutError';
  if (/abort|cancel/i.test(wanted)) return name === 'AbortError';
  return /^\w+Error$/.test(wanted) ? name === wanted : true;
}
