import type { Call, Engine } from './call.js';
import { cancelBody } from './discard.js';
import { createFlights, type Flights, type Result, wholeAnswer } from './flights.js';
import { type HeadStart, headStart } from './head-start.js';
import { resumable } from './resume.js';
import { run } from './run.js';

/**
 * Answers a request whatever happens to our own machinery: if the run fails, the page gets what a worker without retries
 * would have given it. Rejects only with the network's own error.
 */
export async function serve(call: Call, engine: Engine, onFault: (fault: unknown) => void): Promise<Response> {
  const response = await answer(call, engine, onFault);
  try {
    return resumable(response, call, engine, (next, own) => serve(next, own, onFault));
  } catch (fault) {
    report(fault, onFault);
    return response;
  }
}

async function answer(call: Call, engine: Engine, onFault: (fault: unknown) => void): Promise<Response> {
  let first: HeadStart | undefined;
  let flights: Flights | undefined;
  let result: Result | undefined;
  try {
    first = headStart(call, engine);
    const good = first && (await first.answer());
    if (good) return good;
    flights = createFlights(first?.landing);
    result = await run(call, flights, engine, first);
    for (const attempt of flights.inFlight.keys()) flights.controllers.get(attempt)?.abort();
  } catch (fault) {
    report(fault, onFault);
    flights ??= createFlights(first?.landing);
    result = await salvage(call, flights, engine);
  } finally {
    if (flights) letGo(flights, result, onFault);
  }
  if ('response' in result) return result.response;
  throw result.error;
}

function report(fault: unknown, onFault: (fault: unknown) => void): void {
  try {
    onFault(fault);
  } catch {
    // Nobody is left to be told.
  }
}

/** Whatever of it fails, the answer is the page's. */
function letGo(flights: Flights, result: Result | undefined, onFault: (fault: unknown) => void): void {
  try {
    flights.place?.leave();
    for (const late of flights.inFlight.values()) void late.then((landing) => dropUnless(result, landing));
    flights.body?.release();
  } catch (fault) {
    report(fault, onFault);
  }
}

/** An attempt that is not needed any more must not keep a connection. */
function dropUnless(result: Result | undefined, landing: Result): void {
  const delivered = result !== undefined && 'response' in result ? result.response : undefined;
  if ('response' in landing && landing.response !== delivered) cancelBody(landing.response);
}

/** A plain fetch if nothing was sent; else what there is; else what is in flight. */
async function salvage({ request, first }: Call, flights: Flights, { ports }: Engine): Promise<Result> {
  if (flights.launched === 0) return { response: (await first) ?? (await ports.fetch(request)) };
  const response = wholeAnswer(flights);
  if (response) return { response };
  const landed = await firstResponse(flights);
  if (landed) return landed;
  const latest = await flights.latest;
  if (latest && 'response' in latest && !latest.response.bodyUsed) return latest;
  const failure = latest && 'error' in latest ? latest : flights.failure;
  if (failure) return failure;
  // The one answer was discarded already. Only requests that may be repeated get here.
  try {
    return { response: await ports.fetch(copyOf(request)) };
  } catch (error) {
    return flights.kept ?? { error };
  }
}

function copyOf(request: Request): Request {
  try {
    return request.clone();
  } catch {
    return request;
  }
}

/** The first answer to come in, or an error once nothing else can. Plain on purpose: this is what is left when the rest failed. */
function firstResponse({ inFlight }: Flights): Promise<Result | undefined> {
  return new Promise((resolve) => {
    let left = inFlight.size;
    if (left === 0) resolve(undefined);
    for (const flight of inFlight.values()) {
      void flight.then((landing) => {
        left -= 1;
        if ('response' in landing || left === 0) resolve(landing);
      });
    }
  });
}
