import { circuitState } from '../policy/circuit.js';
import { isHolding } from '../policy/hold.js';
import type { OriginRecord } from '../policy/origin-record.js';
import type { OriginNotice } from '../protocol/index.js';
import type { GuardListener } from './origin-book.js';
import type { Sleep } from './ports.js';

/** A timer for a longer time than this is not worth it: the worker does not live that long. */
const NOTICED_MS = 300_000;

/** Turns changes of holds and circuits into what pages are told. */
export function createGuardNotices(
  ports: { now(): number; sleep(ms: number): Sleep },
  look: (record: OriginRecord) => OriginRecord,
  tell: (notice: OriginNotice) => void,
): GuardListener {
  const about = ({ origin, group }: OriginRecord) => ({ at: ports.now(), origin, group });

  const noticeEnd = (record: OriginRecord, until: number): void => {
    const leftMs = until - ports.now();
    if (leftMs > NOTICED_MS) return;
    void ports.sleep(Math.max(0, leftMs)).done.then(() => {
      // It may have been made longer, or ended before.
      const now = look(record);
      if (endOf(now) === until && until <= ports.now()) tell({ type: 'hold-ended', ...about(now) });
    });
  };

  return ({ before, after }) => {
    const now = ports.now();
    const until = endOf(after);
    if (until > Math.max(now, endOf(before))) {
      const path = after.hold.until === before.hold.until ? newest(before, after) : undefined;
      tell({ type: 'hold-started', ...about(after), until, ...(path === undefined ? {} : { path }) });
      noticeEnd(after, until);
    } else if (isHolding(before.hold, now) && until <= now && endOf(before) > now) {
      tell({ type: 'hold-ended', ...about(after) });
    }
    const [from, to] = [circuitState(before.circuit, now), circuitState(after.circuit, now)];
    if (from !== to || before.circuit.openUntil < after.circuit.openUntil) {
      const { openUntil } = after.circuit;
      tell({ type: 'circuit-changed', ...about(after), from, to, ...(to === 'open' ? { openUntil } : {}) });
    }
  };
}

const endOf = ({ hold }: OriginRecord): number =>
  Math.max(hold.until, ...Object.values(hold.paths).map(({ until }) => until));

const newest = (before: OriginRecord, after: OriginRecord): string | undefined =>
  Object.entries(after.hold.paths).find(([path, told]) => before.hold.paths[path]?.until !== told.until)?.[0];
