import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY, withEvents } from '../../src/devtools/model.ts';
import { spansOf } from '../../src/devtools/spans.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { about } from '../support/events.ts';

/** What may become of one attempt but the last, and what is waited for then. */
const step = fc.record({
  tookMs: fc.integer({ min: 20, max: 2_000 }),
  delayMs: fc.integer({ min: 20, max: 2_000 }),
  /** How much earlier or later than asked for the clock says that the wait was over. */
  jitterMs: fc.integer({ min: -15, max: 60 }),
  next: fc.constantFrom('retry', 'retry', 'retry', 'offline', 'park', 'retry-parked', 'retry-held', 'hedge', 'resume'),
});
const run = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  tookMs: fc.integer({ min: 1, max: 2_000 }),
  end: fc.constantFrom('recovered', 'gave-up', 'gave-up unsent', 'none'),
});
type Run = typeof run extends fc.Arbitrary<infer R> ? R : never;

/** A run as the worker has it: the instants at which it sent something, and what it told. */
function play({ steps, tookMs, end }: Run) {
  let now = 0;
  let counted = 1;
  const sent = [0];
  const events: LayerEvent[] = [];
  const tell = (event: object) => events.push({ ...about, at: 1_000 + now, elapsedMs: now, ...event } as LayerEvent);
  const send = () => {
    sent.push(now);
    counted += 1;
  };
  for (const [index, { tookMs, delayMs, jitterMs, next }] of steps.entries()) {
    now += tookMs;
    const unsent = end === 'gave-up unsent' && index === steps.length - 1;
    if (next === 'hedge') {
      tell({ type: 'hedge-launched', attempt: counted + 1 });
      send();
      continue;
    }
    if (next === 'offline') {
      counted -= 1;
      tell({ type: 'waiting', cause: 'offline' });
      now += delayMs;
      tell({ type: 'released', cause: 'offline' });
    } else {
      if (next !== 'park') {
        tell({ type: 'retry-scheduled', attempt: counted, delayMs, cause: 'status', status: 503, by: 'backoff' });
        now += Math.max(1, delayMs + jitterMs);
      }
      if (next !== 'retry' && next !== 'resume') {
        const cause = next === 'retry-held' ? 'hold' : 'circuit';
        tell({ type: 'waiting', cause });
        now += delayMs;
        if (!unsent) tell({ type: 'released', cause });
      }
    }
    if (!unsent) {
      send();
      if (next === 'resume') {
        now += 1;
        tell({ type: 'resumed', resumptions: 1, fromByte: 99_999 });
        counted = 1;
      }
    } else {
      tell({ type: 'gave-up', attempts: counted, lastStatus: 503, reason: 'circuit' });
      return { sent, events };
    }
  }
  now += tookMs;
  if (end === 'recovered' && steps.length > 0) tell({ type: 'recovered', attempts: counted, status: 200 });
  if (end !== 'recovered' && end !== 'none')
    tell({ type: 'gave-up', attempts: counted, lastStatus: 503, reason: 'attempts' });
  return { sent, events };
}

const attemptsOf = (events: LayerEvent[]) => {
  const [row] = withEvents(EMPTY, events).rows;
  return row ? spansOf(row).filter(({ title }) => title.startsWith('attempt ')) : [];
};

test('what is drawn of a run that has ended are the attempts that it has made, by their numbers', () => {
  // Once a download has gone on, its attempts may be counted anew: which of those that had to wait were sent is not told.
  const isTold = ({ steps, end }: Run) =>
    end !== 'none' &&
    !(steps.some(({ next }) => next === 'resume') && steps.some(({ next }) => /parked|held|offline/.test(next)));
  fc.assert(
    fc.property(run.filter(isTold), (given) => {
      const { sent, events } = play(given);
      if (events.length === 0) return;
      const numbers = attemptsOf(events).map(({ title }) => Number.parseInt(title.slice(8), 10));
      expect(numbers).toEqual(sent.map((_, index) => index + 1));
    }),
    { numRuns: 2_000 },
  );
});

test('whatever events are lost: no number twice, none more than there were, and none still under way after the end', () => {
  fc.assert(
    fc.property(run, fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), (given, lost) => {
      const { sent, events } = play(given);
      const left = events.filter((event, i) => !lost[i] || event.type === 'gave-up' || event.type === 'recovered');
      const attempts = attemptsOf(left);
      const numbers = attempts.map(({ title }) => Number.parseInt(title.slice(8), 10));
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      if (left.at(-1)?.type === 'gave-up' || left.at(-1)?.type === 'recovered') {
        if (!given.steps.some(({ next }) => next === 'resume')) expect(numbers.length).toBeLessThanOrEqual(sent.length);
        expect(attempts.filter(({ to }) => to === undefined)).toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
});
