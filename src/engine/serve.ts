import { type Call, createFlights, type Engine, type Flights, type Result, run } from './run.js';

/**
 * Answers a request whatever happens to our own machinery: if the run fails, the page gets what a worker without retries
 * would have given it. Rejects only with the network's own error.
 */
export async function serve(call: Call, engine: Engine, onFault: (fault: unknown) => void): Promise<Response> {
  const flights = createFlights();
  let result: Result;
  try {
    result = await run(call, flights, engine);
  } catch (fault) {
    onFault(fault);
    result = await salvage(call, flights, engine);
  } finally {
    flights.body?.release();
  }
  if ('response' in result) return result.response;
  throw result.error;
}

/** A plain fetch if nothing was sent; else what is in flight; else what there is. */
async function salvage({ request, first }: Call, flights: Flights, { ports }: Engine): Promise<Result> {
  if (flights.launched === 0) return { response: (await first) ?? (await ports.fetch(request)) };
  const landed = await firstResponse(flights);
  if (landed) return landed;
  if (flights.response && !flights.response.bodyUsed) return { response: flights.response };
  if (flights.failure) return flights.failure;
  // The one answer was discarded already. Only requests that may be repeated get here.
  return { response: await ports.fetch(request.clone()) };
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
