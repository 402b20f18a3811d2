import { type Bucket, refill } from './budget.js';
import { type Circuit, CLOSED } from './circuit.js';
import { type Hold, lastTold, MAX_HOLD_MS, NO_HOLD } from './hold.js';
import type { Guards, OriginRecord } from './origin-record.js';

/**
 * Reads a record that another version may have written, or that is damaged: `undefined` unless it says whose it is and
 * has a budget. A hold or circuit that an older version did not have, or that is no good, is none; fields that a newer
 * version added are ignored. Tokens are clamped to the budget in force, instants in the future to what can be true.
 */
export function reviveRecord(value: unknown, now: number, guards: Guards): OriginRecord | undefined {
  if (!isObject(value) || typeof value.origin !== 'string' || typeof value.group !== 'string') return undefined;
  const budget = reviveBudget(value.budget, now, guards);
  if (budget === undefined) return undefined;
  return {
    origin: value.origin,
    group: value.group,
    budget,
    hold: reviveHold(value.hold, now) ?? NO_HOLD,
    circuit: reviveCircuit(value.circuit, now, guards) ?? CLOSED,
    usedAt: past(value.usedAt, now) ?? budget.at,
  };
}

function reviveBudget(value: unknown, now: number, { budget }: Guards): Bucket | undefined {
  if (!isObject(value)) return undefined;
  const [tokens, at] = [finite(value.tokens), past(value.at, now)];
  if (tokens === undefined || at === undefined) return undefined;
  if (budget.kind === 'tokens') return { tokens: Math.min(budget.capacity, Math.max(0, tokens)), at };
  const slots = Array.isArray(value.slots) ? value.slots.filter(isSlot) : [];
  return refill({ tokens, at, slots }, now, budget);
}

/** What no traffic could have paid in would be no number any more where it is added up. */
const isSlot = (value: unknown): value is readonly [from: number, net: number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((part) => typeof part === 'number' && Math.abs(part) <= Number.MAX_SAFE_INTEGER);

function reviveHold(value: unknown, now: number): Hold | undefined {
  if (!isObject(value)) return undefined;
  const until = ahead(value.until, now, MAX_HOLD_MS);
  if (until === undefined || !isObject(value.paths)) return undefined;
  const paths = Object.entries(value.paths).flatMap(([path, told]) => {
    const [end, at] = isObject(told) ? [ahead(told.until, now, MAX_HOLD_MS), past(told.at, now)] : [];
    return end === undefined || at === undefined ? [] : [[path, { until: end, at }] as const];
  });
  return { until, paths: lastTold(Object.fromEntries(paths)) };
}

function reviveCircuit(value: unknown, now: number, { circuit }: Guards): Circuit | undefined {
  if (!isObject(value) || typeof value.recent !== 'string' || !/^[01]*$/.test(value.recent)) return undefined;
  const openUntil = ahead(value.openUntil, now, Math.min(circuit.maxOpenMs, finite(value.openMs) ?? 0));
  // Not a reason to forget that it is open.
  const probes = (Array.isArray(value.probes) ? value.probes : [])
    .flatMap((until: unknown) => ahead(until, now, circuit.probeMs) ?? [])
    .sort((a, b) => a - b)
    .slice(-circuit.probes);
  const [openMs, failures] = [finite(value.openMs), finite(value.failures)];
  const [changedAt, failedAt] = [past(value.changedAt, now), past(value.failedAt, now)];
  if (openUntil === undefined || openMs === undefined) return undefined;
  // Nobody has tried since, and that is long ago.
  if (openUntil !== 0 && now - openUntil > circuit.maxOpenMs) return CLOSED;
  if (failures === undefined || changedAt === undefined || failedAt === undefined) return undefined;
  return {
    openUntil,
    openMs: Math.min(circuit.maxOpenMs, Math.max(0, openMs)),
    probes,
    changedAt,
    failures: Math.max(0, Math.floor(failures)),
    failedAt,
    recent: value.recent.slice(-circuit.window),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const finite = (value: unknown): number | undefined => (Number.isFinite(value) ? (value as number) : undefined);

/** An instant that has been: a clock that was set back does not put it into the future. */
function past(value: unknown, now: number): number | undefined {
  const at = finite(value);
  return at === undefined ? undefined : Math.min(at, now);
}

/** An instant that may be to come, but not by more than it can be. */
function ahead(value: unknown, now: number, mostMs: number): number | undefined {
  const at = finite(value);
  return at === undefined ? undefined : Math.min(at, now + mostMs);
}
