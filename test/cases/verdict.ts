import { OTHERWISE } from './otherwise.ts';
import { type Played, play, Unplayable, type Way } from './play.ts';
import type { Bound, Row } from './row.ts';
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
  otherwise: Readonly<Record<string, string>> = OTHERWISE,
  way: Way = 'worker',
): Promise<Verdict> {
  const mapped = toPolicy(row);
  if ('cannot' in mapped) return { kind: 'not-applicable', why: mapped.cannot };
  const differences = new Set<string>();
  try {
    for (const chance of chancesOf(row, mapped.chancy)) {
      const played = await inZone(row.given.TZ, () => play(row, mapped.policy, chance, way));
      for (const difference of differencesIn(row, played)) differences.add(difference);
    }
  } catch (error) {
    if (error instanceof Unplayable) return { kind: 'not-applicable', why: error.message };
    return { kind: 'failed', why: `broke: ${error}` };
  }
  const why = [...differences].join('; ');
  const reason = Object.hasOwn(otherwise, row.id) ? otherwise[row.id] : undefined;
  if (reason === undefined) {
    if (why === '') return { kind: 'passed' };
    return row.optional
      ? { kind: 'not-applicable', why: `a matter of taste, and ours is another: ${why}` }
      : { kind: 'failed', why };
  }
  return why === ''
    ? { kind: 'failed', why: 'passes, though it is listed as decided otherwise' }
    : { kind: 'not-applicable', why: `decided otherwise: ${reason} (${why})` };
}

/** A time that the server names is jittered upwards, whatever the jitter of the backoff: it is exact without luck. */
function chancesOf(row: Row, chancy: boolean): readonly number[] {
  if (row.given.random !== undefined) return [row.given.random];
  return chancy && !namesTime(row) ? CHANCES : [0];
}

const namesTime = ({ when }: Row): boolean =>
  when.some((step) => typeof step === 'object' && /retry-after|ratelimit/i.test(Object.keys(step.h ?? {}).join()));

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

/** What came otherwise than it was expected, in words. */
function differencesIn({ then }: Row, played: Played): string[] {
  const found: string[] = [];
  const expect = (name: string, fits: boolean, wanted: unknown, got: unknown) => {
    if (!fits) found.push(`${name} ${shown(wanted)} expected, ${shown(got)} seen`);
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
      then.delays_ms.every((bound, index) => within(bound, played.delaysMs[index]));
    expect('delays', fit, then.delays_ms, played.delaysMs);
  }
  if (then.body_each !== undefined) {
    const wanted = then.body_each === 'same' ? played.body : then.body_each;
    const fit = played.bodies.length > 0 && played.bodies.every((body) => body === wanted);
    expect('bodies', fit, wanted, played.bodies);
  }
  if (then.elapsed_ms !== undefined) {
    expect('elapsed ms', within(then.elapsed_ms, played.elapsedMs), then.elapsed_ms, played.elapsedMs);
  }
  if (then.hook_calls !== undefined) {
    expect('retries told', then.hook_calls === played.retriesTold, then.hook_calls, played.retriesTold);
  }
  return found;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

function within(bound: Bound, value: number | undefined): boolean {
  if (value === undefined || typeof bound === 'number') return value === bound;
  return value >= bound[0] && value <= (bound[1] ?? Number.POSITIVE_INFINITY);
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
