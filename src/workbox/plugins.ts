import type { Ports } from '../engine/index.js';
import type { Handler, Strategy } from './strategy.js';

type Fetch = Ports['fetch'];

/** The plugins of a strategy, and its `fetchOptions`, while one request is retried. */
export interface Plugins {
  /** Sends an attempt as they make it: `requestWillFetch` is asked each time, as it is of everything that is sent. */
  through(send: Fetch): Fetch;
  /**
   * Tells the others how it ended, once: an attempt that is followed by another is no failure yet, and
   * `BackgroundSyncPlugin` would send again what has succeeded meanwhile. Throws at once what `start` throws.
   */
  told(start: () => Promise<Response>): Promise<Response>;
}

export function throughPlugins({ fetchOptions }: Strategy, handler: Handler, request: Request): Plugins {
  const { event } = handler;
  const tellsFailure = handler.hasCallback('fetchDidFail');
  const tells = tellsFailure || handler.hasCallback('fetchDidSucceed');
  /** What was sent last, as they have made it. What the browser had sent by itself (a preload) has gone past them. */
  let sent: Request | undefined;

  return {
    through: (send) => async (attempt, init) => {
      let made = init === undefined ? attempt : new Request(attempt, init);
      for (const change of handler.iterateCallbacks('requestWillFetch')) {
        made = await change({ request: made.clone(), event });
      }
      if (tells) {
        forget(sent);
        sent = made.clone();
      }
      const options = made.mode === 'navigate' ? undefined : fetchOptions;
      return options === undefined ? send(made) : send(made, options);
    },

    told(start) {
      // In the end nothing is left to be read of the request itself.
      const originalRequest = tellsFailure ? request.clone() : undefined;
      return ended(start(), originalRequest);
    },
  };

  async function ended(answered: Promise<Response>, originalRequest: Request | undefined): Promise<Response> {
    try {
      let response = await answered;
      if (sent === undefined) return response;
      for (const change of handler.iterateCallbacks('fetchDidSucceed')) {
        response = await change({ event, request: sent, response });
      }
      return response;
    } catch (error) {
      if (sent && originalRequest && !isCalledOff(error)) await tellFailure(error as Error, sent, originalRequest);
      throw error;
    } finally {
      forget(sent);
      forget(originalRequest);
    }
  }

  async function tellFailure(error: Error, last: Request, originalRequest: Request): Promise<void> {
    for (const told of handler.iterateCallbacks('fetchDidFail')) {
      await told({ error, event, originalRequest: originalRequest.clone(), request: last.clone() });
    }
  }
}

/** By the page, which does not want it to be sent later either. */
const isCalledOff = (error: unknown): boolean => (error as Error | null)?.name === 'AbortError';

/** A copy that nobody reads would keep its body in memory. */
function forget(copy: Request | undefined): void {
  if (copy && !copy.bodyUsed) void copy.body?.cancel().catch(() => {});
}
