import { afterFailure } from '../policy/decide.js';
import { type Flight, type Hands, type Strategy, situation } from './client.js';

/** The numbers of {@link classic}. */
export interface ClassicOptions {
  /** Most tokens; a retry costs one and gets it back if it succeeds. @defaultValue 5 */
  readonly tokens: number;
  /** What each success earns. @defaultValue 0.2 */
  readonly successCredit: number;
  /** Attempts that are looked back on. @defaultValue 10 */
  readonly window: number;
  /** Share of them that must have failed to open the breaker. @defaultValue 0.5 */
  readonly failureRatio: number;
  /** @defaultValue 15 000 */
  readonly openMs: number;
}

const OPTIONS: ClassicOptions = Object.freeze({
  tokens: 5,
  successCredit: 0.2,
  window: 10,
  failureRatio: 0.5,
  openMs: 15_000,
});

/**
 * What client libraries have long had: a token bucket for retries and a sampling breaker. First attempts always go, so
 * that all strategies answer for the same requests; while it is open nothing is retried, and the first attempt after
 * that decides whether it stays so.
 */
export const classic =
  ({ tokens: capacity, successCredit, window, failureRatio, openMs }: ClassicOptions = OPTIONS) =>
  (hands: Hands): Strategy => {
    const { clock, launch, giveUp } = hands;
    let tokens = capacity;
    let openUntil = 0;
    let recent: boolean[] = [];
    const isOpen = (): boolean => clock.now() < openUntil;

    function remember(good: boolean): void {
      if (isOpen()) return;
      const halfOpen = openUntil > 0;
      recent = halfOpen ? [] : [...recent, good].slice(-window);
      const failed = recent.filter((good) => !good).length;
      const opens = halfOpen ? !good : recent.length === window && failed >= failureRatio * window;
      openUntil = opens ? clock.now() + openMs : 0;
      if (opens) recent = [];
    }

    function retry(flight: Flight): void {
      if (isOpen()) giveUp(flight);
      else launch(flight, 'retry');
    }

    return {
      begin: (flight) => launch(flight, 'first'),
      succeeded({ attempts }) {
        tokens = Math.min(capacity, tokens + successCredit + (attempts > 1 ? 1 : 0));
        remember(true);
      },
      failed(flight, outcome) {
        remember(false);
        const step = afterFailure({ ...situation(flight, outcome, hands), affordable: tokens >= 1 });
        if (step.do !== 'retry' || isOpen()) return giveUp(flight);
        tokens -= 1;
        flight.waitedMs = step.delayMs;
        clock.at(clock.now() + step.delayMs, () => retry(flight));
      },
    };
  };
