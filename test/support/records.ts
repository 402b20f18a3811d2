import fc from 'fast-check';
import { BUDGET_DEFAULTS, type BudgetPolicy } from '../../src/policy/budget.ts';
import { CIRCUIT_DEFAULTS, CLOSED } from '../../src/policy/circuit.ts';
import { NO_HOLD } from '../../src/policy/hold.ts';
import { advance, type Guards, initialRecord, type OriginRecord } from '../../src/policy/origin-record.ts';
import { AROUND, originEvent } from './arbitraries.ts';

export const GUARDS: Guards = { budget: BUDGET_DEFAULTS, circuit: CIRCUIT_DEFAULTS };

export const guardsWith = (budget: BudgetPolicy): Guards => ({ ...GUARDS, budget });

/** A record about which only its budget says anything. */
export const recordOf = (
  tokens: number,
  at: number,
  key: { origin: string; group: string } = { origin: 'https://api.test', group: 'data' },
): OriginRecord => ({ ...key, budget: { tokens, at }, hold: NO_HOLD, circuit: CLOSED, usedAt: at });

/** Any record that a history can lead to. */
export const anyRecord = (guards: Guards): fc.Arbitrary<OriginRecord> =>
  fc
    .array(originEvent, { maxLength: 30 })
    .map((events) =>
      events.reduce(
        (record, event) => advance(record, event, guards),
        initialRecord('https://api.test', 'data', AROUND, guards),
      ),
    );
