import { preload } from '../worker/intercept.js';
import type { Plans } from '../worker/routes.js';
import type { InterceptWith } from './retries.js';

/** A handler as the routers of Workbox and Serwist call it. */
export type RetryHandler = (options: {
  readonly request: Request;
  readonly event: ExtendableEvent;
}) => Promise<Response>;

export function createRetryHandler(
  plans: Plans,
  intercept: InterceptWith,
  onFault: (fault: unknown) => void,
): RetryHandler {
  return async ({ request, event }) => {
    const fetched = isFetch(event) ? event : undefined;
    let answer: Promise<Response> | undefined;
    try {
      answer = intercept(plans, {})(request, fetched)?.();
    } catch (fault) {
      onFault(fault);
    }
    // What is left alone is still this handler's to answer.
    return answer ?? ((request.mode === 'navigate' && (await preload(fetched))) || fetch(request));
  };
}

/** A worker fetches for other events as well: a page's list of URLs to cache, an installation. */
export const isFetch = (event: ExtendableEvent): event is FetchEvent => event.type === 'fetch';
