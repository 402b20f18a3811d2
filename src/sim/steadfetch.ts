import { admit, isParked } from '../policy/admit.js';
import { affords, BUDGET_DEFAULTS, costOf } from '../policy/budget.js';
import {
  attemptsAllowed,
  CIRCUIT_DEFAULTS,
  circuitState,
  type Ended,
  mayProbe,
  probeAt,
  releases,
} from '../policy/circuit.js';
import { afterFailure, askedUntil } from '../policy/decide.js';
import { HOLD_SPREAD_MS } from '../policy/hold.js';
import { advance, type Guards, initialRecord, type OriginEvent, type OriginRecord } from '../policy/origin-record.js';
import { isThrottled, type Outcome } from '../policy/outcome.js';
import { FACTS, type Flight, type Hands, type Strategy, situation } from './client.js';

/** The shipped budget and circuit. */
export const DEFAULT_GUARDS: Guards = Object.freeze({ budget: BUDGET_DEFAULTS, circuit: CIRCUIT_DEFAULTS });

/** The latest that a released request is launched after the success that releases it. */
const RELEASE_WITHIN_MS = 50;

/** What is shipped, carried out in virtual time. `onRecord` sees the record after each event. */
export const steadfetch =
  (guards: Guards = DEFAULT_GUARDS, onRecord?: (record: OriginRecord, at: number) => void) =>
  (hands: Hands): Strategy => {
    const { clock, random, policy, launch } = hands;
    let record = initialRecord(FACTS.origin, 'data', clock.now(), guards);
    const parked = new Set<Flight>();
    const released = new Set<Flight>();
    /** And until when each may take. */
    const probing = new Map<Flight, number>();
    /** Requests that go through a hold: one attempt is all they have. */
    const passing = new Set<Flight>();

    function note(event: OriginEvent): void {
      const { openUntil } = record.circuit;
      record = advance(record, event, guards);
      onRecord?.(record, clock.now());
      if (record.circuit.openUntil !== openUntil && record.circuit.openUntil > 0) opened(record.circuit.openUntil);
    }

    function opened(until: number): void {
      for (const flight of parked)
        if (!isParked(record, { now: clock.now(), deadline: flight.deadline, policy, guards })) drop(flight);
      clock.at(until, probe);
    }

    function probe(): void {
      const [first] = parked;
      if (first === undefined || !mayProbe(record.circuit, clock.now(), guards.circuit)) return;
      parked.delete(first);
      const until = clock.now() + guards.circuit.probeMs;
      probing.set(first, until);
      note({ kind: 'probe-launched', at: clock.now(), until });
      // One that has not ended by then keeps nobody waiting.
      clock.at(probeAt(record.circuit, guards.circuit), probe);
      launch(first, 'probe');
    }

    function park(flight: Flight): void {
      if (!isParked(record, { now: clock.now(), deadline: flight.deadline, policy, guards })) {
        giveUp(flight);
        return;
      }
      parked.add(flight);
      clock.at(flight.deadline, () => {
        if (parked.has(flight)) drop(flight);
      });
      clock.at(probeAt(record.circuit, guards.circuit), probe);
    }

    function drop(flight: Flight): void {
      parked.delete(flight);
      giveUp(flight);
    }

    function release(): void {
      const [first] = parked;
      if (first !== undefined) {
        parked.delete(first);
        released.add(first);
        clock.at(clock.now() + random() * RELEASE_WITHIN_MS, () => launch(first, 'released'));
      } else if (released.size === 0) {
        note({ kind: 'drained', at: clock.now() });
      }
    }

    function giveUp(flight: Flight): void {
      hands.giveUp(flight);
      note({ kind: 'request-failed', at: clock.now(), launchedAt: flight.launchedAt });
    }

    function ended(flight: Flight): Ended {
      const times = { at: clock.now(), launchedAt: flight.launchedAt };
      const probeUntil = probing.get(flight);
      probing.delete(flight);
      if (probeUntil !== undefined) return { ...times, as: 'probe', probeUntil };
      return released.delete(flight) ? { ...times, as: 'released' } : times;
    }

    function refund(flight: Flight, launched: boolean): void {
      if (flight.paid > 0)
        note({ kind: 'retry-refunded', at: clock.now(), cost: flight.paid, launched, reservedAt: flight.launchedAt });
      flight.paid = 0;
    }

    /** The wait before a retry is over. The circuit may have opened meanwhile: then nobody retries alone. */
    function retry(flight: Flight): void {
      if (circuitState(record.circuit, clock.now()) === 'closed') {
        start(flight, 'retry');
      } else {
        refund(flight, false);
        park(flight);
      }
    }

    function start(flight: Flight, why: 'first' | 'retry'): void {
      const { now } = clock;
      const admission = admit(record, flight.path, { now: now(), deadline: flight.deadline, policy });
      switch (admission.do) {
        case 'go':
          launch(flight, why);
          break;
        case 'wait':
          clock.at(admission.until + random() * HOLD_SPREAD_MS, () => start(flight, why));
          break;
        case 'pass-through':
          if (why === 'retry') {
            refund(flight, false);
            giveUp(flight);
          } else {
            passing.add(flight);
            launch(flight, why);
          }
      }
    }

    function failed(flight: Flight, outcome: Outcome): void {
      const now = clock.now();
      flight.paid = 0;
      note({ kind: 'attempt-failed', ...ended(flight) });
      hold(flight, outcome);
      const { budget, circuit } = record;
      const cost = costOf(isThrottled(outcome), guards.budget);
      const step = afterFailure({
        ...situation(flight, outcome, hands),
        ...(passing.delete(flight) ? { attempt: policy.attempts } : {}),
        affordable: affords(budget, cost, now, guards.budget),
        circuit: {
          state: circuitState(circuit, now),
          parked: isParked(record, { now, deadline: flight.deadline, policy, guards }),
          attempts: attemptsAllowed(circuit, policy.attempts, guards.circuit),
        },
      });
      if (step.do === 'retry') {
        note({ kind: 'retry-reserved', at: now, cost });
        flight.paid = cost;
        flight.waitedMs = step.delayMs;
        clock.at(now + step.delayMs, () => retry(flight));
      } else if (step.do === 'park') {
        park(flight);
      } else {
        giveUp(flight);
      }
    }

    function hold({ path }: Flight, outcome: Outcome): void {
      const at = clock.now();
      const until = askedUntil(outcome, FACTS, policy, at);
      if (until === undefined || outcome.kind !== 'response') return;
      note({ kind: 'hold-asked', at, status: outcome.status, path, until, scope: 'auto' });
    }

    return {
      begin: (flight) => start(flight, 'first'),
      succeeded(flight) {
        const at = clock.now();
        const releasing = releases(record.circuit, flight.launchedAt);
        refund(flight, true);
        if (flight.attempts === 1) note({ kind: 'first-try-succeeded', at });
        if (passing.delete(flight)) note({ kind: 'hold-disproved', at, path: flight.path });
        note({ kind: 'attempt-succeeded', ...ended(flight) });
        if (releasing) release();
      },
      failed,
    };
  };
