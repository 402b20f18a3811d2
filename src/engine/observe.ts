import { costOf } from '../policy/budget.js';
import { attemptsAllowed, circuitState } from '../policy/circuit.js';
import { afterFailure, isFinal } from '../policy/decide.js';
import { isThrottled } from '../policy/outcome.js';
import { land } from './attempt.js';
import type { Call, Engine } from './call.js';

/** What would have been done about an answer: it is delivered in any case. */
export type Would = 'deliver' | 'retry' | 'wait-online' | 'park' | 'give-up';

/** Sends a request once, as a worker without retries would, and says what would have followed. */
export async function observe(call: Call, engine: Engine, tell: (would: Would) => void): Promise<Response> {
  const { request, facts, policy, group, first, classify } = call;
  const { ports, book, guards } = engine;
  const sent = first ? first.then((preloaded) => preloaded ?? ports.fetch(request)) : ports.fetch(request);
  const landing = await land(1, sent, {
    policy,
    now: ports.now,
    classify,
    onHeaders: () => {},
    isCalledOff: () => false,
  });
  try {
    tell(wouldBe());
  } catch {
    // What is only looked at is not lost because of it.
  }
  if ('response' in landing) return landing.response;
  throw landing.error;

  function wouldBe(): Would {
    const { outcome } = landing;
    const final = 'response' in landing && isFinal(outcome, facts, policy);
    const key = { origin: facts.origin, group };
    const { circuit } = book.look(key);
    const now = ports.now();
    if (final) return 'deliver';
    return afterFailure({
      outcome,
      request: facts,
      policy,
      attempt: 1,
      now,
      deadline: now + policy.totalMs,
      replayable: true,
      circuit: {
        state: circuitState(circuit, now),
        parked: false,
        attempts: attemptsAllowed(circuit, policy.attempts, guards.circuit),
      },
      online: ports.isOnline(),
      affordable: book.affords(key, costOf(isThrottled(outcome), guards.budget)),
      previousDelayMs: undefined,
      random: ports.random,
    }).do;
  }
}
