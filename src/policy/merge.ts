import { refill } from './budget.js';
import type { Circuit } from './circuit.js';
import { type Hold, lastTold, type PathHold, toldOf } from './hold.js';
import type { Guards, OriginRecord } from './origin-record.js';

/**
 * What two workers know of one origin and group, put together: the longer hold and the later state of the circuit.
 * Tokens are not merged here: they are counted in the store, in one transaction.
 */
export const mergeGuards = (ours: OriginRecord, theirs: OriginRecord): OriginRecord => ({
  ...ours,
  hold: mergeHolds(ours.hold, theirs.hold),
  circuit: laterCircuit(ours.circuit, theirs.circuit),
  usedAt: Math.max(ours.usedAt, theirs.usedAt),
});

/** The same where nobody can tell any more what either has missed: with the smaller budget of the two. */
export function mergeRecords(ours: OriginRecord, theirs: OriginRecord, { budget }: Guards): OriginRecord {
  const at = Math.max(ours.budget.at, theirs.budget.at);
  const [a, b] = [refill(ours.budget, at, budget), refill(theirs.budget, at, budget)];
  return { ...mergeGuards(ours, theirs), budget: b.tokens < a.tokens ? b : a };
}

function mergeHolds(ours: Hold, theirs: Hold): Hold {
  const news = Object.entries(theirs.paths).filter(([path, told]) => isLater(told, toldOf(ours, path)));
  // Not by assignment, which to a path of the name `__proto__` is something else.
  const paths = lastTold({ ...ours.paths, ...Object.fromEntries(news) });
  const until = Math.max(ours.until, theirs.until);
  const same = until === ours.until && Object.entries(paths).every(([path, told]) => ours.paths[path] === told);
  return same ? ours : { until, paths };
}

const isLater = (told: PathHold, known: PathHold | undefined): boolean =>
  known === undefined || told.until > known.until || (told.until === known.until && told.at > known.at);

const laterCircuit = (ours: Circuit, theirs: Circuit): Circuit =>
  (theirs.changedAt - ours.changedAt || lastProbe(theirs) - lastProbe(ours)) > 0 ? theirs : ours;

const lastProbe = ({ probes }: Circuit): number => probes.at(-1) ?? 0;
