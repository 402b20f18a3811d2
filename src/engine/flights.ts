import type { Landing } from './attempt.js';
import type { KeptBody } from './body.js';
import { cancelBody, type Kept } from './discard.js';
import type { Place } from './parking.js';

/** What is in flight and what has come of it: enough to answer the page if the rest of the run should fail. */
export interface Flights {
  launched: number;
  readonly inFlight: Map<number, Promise<Landing>>;
  /** Attempts whose headers have come and whose answer is being looked at. */
  readonly answered: Set<number>;
  /** The attempts up to this one are overdue: their answers are welcome, but nobody counts on them. */
  overdueUpTo: number;
  /** Attempts that can be called off: those that had to be sent with an init anyway. */
  readonly controllers: Map<number, AbortController>;
  /** The attempt that was sent last, noted before anything else can fail. */
  latest: Promise<Landing> | undefined;
  /** The most recent answer whose body can still be read. */
  response: Response | undefined;
  /** What is left of the most recent answer that was discarded, or of an earlier one if only that is whole. */
  kept: Kept | undefined;
  /** The most recent network error; wrapped, because anything can be thrown. */
  failure: { readonly error: unknown } | undefined;
  /** Lets the request's body be sent again; whoever made the flights releases it. */
  body: KeptBody | undefined;
  /** Its place among the parked; whoever made the flights leaves it, so that no release goes to nobody. */
  place: Place | undefined;
}

/** `first`: an attempt that is under way already; whoever goes on with it puts it among what is in flight. */
export const createFlights = (first?: Promise<Landing>): Flights => ({
  launched: first ? 1 : 0,
  inFlight: new Map(),
  answered: new Set(),
  overdueUpTo: 0,
  controllers: new Map(),
  latest: first,
  response: undefined,
  kept: undefined,
  failure: undefined,
  body: undefined,
  place: undefined,
});

/** How many are under way that may well bring an answer. */
export const hopes = ({ inFlight, overdueUpTo }: Flights): number =>
  [...inFlight.keys()].filter((attempt) => attempt > overdueUpTo).length;

/** Has an answer begun that is still being looked at? Then no clock runs. */
export const looksAt = ({ inFlight, answered }: Flights): boolean =>
  [...inFlight.keys()].some((attempt) => answered.has(attempt));

/** Calls off what is overdue: it has had its time, and that of the wait. */
export function cutOff({ inFlight, controllers, overdueUpTo }: Flights): void {
  for (const attempt of inFlight.keys()) {
    if (attempt > overdueUpTo) continue;
    inFlight.delete(attempt);
    controllers.get(attempt)?.abort();
  }
}

/** An answer whose body is all there, or all to come. */
export function wholeAnswer({ response, kept }: Flights): Response | undefined {
  const whole = response !== kept?.response || kept?.whole;
  return whole && !response?.bodyUsed ? response : undefined;
}

/** An answer for the page, or the network's own error. */
export type Result = { readonly response: Response } | { readonly error: unknown };

/** Moves a landing from what is in flight to what there is. */
export function keep(landing: Landing, flights: Flights): void {
  if ('response' in landing) {
    if (flights.response && flights.response !== flights.kept?.response) cancelBody(flights.response);
    flights.response = landing.response;
  } else {
    flights.failure = landing;
  }
  flights.inFlight.delete(landing.attempt);
}
