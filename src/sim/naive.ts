import { afterFailure } from '../policy/decide.js';
import { type Hands, type Strategy, situation } from './client.js';

/** The policy's retries, and nothing that stops them: what most retry libraries do. */
export const naive = (hands: Hands): Strategy => ({
  begin: (flight) => hands.launch(flight, 'first'),
  succeeded() {},
  failed(flight, outcome) {
    const step = afterFailure({ ...situation(flight, outcome, hands), affordable: true });
    if (step.do !== 'retry') return hands.giveUp(flight);
    flight.waitedMs = step.delayMs;
    hands.clock.at(hands.clock.now() + step.delayMs, () => hands.launch(flight, 'retry'));
  },
});
